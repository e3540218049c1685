// Lighthouse's scores of five pages of the built book, served compressed, as on a
// telephone; fails where one is below 95.
//
//     npm install --no-save lighthouse@12 && node book/tests/lighthouse.mjs [ADDRESS…]

import fs from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { createGzip } from 'node:zlib'
import { launchBrowser } from '../lib/browser.mjs'
import { fileFor } from '../lib/serve.mjs'

const DIST = fileURLToPath(new URL('../dist', import.meta.url))
const LEAST = 95
const PAGES = [
  '/', '/day01-basics/02-vector-add/', '/day06-llm-attention/08-hopper-attention/',
  '/performance.html', '/glossary/warp.html'
]
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript',
  '.css': 'text/css', '.woff2': 'font/woff2' }

const server = http.createServer((request, response) => {
  const file = fileFor(request.url, DIST)?.file
  if (!file) return response.writeHead(404).end()
  const type = TYPES[path.extname(file)] ?? 'application/octet-stream'
  const head = { 'Content-Type': type, 'Cache-Control': 'max-age=31536000' }
  if (type === 'font/woff2') {
    response.writeHead(200, head)
    fs.createReadStream(file).pipe(response)
  } else {
    response.writeHead(200, { ...head, 'Content-Encoding': 'gzip' })
    fs.createReadStream(file).pipe(createGzip()).pipe(response)
  }
})

const { default: lighthouse } = await import('lighthouse')
const port = 9300 + (process.pid % 500)
const browser = await launchBrowser([`--remote-debugging-port=${port}`])
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const asked = process.argv.slice(2)
try {
  for (const page of asked.length > 0 ? asked : PAGES) {
    const url = `http://127.0.0.1:${server.address().port}${page}`
    const options = { port, onlyCategories: ['performance', 'accessibility'] }
    const { lhr } = await lighthouse(url, { ...options, logLevel: 'error' })
    const scores = Object.values(lhr.categories)
      .map(({ id, score }) => [id, Math.round(100 * score)])
    const of = (name) => lhr.audits[name].displayValue
    console.log(page, scores.map(([id, score]) => `${id} ${score}`).join(', '),
      `(paint ${of('first-contentful-paint')}, blocked ${of('total-blocking-time')},`,
      `shift ${of('cumulative-layout-shift')})`)
    if (scores.some(([, score]) => !(score >= LEAST))) process.exitCode = 1
  }
} finally {
  await browser.close()
  server.closeAllConnections()
  server.close()
}
