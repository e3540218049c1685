import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import test from 'node:test'
import { checkAnchors, fileOf } from './anchors.mjs'
import { checkWeight, LIMIT } from './weight.mjs'

/** A site of the given files in a folder of its own. */
function site(files) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'warpbook-'))
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    fs.writeFileSync(path.join(folder, name), text)
  }
  return folder
}

test('the file of an address', () => {
  assert.equal(fileOf('/a/', 'x.html'), 'a/index.html')
  assert.equal(fileOf('/', 'x.html'), 'index.html')
  assert.equal(fileOf('#part', 'a/x.html'), 'a/x.html')
  assert.equal(fileOf('b.html?q=1#c', 'a/x.html'), 'a/b.html')
  assert.equal(fileOf('/book/a/', 'x.html', '/book/'), 'a/index.html')
})

test('living links and anchors are not reported, whatever their letters', () => {
  const folder = site({
    'index.html': '<h1 id="top">a</h1><a href="/b/#über">b</a><a href="#top">t</a>',
    'b/index.html':
      '<h2 class="x" id="über">b</h2><a href="https://example.org/#x">e</a>'
  })
  assert.deepEqual(checkAnchors(folder, '/'), [])
})

test('a dead page, a dead anchor and a dead picture are reported', () => {
  const folder = site({
    'index.html':
      '<a href="/b/#no">b</a> <a class="x" href="/c.html">c</a><img src="p.png">',
    'b/index.html': '<h2 id="yes">b</h2>'
  })
  const faults = checkAnchors(folder, '/')
  assert.equal(faults.length, 3)
  assert.match(
    faults[0],
    /index\.html links to \/b\/#no, but that page has no heading "no"/
  )
  assert.match(faults[1], /c\.html, but there is no such page/)
})

test('a link that leaves the folder which the book is served from is reported', () => {
  const folder = site({
    'index.html': '<a href="/book/a.html">a</a><a href="/a.html">b</a>',
    'a.html': ''
  })
  const faults = checkAnchors(folder, '/book/')
  assert.deepEqual(faults, ['index.html links to /a.html, which is not below /book/'])
})

test('a page that is too heavy is reported', () => {
  const noise = Array.from({ length: LIMIT }, () => Math.random().toString(36)[2]).join(
    ''
  )
  const folder = site({
    'index.html': `<script src="/a.js"></script>`,
    'a.js': noise + noise
  })
  assert.match(checkWeight(folder)[0], /index\.html weighs \d+ kB/)
})
