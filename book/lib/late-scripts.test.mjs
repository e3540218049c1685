import assert from 'node:assert/strict'
import test from 'node:test'
import { offlinePage } from './offline.mjs'
import { withLateScripts } from './late-scripts.mjs'

const page = `<html><head><script type="module" src="/assets/chunks/metadata.js"></script>
<script type="module" src="/assets/app.js"></script>
<link rel="modulepreload" href="/assets/chunks/theme.js"></head><body></body></html>`

test('no module of a page runs by itself, and their order is kept', () => {
  const html = withLateScripts(page)
  assert.doesNotMatch(html, /type="module"|modulepreload/)
  const waiting = [...html.matchAll(/href="([^"]+)" as="script" data-wb-script/g)]
  assert.deepEqual(waiting.map(([, url]) => url),
    ['/assets/chunks/metadata.js', '/assets/app.js'])
  assert.match(html, /rel="prefetch" href="\/assets\/chunks\/theme\.js"/)
})

test('the copy for a disk has neither the modules nor what starts them', () => {
  assert.doesNotMatch(offlinePage(withLateScripts(page), 'index.html'),
    /prefetch|app\.js|wb-late/)
})
