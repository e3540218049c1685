import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import test from 'node:test'
import { fileFor, serve } from './serve.mjs'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'warpbook-'))
fs.mkdirSync(path.join(folder, 'site/a'), { recursive: true })
fs.writeFileSync(path.join(folder, 'secret.txt'), 'secret')
fs.writeFileSync(path.join(folder, 'site/404.html'), 'no such page')
fs.writeFileSync(path.join(folder, 'site/a/index.html'), 'page a')
fs.writeFileSync(path.join(folder, 'site/b.html'), 'page b')
const site = path.join(folder, 'site')

test('pages are found by folder, by name and without their ending', () => {
  const found = (url) => path.relative(site, fileFor(url, site)?.file ?? site)
  assert.equal(found('/a/'), 'a/index.html')
  assert.equal(found('/b.html?x=1'), 'b.html')
  assert.equal(found('/b'), 'b.html')
  assert.equal(fileFor('/a', site).redirect, '/a/')
})

test('nothing outside the folder is served', () => {
  const asked = [
    '/../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '//../secret.txt'
  ]
  for (const url of asked) assert.equal(fileFor(url, site), null, url)
  assert.equal(fileFor('/%', site), null)
  assert.equal(fileFor('/a%00', site), null)
})

test('an unknown address gets the page for it, with status 404', async () => {
  const { server, url } = await serve(site)
  try {
    const page = await fetch(`${url}nowhere.html`)
    assert.equal(page.status, 404)
    assert.equal(await page.text(), 'no such page')
    assert.equal((await fetch(`${url}a/`)).status, 200)
    assert.equal((await fetch(`${url}a/`, { method: 'POST' })).status, 405)
  } finally {
    server.close()
    server.closeAllConnections?.()
  }
})

test('the progress of ./learn is served where there is one, and pages say so', async () => {
  const progress = path.join(folder, 'progress')
  fs.writeFileSync(progress, 'day01.a passed\n')
  for (const [file, status, cookie] of [[progress, 200, 'warpbook-learn=1'], [null, 404, null]]) {
    const { server, url } = await serve(site, 0, file)
    try {
      const answer = await fetch(`${url}.learn/progress`)
      assert.equal(answer.status, status)
      if (file) assert.equal(await answer.text(), 'day01.a passed\n')
      const page = await fetch(`${url}a/`)
      assert.equal(page.headers.get('set-cookie')?.split(';')[0] ?? null, cookie)
    } finally {
      server.close()
      server.closeAllConnections?.()
    }
  }
})
