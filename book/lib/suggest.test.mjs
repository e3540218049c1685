import assert from 'node:assert/strict'
import test from 'node:test'
import { distance, suggest } from './suggest.mjs'

const pages = [
  { text: '02 Flash attention', link: '/day06-llm-attention/02-flash-attention/' },
  { text: '04 Paged attention', link: '/day06-llm-attention/04-paged-attention/' },
  { text: '02 Vector add', link: '/day01-basics/02-vector-add/' }
]
const first = (url) => suggest(url, pages)[0]?.link

test('the distance of two words', () => {
  assert.equal(distance('warp', 'warp'), 0)
  assert.equal(distance('', 'warp'), 4)
  assert.equal(distance('kitten', 'sitting'), 3)
})

test('an old or a mistyped address leads to its page', () => {
  assert.equal(first('/day06/flash-attention.html'), pages[0].link)
  assert.equal(first('/pagd-atention/lesson.md'), pages[1].link)
  assert.equal(first('/basics/vectoradd'), pages[2].link)
})

test('an address like none of ours suggests nothing', () => {
  assert.deepEqual(suggest('/wp-login.php', pages), [])
  assert.deepEqual(suggest('/', pages), [])
})
