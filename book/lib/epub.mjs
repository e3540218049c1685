// The book as an EPUB: text, formulas as MathML, drawn pictures as SVG, no scripts. What
// lessons fold away comes after them, and the terms come last.
//
//     node book/lib/epub.mjs [OUTPUT]        after "vitepress build book"

import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { strToU8, zipSync } from 'fflate'
import { fileOf } from './anchors.mjs'
import { edition, editionLine } from './edition.mjs'
import { checkEpub } from './epub-check.mjs'
import { epubPage, propertiesOf } from './epub-page.mjs'
import { styleOfEpub } from './epub-style.mjs'
import { figurePages, readingOrder, ROOT } from './pages.mjs'
import { fileIn, isChapter, isTerm, mainOf, SITE } from './pdf-document.mjs'
import { BASE } from './sources.mjs'

/** What only the web has: figures that move, tables of all numbers, all commits. */
const LEFT_OUT = ['/changelog.html', '/performance.html']

const TERMS = 'terms.xhtml'

const escape = (value) =>
  value.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;')

/** The pages of the EPUB, each with its file there and a prefix for its ids. */
export function epubPages() {
  const figures = new Set(figurePages().map(({ url }) => url))
  return readingOrder()
    .filter(({ url }) => !figures.has(url) && !LEFT_OUT.includes(url))
    .map((page) => {
      const source = fileIn(page)
      const stem = source.replace(/(?:\/index)?\.html$/, '').replace(/\W+/g, '-')
      const kind = isTerm(page) ? 'term' : isChapter(page) ? 'chapter' : 'page'
      const place = kind === 'term' ? { file: TERMS, prefix: `${stem}-` }
        : { file: `${stem}.xhtml`, prefix: '' }
      return { title: page.title, source, kind, ...place }
    })
}

/** Where a link of the site leads in the EPUB; null where the EPUB has no such page. */
function targetIn(pages) {
  const bySource = new Map(pages.map((page) => [page.source, page]))
  return (page) => (href, from) => {
    if (/^[a-z][a-z0-9+.-]*:/i.test(href)) return href
    const other = bySource.get(fileOf(href, page.source, BASE))
    if (!other) return null
    const hash = /#(.+)$/.exec(href)?.[1]
    const id = hash
      ? `${other.prefix}${decodeURIComponent(hash)}` : other.prefix.slice(0, -1)
    const file = other.file === from && id ? '' : other.file
    return `${file}${id ? `#${id}` : ''}`
  }
}

const document = (title, body) => `<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"
  lang="en" xml:lang="en"><head><title>${escape(title)}</title>
<link rel="stylesheet" type="text/css" href="style.css"/></head>
<body>${body}</body></html>
`

/** Links into a lesson's folds lead to the file of its folds. */
function withMovedIds(files) {
  const idsOf = (text) => new Set([...text.matchAll(/\sid="([^"]+)"/g)].map((m) => m[1]))
  const ids = new Map([...files].map(([name, { text }]) => [name, idsOf(text)]))
  for (const [name, file] of files) {
    file.text = file.text.replace(/href="([^":#]*)#([^"]+)"/g, (all, to, id) => {
      const target = to || name
      if (ids.get(target)?.has(id)) return all
      const moved = target.replace('.xhtml', '-answers.xhtml')
      if (ids.get(moved)?.has(id)) return `href="${moved === name ? '' : moved}#${id}"`
      const own = target.replace('-answers.xhtml', '.xhtml')
      if (ids.get(own)?.has(id)) return `href="${own}#${id}"`
      return all
    })
  }
}

/** All files of text by their names, in reading order: {title, text, level}. */
function textFiles(pages, mainOfPage) {
  const files = new Map()
  const answersOfAll = []
  const terms = []
  const target = targetIn(pages)
  files.set('cover.xhtml', { title: 'Warpbook', level: 0, text: document('Warpbook',
    '<section class="cover"><h1>Warpbook</h1>' +
    '<p>CUDA in seven days, on a GPU or without one</p>' +
    '<p>by the Warpbook contributors</p>' +
    `<p>${escape(editionLine())}</p><p>MIT licence</p></section>`) })
  for (const page of pages) {
    const answersFile = page.file.replace('.xhtml', '-answers.xhtml')
    const { body, answers } = epubPage(mainOfPage(page), {
      file: page.file, answersFile, target: target(page),
      ownId: (id) => page.prefix + id, keepFolds: page.kind !== 'chapter',
      deeper: page.kind === 'term' ? 1 : 0
    })
    if (page.kind === 'term') {
      terms.push(`<section id="${page.prefix.slice(0, -1)}">${body}</section>`)
      continue
    }
    files.set(page.file, {
      title: page.title,
      level: page.kind === 'chapter' ? 1 : 0,
      text: document(page.title, body)
    })
    if (answers.length === 0) continue
    const title = `${page.title.split(':')[0]}: hints and solutions`
    const folds = answers.map(({ id, title: heading, body: inner }) =>
      `<section id="${id}"><h2>${escape(heading)}</h2>${inner}</section>`)
    answersOfAll.push([answersFile, {
      title, level: 1, text: document(title, `<h1>${escape(title)}</h1>${folds.join('\n')}`)
    }])
  }
  const back = 'Hints, solutions and answers'
  if (answersOfAll.length > 0) {
    files.set('answers.xhtml', { title: back, level: 0, text: document(back,
      `<h1>${back}</h1><p>What the lessons fold away, in their order.</p>`) })
  }
  for (const [name, file] of answersOfAll) files.set(name, file)
  if (terms.length > 0) {
    const title = 'All terms, explained'
    files.set(TERMS, { title, level: 0,
      text: document(title, `<h1>${title}</h1>\n${terms.join('\n')}`) })
  }
  withMovedIds(files)
  return files
}

/** The contents as nested lists. */
function navigation(files) {
  const entries = [...files].map(([name, { title, level }]) => ({ name, title, level }))
  const item = ({ name, title }, below) =>
    `<li><a href="${name}">${escape(title)}</a>` +
    `${below.length > 0 ? `<ol>${below.join('')}</ol>` : ''}</li>`
  const items = entries.flatMap((entry, i) => {
    if (entry.level > 0) return []
    const next = entries.findIndex((each, k) => k > i && each.level === 0)
    const below = entries.slice(i + 1, next < 0 ? entries.length : next)
    return [item(entry, below.map((each) => item(each, [])))]
  })
  return document('Contents', '<nav epub:type="toc" role="doc-toc" id="toc">' +
    `<h1>Contents</h1><ol>${items.join('\n')}</ol></nav>`)
}

/** The name of this edition: a UUID from its commit, so that it stays the same. */
function identifier(found) {
  const hex = createHash('sha256').update(`warpbook ${found?.commit ?? ''}`).digest('hex')
  return 'urn:uuid:' + [hex.slice(0, 8), hex.slice(8, 12), `5${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-')
}

/** The package document. */
function packageOf(files, found) {
  const items = [...files].map(([name, { text }], i) => {
    const properties = propertiesOf(text).join(' ')
    return `<item id="f${i}" href="${name}" media-type="application/xhtml+xml"` +
      `${properties && ` properties="${properties}"`}/>`
  })
  const spine = [...files].map((each, i) => `<itemref idref="f${i}"/>`)
  const features = ['tableOfContents', 'structuralNavigation', 'readingOrder',
    'alternativeText', 'longDescription', 'MathML', 'displayTransformability']
  return `<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id"
  xml:lang="en"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">${identifier(found)}</dc:identifier>
<dc:title>Warpbook: CUDA in seven days</dc:title><dc:language>en</dc:language>
<dc:creator>The Warpbook contributors</dc:creator><dc:rights>MIT licence</dc:rights>
<dc:date>${found?.date ?? '1970-01-01'}</dc:date>
<dc:description>${escape(editionLine(found))}</dc:description>
<meta property="dcterms:modified">${found?.date ?? '1970-01-01'}T00:00:00Z</meta>
<meta property="schema:accessMode">textual</meta>
<meta property="schema:accessMode">visual</meta>
<meta property="schema:accessModeSufficient">textual</meta>
${features.map((each) => `<meta property="schema:accessibilityFeature">${each}</meta>`)
    .join('\n')}
<meta property="schema:accessibilityHazard">none</meta>
<meta property="schema:accessibilitySummary">Each picture is described in words; formulas
are MathML; code is text.</meta></metadata>
<manifest><item id="nav" href="nav.xhtml" media-type="application/xhtml+xml"
  properties="nav"/><item id="style" href="style.css" media-type="text/css"/>
${items.join('\n')}</manifest>
<spine>${spine.join('')}</spine></package>
`
}

const CONTAINER = `<?xml version="1.0" encoding="utf-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="EPUB/package.opf" media-type="application/oebps-package+xml"/>
</rootfiles></container>
`

/**
 * All files of the EPUB by their names, "mimetype" first.
 * @param {{title, source, kind, file, prefix}[]} pages  kind: page, chapter or term
 * @param {(page: object) => string} mainOfPage  the HTML of its <main>
 */
export function epubFiles(pages, mainOfPage, found = edition()) {
  const files = textFiles(pages, mainOfPage)
  return new Map([
    ['mimetype', 'application/epub+zip'],
    ['META-INF/container.xml', CONTAINER],
    ['EPUB/package.opf', packageOf(files, found)],
    ['EPUB/nav.xhtml', navigation(files)],
    ['EPUB/style.css', styleOfEpub()],
    ...[...files].map(([name, { text }]) => [`EPUB/${name}`, text])
  ])
}

/** The archive; its first entry, the type, is stored as it is. */
export function zipped(files) {
  const mtime = new Date('1980-01-01T12:00:00')
  return zipSync(Object.fromEntries([...files].map(([name, text]) =>
    [name, [strToU8(text), { level: name === 'mimetype' ? 0 : 9, mtime }]])))
}

/** Writes the built book as an EPUB; any fault stops it. */
export function writeEpub(output) {
  const pages = epubPages()
  const missing = pages.find(({ source }) => !fs.existsSync(path.join(SITE, source)))
  if (missing) {
    throw new Error(`the book has no page for ${missing.file} yet: ./learn book build`)
  }
  const files = epubFiles(pages, ({ source }) =>
    mainOf(fs.readFileSync(path.join(SITE, source), 'utf8')))
  const faults = checkEpub(files)
  if (faults.length > 0) throw new Error(`the EPUB has faults:\n  ${faults.join('\n  ')}`)
  fs.writeFileSync(output, zipped(files))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const output = path.resolve(process.argv[2] ?? path.join(SITE, 'warpbook.epub'))
  try {
    writeEpub(output)
    const size = (fs.statSync(output).size / 1e6).toFixed(1)
    console.log(`${path.relative(ROOT, output)}: ${size} MB`)
  } catch (error) {
    console.error(error.message)
    process.exit(1)
  }
}
