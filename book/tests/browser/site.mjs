// What the tests in a browser share: the built book behind a server, and Chromium.
//
//   npm run book:build && npm run test:browser
//
// WB_BOOK_DIST names another folder than book/dist.

import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { launchBrowser } from '../../lib/browser.mjs'
import { serve } from '../../lib/serve.mjs'

const HERE = path.dirname(fileURLToPath(import.meta.url))

/** The folder with the built book. */
export const DIST = path.resolve(
  process.env.WB_BOOK_DIST ?? path.join(HERE, '../../dist')
)

/** What a reader may sit at. */
export const DESK = { width: 1200, height: 900 }
export const PHONE = { width: 360, height: 740 }

/** The addresses of all pages, from the files of the book; without the 404 page. */
export function addresses(folder = DIST, prefix = '/') {
  return fs
    .readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      if (entry.isDirectory()) {
        if (['assets', 'offline', 'source'].includes(entry.name)) return []
        return addresses(path.join(folder, entry.name), `${prefix}${entry.name}/`)
      }
      if (!entry.name.endsWith('.html') || entry.name === '404.html') return []
      return [entry.name === 'index.html' ? prefix : `${prefix}${entry.name}`]
    })
    .sort()
}

/** A server and a browser, both gone after the tests of a file. */
export async function start(after) {
  const book = await serve(DIST)
  const browser = await launchBrowser()
  after(async () => {
    await browser.close()
    book.server.closeAllConnections()
    book.server.close()
  })
  return { browser, origin: book.url.replace(/\/$/, '') }
}

/**
 * What is far from the window is laid out too, so that a test can measure it; and the
 * shadow below a table goes, as axe judges no text before a picture.
 */
function layOutAll() {
  document.addEventListener('DOMContentLoaded', () => {
    const style = document.createElement('style')
    style.textContent = '.vp-doc * { content-visibility: visible !important }' +
      '.vp-doc table { background-image: none !important }'
    document.head.append(style)
  })
}

/**
 * A page that writes down what it complains about: errors of scripts and of the
 * console, and requests that leave the book. `visit` goes to an address and gives the
 * complaints of that page alone.
 */
export async function reader(browser, origin, options = {}) {
  const context = await browser.newContext({ viewport: DESK, ...options })
  context.setDefaultTimeout(180_000) // beside compilers, on two cores
  await context.addInitScript(layOutAll)
  const page = await context.newPage()
  let complaints = []
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  page.on('request', (request) => {
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(origin)) {
      complaints.push(`asks for ${request.url()}`)
    }
  })
  const visit = async (url) => {
    complaints = []
    await page.goto(origin + url, { waitUntil: 'load' })
    await settled(page)
    return complaints
  }
  return { page, visit, close: () => context.close() }
}

/** A reader with a page open. */
export async function open(browser, origin, url, options = {}) {
  const { page, visit, close } = await reader(browser, origin, options)
  const complaints = await visit(url)
  await page.waitForLoadState('networkidle')
  return { page, complaints, close }
}

/** Until Vue has taken over, and figures, which are loaded last, have had a moment. */
async function settled(page) {
  // What a finger does first; the pages of a telephone wait for it with their scripts.
  await page.evaluate(() => window.dispatchEvent(new Event('pointerdown')))
  const ready = () => document.querySelector('#app')?.__vue_app__ !== undefined
  await page.waitForFunction(ready, null, { polling: 20 })
  await page.waitForTimeout(60)
}
