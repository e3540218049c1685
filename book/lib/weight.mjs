// What a page weighs before its figures are loaded: the HTML, every style sheet, script
// and font that it asks for, and the fonts of its formulas, compressed as by a server. And
// what of it a browser waits for before it paints: the HTML, the style sheets, and the
// fonts that are loaded first.

import fs from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { attributeValues, filesBelow } from './html.mjs'
import { fileOf } from './anchors.mjs'
import { BASE } from './sources.mjs'

/** Most that a page may weigh, compressed. */
export const LIMIT = 300 * 1000

/** Most that a page may load before it is painted. */
export const FIRST_LIMIT = 150 * 1000

/** Most elements that a page may have open, outside of folds: each is styled and laid out. */
export const ELEMENTS_LIMIT = 6000

/** The elements of a page that are not inside of a closed fold. */
export function openElements(html) {
  let [depth, count] = [0, 0]
  for (const [, close, name, rest] of html.matchAll(/<(\/?)([a-z][\w-]*)([^>]*)>/gi)) {
    const fold = name === 'details' && !/\sopen\b/.test(rest)
    if (close) depth -= name === 'details' && depth > 0 ? 1 : 0
    else {
      if (depth === 0) count++
      if (fold || (name === 'details' && depth > 0)) depth++
    }
  }
  return count
}

/** Fonts are compressed already. */
function compressedSize(file) {
  const bytes = fs.readFileSync(file)
  return /\.(?:woff2?|png|jpg|webp)$/.test(file) ? bytes.length : gzipSync(bytes).length
}

/** The fonts that the style sheet loads for a page with formulas. */
function formulaFonts(outDir, html) {
  if (!html.includes('class="katex"')) return []
  const used = /KaTeX_(?:Main-Regular|Math-Italic)\.[\w-]+\.woff2$/
  return filesBelow(path.join(outDir, 'assets'), '.woff2', '')
    .filter((file) => used.test(file))
    .map((file) => path.join('assets', file))
}

/**
 * The weight of each page of a built site, heaviest first.
 * @returns {{page: string, bytes: number, first: number, elements: number}[]}
 */
export function weights(outDir, base = BASE) {
  const sizes = new Map()
  const size = (file) => {
    if (!sizes.has(file)) sizes.set(file, compressedSize(path.join(outDir, file)))
    return sizes.get(file)
  }
  const pages = filesBelow(outDir, '.html').filter((p) => !p.startsWith('offline/'))
  return pages
    .map((page) => {
      const html = fs.readFileSync(path.join(outDir, page), 'utf8')
      const asked = [
        ...attributeValues(html, 'link', 'href'),
        ...attributeValues(html, 'script', 'src')
      ]
      const linked = asked.filter((url) => !url.startsWith('data:'))
      const files = linked.map((url) => fileOf(url, page, base))
      const all = new Set([page, ...files, ...formulaFonts(outDir, html)])
      const sum = (list) => list.reduce((bytes, file) => bytes + size(file), 0)
      const first = [page, ...files].filter((file) => /\.(?:html|css|woff2)$/.test(file))
      const elements = openElements(html)
      return { page, bytes: sum([...all]), first: sum([...new Set(first)]), elements }
    })
    .sort((a, b) => b.bytes - a.bytes)
}

/** Prints the heaviest page, and returns a line for each that is too heavy. */
export function checkWeight(outDir) {
  const all = weights(outDir)
  const kB = (bytes) => `${Math.round(bytes / 1000)} kB`
  const [limit, firstLimit] = [LIMIT, FIRST_LIMIT].map(kB)
  const [{ page, bytes, first }] = all
  console.log(
    `\n${all.length} pages; the heaviest is ${page}: ${kB(bytes)} of ${limit}, ` +
      `${kB(first)} of ${firstLimit} before it is painted`
  )
  const heavy = all
    .filter(({ bytes }) => bytes > LIMIT)
    .map(
      ({ page, bytes }) => `${page} weighs ${kB(bytes)} compressed, more than ${limit}`
    )
  const late = all
    .filter(({ first }) => first > FIRST_LIMIT)
    .map(
      ({ page, first }) =>
        `${page} loads ${kB(first)} before it is painted, more than ${firstLimit}`
    )
  const full = all
    .filter(({ elements }) => elements > ELEMENTS_LIMIT)
    .map(
      ({ page, elements }) =>
        `${page} has ${elements} elements outside of folds, more than ${ELEMENTS_LIMIT}`
    )
  return [...heavy, ...late, ...full]
}
