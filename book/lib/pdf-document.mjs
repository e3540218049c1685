// The whole book as one document for paper: cover, contents, all pages in reading order,
// what lessons fold away, at the back, and an index of terms. `data-page="ID"` stands
// where the number of the page with that id is to be written.

import fs from 'node:fs'
import path from 'node:path'
import { fileOf } from './anchors.mjs'
import { editionLine } from './edition.mjs'
import { rewritten, ROOT } from './pages.mjs'
import { BASE } from './sources.mjs'

export const SITE = path.join(ROOT, 'book/dist')

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
export const isChapter = (page) => /^day\d\d-[^/]+\/[^/]+\//.test(page.file)
export const isTerm = (page) => /^\/glossary\/./.test(page.url)
const isBelow = (page) => isChapter(page) || isTerm(page)

/** The file of a page in the built site. */
export const fileIn = (page) => rewritten(page.url).replace(/\.md$/, '.html')

/** The number of the page that has an id, to be filled in. */
const pageOf = (id) => `<span class="wb-number" data-page="${id}">000</span>`

/** Where the fold that begins at `start` ends. */
function foldEnd(html, start) {
  let depth = 0
  for (const { 0: tag, index } of html.slice(start).matchAll(/<(\/?)details\b[^>]*>/g)) {
    depth += tag.startsWith('</') ? -1 : 1
    if (depth === 0) return start + index + tag.length
  }
  throw new Error('a fold without its end')
}

/**
 * Takes the folds of a lesson out: answers, hints, solutions. On paper they would be open.
 * @returns {{html: string, answers: {id: string, title: string, html: string}[]}}
 */
export function takeFolds(html, prefix) {
  const answers = []
  let left = ''
  let at = 0
  for (const { index } of html.matchAll(/<details\b[^>]*class="details custom-block/g)) {
    if (index < at) continue // within another one
    const end = foldEnd(html, index)
    const whole = html.slice(index, end)
    const [summary, inner] = /<summary>([\s\S]*?)<\/summary>/.exec(whole)
    const body = whole.slice(whole.indexOf(summary) + summary.length, -'</details>'.length)
    const id = `${prefix}-fold${answers.length + 1}`
    const title = inner.replace(/<[^>]*>/g, '').trim()
    answers.push({ id, title, html: body })
    left += html.slice(at, index) +
      `<p class="wb-fold"><a href="#${id}">${title}: page ${pageOf(id)}</a></p>`
    at = end
  }
  return { html: left + html.slice(at), answers }
}

/** Gives each linked term an id, and adds the ids to its places. */
function markTerms(html, prefix, places) {
  let count = 0
  return html.replace(/<a href="#([\w-]+)" class="wb-term"/g, (all, term) => {
    const id = `${prefix}-term${++count}`
    places.set(term, [...(places.get(term) ?? []), id])
    return `<a id="${id}" href="#${term}" class="wb-term"`
  })
}

/** The index: each term, the page of its definition, and where lessons use it. */
function indexHtml(pages, places) {
  const rows = pages
    .map((page, i) => ({ page, own: `p${i}` }))
    .filter(({ page }) => isTerm(page))
    .sort((a, b) => a.page.title.localeCompare(b.page.title, 'en'))
    .map(({ page, own }) => {
      const used = (places.get(own) ?? []).map((id) => `<a href="#${id}">${pageOf(id)}</a>`)
      const numbers = [`<a href="#${own}"><b>${pageOf(own)}</b></a>`, ...used]
      return `<p>${escapeHtml(page.title)} <span class="wb-places">${numbers.join(' ')}</span></p>`
    })
  return `<div class="wb-contents wb-index" id="index"><h1>Index of terms</h1>` +
    `<p>Bold: the definition.</p><div class="columns">${rows.join('\n')}</div></div>`
}

/** Fonts of the system: Chromium writes the site's, a variable one, as drawings (Type 3). */
const STYLE = `
  :root { --vp-font-family-base: 'Liberation Sans', Arial, 'DejaVu Sans', sans-serif; }
  .wb-page, .wb-contents, .wb-answers { break-before: page; }
  .wb-title { display: grid; place-content: center; height: 85vh; text-align: center; }
  .wb-title p { margin-top: 12px; }
  .wb-title strong { font-size: 34pt; }
  .wb-contents ul, .wb-index .columns { columns: 2; padding: 0; }
  .wb-contents li { display: flex; margin: 4px 0; list-style: none; break-inside: avoid; }
  .wb-contents li a { flex: 1; }
  .wb-contents li.deeper { margin-left: 24px; }
  .wb-contents a, .wb-fold a { color: inherit; text-decoration: none; }
  .wb-contents .columns p { margin: 2px 0 2px 16px; text-indent: -16px; break-inside: avoid;
    font-size: 9.5pt; line-height: 1.35; }
  .wb-places { word-spacing: 2px; }
  .wb-fold { font-style: italic; }
  .wb-answers > h3 { font-size: 12pt; break-after: avoid; }
  .wb-page .vp-doc h1, .wb-page .vp-doc h2:first-child { font-size: 21pt; border: 0; }
  .wb-term { break-inside: avoid; margin-top: 20pt; }
  .wb-term .wb-page { break-before: auto; }
  .wb-term .wb-page .vp-doc h2:first-child { margin: 0; padding: 0; font-size: 13pt; }
`

/** What the lessons fold away, lesson by lesson. */
function answersHtml(answers) {
  const parts = answers.map(({ page, list }) => {
    const folds = list.map(({ id, title, html }) => `<h3 id="${id}">${title}</h3>${html}`)
    return `<div class="wb-answers vp-doc"><h2>${escapeHtml(page.title)}</h2>` +
      `${folds.join('\n')}</div>`
  })
  return `<div class="wb-contents" id="answers"><h1>Hints, solutions and answers</h1>` +
    `<p>What the lessons fold away, in their order.</p></div>${parts.join('\n')}`
}

/** The list of all commits belongs to the site. */
const isPrinted = ({ url }) => url !== '/changelog.html'

/** All pages as one document. */
export function wholeBook(all) {
  const pages = all.filter(isPrinted)
  const prefixes = new Map(pages.map((page, i) => [fileIn(page), `p${i}`]))
  const entry = (id, title, deeper = false) =>
    `<li${deeper ? ' class="deeper"' : ''}><a href="#${id}">${escapeHtml(title)}</a>` +
    `${pageOf(id)}</li>`
  const places = new Map()
  const answers = []
  const sections = pages.map((page, i) => {
    const html = fs.readFileSync(path.join(SITE, fileIn(page)), 'utf8')
    const deeper = isBelow(page) ? 1 : 0
    let whole = section(mainOf(html), fileIn(page), prefixes, deeper, BASE)
    if (isChapter(page)) {
      const taken = takeFolds(whole, `p${i}`)
      whole = taken.html
      if (taken.answers.length > 0) answers.push({ page, list: taken.answers })
    }
    whole = markTerms(whole, `p${i}`, places)
    return isTerm(page) ? `<div class="wb-term">${whole}</div>` : whole
  })
  const contents = [
    ...pages.flatMap((page, i) =>
      isTerm(page) ? [] : [entry(`p${i}`, page.title, isBelow(page))]),
    entry('answers', 'Hints, solutions and answers'),
    entry('index', 'Index of terms')
  ]
  // The offline copy's style sheet: it finds its fonts wherever the site is served.
  const assets = path.join(SITE, 'offline/assets')
  const style = fs.readdirSync(assets).find((name) => /^style\..*\.css$/.test(name))
  return `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
<title>Warpbook</title>
<link rel="stylesheet" href="/offline/assets/${style}">
<style>${STYLE}</style></head><body class="vp-doc">
<div class="wb-title"><strong>Warpbook</strong>
<p>CUDA in seven days, on a GPU or without one</p>
<p>by the Warpbook contributors</p>
<p>${escapeHtml(editionLine())}</p><p>MIT licence</p></div>
<div class="wb-contents"><p><strong>Contents</strong></p>
<ul>${contents.join('\n')}</ul></div>
${sections.join('\n')}
${answersHtml(answers)}
${indexHtml(pages, places)}</body></html>`
}
