// The whole book as one PDF: all pages in reading order as one document, printed by
// Chromium, so that links between pages work and the outline lists every heading.
//
//     node book/lib/pdf.mjs [OUTPUT]        after "vitepress build book"

import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { fileOf } from './anchors.mjs'
import { launchBrowser } from './browser.mjs'
import { readingOrder, rewritten, ROOT } from './pages.mjs'
import { serve } from './serve.mjs'
import { BASE } from './sources.mjs'

const SITE = path.join(ROOT, 'book/dist')

/** The attributes that name an id of the same page. */
const REFERENCES = 'id|for|aria-labelledby|aria-describedby|aria-controls'

/** What a page says, without the frame around it. */
export function mainOf(html) {
  const match = /<main\b[^>]*>([\s\S]*)<\/main>/.exec(html)
  if (!match) throw new Error('a page without <main>')
  return match[1]
}

/**
 * A page as a section of the book: ids that no other page has, links to other pages as
 * links within the document, folds open, headings `deeper` levels down.
 * @param {string} html      the page's <main>
 * @param {string} file      "a/index.html"
 * @param {Map<string, string>} prefixes  of all pages, by file
 * @param {number} deeper
 */
export function section(html, file, prefixes, deeper = 0, base = '/') {
  const own = prefixes.get(file)
  const target = (href) => {
    if (/^[a-z][a-z0-9+.-]*:/i.test(href)) return href
    const prefix = prefixes.get(fileOf(href, file, base))
    if (!prefix) return null
    const hash = /#(.+)$/.exec(href)?.[1]
    return hash ? `#${prefix}-${hash}` : `#${prefix}`
  }
  const body = html
    .replace(
      new RegExp(`(\\s(?:${REFERENCES})=")([^"]+)"`, 'g'),
      (all, before, ids) =>
        `${before}${ids
          .split(' ')
          .map((id) => `${own}-${id}`)
          .join(' ')}"`
    )
    .replace(/url\(#([\w:-]+)\)/g, `url(#${own}-$1)`)
    .replace(/(<a\b[^>]*?)\shref="([^"]*)"/g, (all, before, href) => {
      const to = target(href)
      return to === null ? before : `${before} href="${to}"`
    })
    .replace(/<details(?![^>]*\sopen)/g, '<details open')
    .replace(
      /<(\/?)h([1-5])\b/g,
      (all, slash, level) => `<${slash}h${Number(level) + deeper}`
    )
  return `<section class="wb-page" id="${own}">${body}</section>`
}

const escapeHtml = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;')

/** A chapter belongs below its day, and a term below the list of all terms. */
const isChapter = (page) => /^day\d\d-[^/]+\/[^/]+\//.test(page.file)
const isTerm = (page) => /^\/glossary\/./.test(page.url)
const isBelow = (page) => isChapter(page) || isTerm(page)

/** The file of a page in the built site. */
const fileIn = (page) => rewritten(page.url).replace(/\.md$/, '.html')

/** All pages as one document. */
function document(pages) {
  const prefixes = new Map(pages.map((page, i) => [fileIn(page), `p${i}`]))
  const contents = pages.map((page, i) => {
    const level = isBelow(page) ? ' class="deeper"' : ''
    return `<li${level}><a href="#p${i}">${escapeHtml(page.title)}</a></li>`
  })
  const sections = pages.map((page) => {
    const html = fs.readFileSync(path.join(SITE, fileIn(page)), 'utf8')
    const deeper = isBelow(page) ? 1 : 0
    const whole = section(mainOf(html), fileIn(page), prefixes, deeper, BASE)
    return isTerm(page) ? `<div class="wb-term">${whole}</div>` : whole
  })
  // The offline copy's style sheet: it finds its fonts wherever the site is served.
  const assets = path.join(SITE, 'offline/assets')
  const style = fs.readdirSync(assets).find((name) => /^style\..*\.css$/.test(name))
  return `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
<title>Warpbook</title>
<link rel="stylesheet" href="/offline/assets/${style}">
<style>
  .wb-page, .wb-contents { break-before: page; }
  .wb-title { display: grid; place-content: center; height: 85vh; text-align: center; }
  .wb-title p { margin-top: 12px; }
  .wb-title strong { font-size: 34pt; }
  .wb-contents ul { columns: 2; }
  .wb-contents li { margin: 4px 0; list-style: none; }
  .wb-contents li.deeper { margin-left: 24px; }
  .wb-contents a { color: inherit; text-decoration: none; }
  .wb-page .vp-doc h1, .wb-page .vp-doc h2:first-child { font-size: 21pt; border: 0; }
  .wb-term { break-inside: avoid; margin-top: 20pt; }
  .wb-term .wb-page { break-before: auto; }
  .wb-term .wb-page .vp-doc h2:first-child { margin: 0; padding: 0; font-size: 13pt; }
</style></head><body class="vp-doc">
<div class="wb-title"><strong>Warpbook</strong>
<p>CUDA in seven days, on a GPU or without one</p></div>
<div class="wb-contents"><p><strong>Contents</strong></p>
<ul>${contents.join('\n')}</ul></div>
${sections.join('\n')}</body></html>`
}

const FOOTER =
  '<div style="width:100%;text-align:center;font-size:8px;color:#555">' +
  '<span class="pageNumber"></span></div>'

/**
 * Prints the built book.
 * @param {string} output  the file to write
 */
export async function writePdf(output) {
  const pages = readingOrder()
  const missing = pages.find((page) => !fs.existsSync(path.join(SITE, fileIn(page))))
  if (missing) {
    throw new Error(`the book has no page for ${missing.file} yet: ./learn book build`)
  }
  const browser = await launchBrowser()
  const source = path.join(SITE, 'whole-book.html')
  const { server, url } = await serve(SITE)
  try {
    fs.writeFileSync(source, document(pages))
    const page = await browser.newPage()
    await page.goto(`${url}whole-book.html`, { waitUntil: 'networkidle' })
    await page.emulateMedia({ media: 'print', colorScheme: 'light' })
    await page.pdf({
      path: output,
      format: 'A4',
      margin: { top: '16mm', bottom: '18mm', left: '16mm', right: '16mm' },
      printBackground: true,
      displayHeaderFooter: true,
      headerTemplate: '<span></span>',
      footerTemplate: FOOTER,
      outline: true,
      tagged: true,
      timeout: 300_000
    })
  } finally {
    fs.rmSync(source, { force: true })
    await browser.close()
    server.close()
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const output = path.resolve(process.argv[2] ?? path.join(SITE, 'warpbook.pdf'))
  try {
    await writePdf(output)
    const size = (fs.statSync(output).size / 1e6).toFixed(1)
    console.log(`${path.relative(process.cwd(), output)}: ${size} MB`)
  } catch (error) {
    console.error(error.message)
    process.exit(1)
  }
}
