import assert from 'node:assert/strict'
import test from 'node:test'
import { descriptionOf } from './descriptions.mjs'
import { read, readingOrder } from './pages.mjs'

test('a description is the first prose, in whole sentences', () => {
  const text =
    '---\norder: 1\n---\n# Title\n\n*1 hour, easy.*\n\n```bash\nls\n```\n\n<Figure />\n\n' +
    'A **warp** has\n[32 threads](x.md). ' + 'They run together in step. '.repeat(9)
  const description = descriptionOf(text)
  assert.match(description, /^A warp has 32 threads\. They run .* in step\.$/)
  assert.ok(description.length <= 200)
  assert.equal(descriptionOf('---\ndescription: Mine\n---\n# T\n\ntext\n'), 'Mine')
  const long = descriptionOf(`${'word '.repeat(80)}.`)
  assert.match(long, /word …$/)
  assert.ok(long.length <= 200)
})

test('every page has a description of its own', () => {
  const known = new Map()
  for (const { file } of readingOrder()) {
    const description = descriptionOf(read(file))
    assert.ok(description.length > 30 && description.length <= 200, `${file}: ${description}`)
    assert.equal(known.get(description), undefined, file)
    known.set(description, file)
  }
})
