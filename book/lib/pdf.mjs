// The whole book as one PDF: all pages in reading order as one document, printed by
// Chromium, so that links between pages work and the outline lists every heading.
//
//     node book/lib/pdf.mjs [OUTPUT]        after "vitepress build book"

import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { launchBrowser } from './browser.mjs'
import { readingOrder } from './pages.mjs'
import { fileIn, SITE, wholeBook } from './pdf-document.mjs'
import { pageNumbers } from './pdf-pages.mjs'
import { serve } from './serve.mjs'

const FOOTER =
  '<div style="width:100%;text-align:center;font-size:8px;color:#555">' +
  '<span class="pageNumber"></span></div>'

/** Prints, writes the numbers of the pages into the document, and prints again. */
async function withNumbers(page, print) {
  let known = null
  for (let tried = 0; tried < 4; tried++) {
    const pdf = await print()
    const numbers = pageNumbers(pdf)
    const written = JSON.stringify([...numbers])
    if (written === known) return pdf
    known = written
    await page.evaluate(fillNumbers, Object.fromEntries(numbers))
  }
  throw new Error('the numbers of the pages do not come to rest')
}

/** In the document: the number of each page; in the index, each page once. */
function fillNumbers(numbers) {
  for (const place of document.querySelectorAll('[data-page]')) {
    const number = numbers[place.dataset.page]
    if (!number) throw new Error(`no page has #${place.dataset.page}`)
    place.textContent = number
  }
  for (const list of document.querySelectorAll('.wb-places')) {
    const seen = new Set()
    for (const link of list.querySelectorAll('a')) {
      link.hidden = seen.has(link.textContent)
      seen.add(link.textContent)
    }
  }
}

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
    fs.writeFileSync(source, wholeBook(pages))
    const page = await browser.newPage()
    await page.goto(`${url}whole-book.html`, { waitUntil: 'networkidle' })
    await page.emulateMedia({ media: 'print', colorScheme: 'light' })
    const print = () => page.pdf({
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
    fs.writeFileSync(output, await withNumbers(page, print))
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
