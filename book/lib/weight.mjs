// What a page weighs before its figures are loaded: the HTML, every style sheet, script
// and font that it asks for, and the fonts of its formulas, compressed as by a server.

import fs from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { attributeValues, filesBelow } from './html.mjs'
import { fileOf } from './anchors.mjs'
import { BASE } from './sources.mjs'

/** Most that a page may weigh, compressed. */
export const LIMIT = 300 * 1000

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
 * @returns {{page: string, bytes: number}[]}
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
      const all = new Set([...files, ...formulaFonts(outDir, html)])
      const rest = [...all].reduce((sum, file) => sum + size(file), 0)
      return { page, bytes: size(page) + rest }
    })
    .sort((a, b) => b.bytes - a.bytes)
}

/** Prints the heaviest page, and returns a line for each that is too heavy. */
export function checkWeight(outDir) {
  const all = weights(outDir)
  const kB = (bytes) => `${Math.round(bytes / 1000)} kB`
  const limit = kB(LIMIT)
  const [{ page, bytes }] = all
  console.log(
    `\n${all.length} pages; the heaviest is ${page}: ${kB(bytes)} of ${limit}`
  )
  return all
    .filter(({ bytes }) => bytes > LIMIT)
    .map(
      ({ page, bytes }) => `${page} weighs ${kB(bytes)} compressed, more than ${limit}`
    )
}
