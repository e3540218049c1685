import assert from 'node:assert/strict'
import test from 'node:test'
import { offlinePage, offlineStyle, relativeUrl } from './offline.mjs'

test('absolute addresses become relative ones', () => {
  assert.equal(relativeUrl('/', 'index.html'), './index.html')
  assert.equal(relativeUrl('/', 'a/b/index.html'), '../../index.html')
  assert.equal(relativeUrl('/a/b/#part', 'c.html'), './a/b/index.html#part')
  assert.equal(relativeUrl('/x.html', 'a/index.html'), '../x.html')
  assert.equal(relativeUrl('/book/x.html', 'a/index.html', '/book/'), '../x.html')
})

const page = `<!DOCTYPE html><html lang="en"><head>
<link rel="stylesheet" href="/assets/style.css">
<link rel="modulepreload" href="/assets/app.js">
<script type="module" src="/assets/app.js"></script></head>
<body><a class="x" href="/a/#b">b</a> <a href="https://example.org/">e</a>
<a href="#top">t</a> <a href="//example.org/">p</a></body></html>`

test('a page loses its modules and keeps its links', () => {
  const html = offlinePage(page, 'a/c/index.html')
  assert.doesNotMatch(html, /module/)
  assert.match(html, /href="\.\.\/\.\.\/assets\/style\.css"/)
  assert.match(html, /<a class="x" href="\.\.\/\.\.\/a\/index\.html#b">/)
  assert.match(html, /href="https:\/\/example\.org\/"/)
  assert.match(html, /href="\/\/example\.org\/"/)
  assert.match(html, /href="#top"/)
  assert.match(html, /<script defer src="\.\.\/\.\.\/offline\.js">/)
})

test('fonts are found beside their style sheet, and may come late', () => {
  assert.equal(
    offlineStyle('@font-face{font-display:optional;src:url(/b/assets/x.woff2)}', '/b/'),
    '@font-face{font-display:swap;src:url(x.woff2)}')
})
