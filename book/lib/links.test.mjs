import assert from 'node:assert/strict'
import test from 'node:test'
import { resolveLink } from './links.mjs'

const lesson = 'day01-basics/02-vector-add/lesson.md'
const urls = new Map([
  [lesson, '/day01-basics/02-vector-add/'],
  ['day01-basics/README.md', '/day01-basics/'],
  ['book/pages/glossary/warp.md', '/glossary/warp.html'],
  ['docs/xray.md', '/xray.html']
])
const from = (href) => resolveLink(href, lesson, urls)

test('links to the files of pages become addresses of pages', () => {
  assert.equal(from('../README.md'), '/day01-basics/')
  assert.equal(from('../../docs/xray.md#races'), '/xray.html#races')
  assert.equal(from('../../book/pages/glossary/warp.md'), '/glossary/warp.html')
  assert.equal(from('..'), '/day01-basics/')
  assert.equal(from('../02-vector-add/'), '/day01-basics/02-vector-add/')
})

test('a file that is no page is linked to as a file', () => {
  assert.match(from('../../LICENSE'), /LICENSE/)
  assert.match(from('vector_add.h'), /day01-basics\/02-vector-add\/vector_add\.h/)
})

test('a link to nothing, or out of the repository, is an error', () => {
  assert.throws(
    () => from('../03-saxpy/lesson.md'),
    /there is no day01-basics\/03-saxpy/
  )
  assert.throws(() => from('../../../etc/passwd'), /there is no/)
})
