import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { copySources, linkToSource } from './sources.mjs'

test('without a code host the book carries a copy of each file that it names', () => {
  const href = linkToSource('solutions/day01-basics/02-vector-add/vector_add.cu')
  assert.equal(href, '/source/solutions/day01-basics/02-vector-add/vector_add.cu.txt')
  assert.equal(linkToSource('common'), null)
  const site = fs.mkdtempSync(path.join(os.tmpdir(), 'warpbook-'))
  copySources(site)
  assert.match(fs.readFileSync(path.join(site, href), 'utf8'), /vector_add_v2_kernel/)
})

test('with a code host links lead there, to the lines', () => {
  const code = `
    const { linkToSource } = await import('./sources.mjs')
    console.log(linkToSource('LICENSE', { first: 3, last: 5 }), linkToSource('common'))`
  const env = {
    ...process.env,
    WARPBOOK_REPOSITORY: 'https://example.org/w/blob/main/'
  }
  const cwd = path.dirname(fileURLToPath(import.meta.url))
  const options = { cwd, env, encoding: 'utf8' }
  const output = execFileSync('node', ['--input-type=module', '-e', code], options)
  assert.equal(
    output.trim(),
    'https://example.org/w/blob/main/LICENSE#L3-L5 https://example.org/w/blob/main/common'
  )
})
