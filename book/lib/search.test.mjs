import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import test from 'node:test'
import MiniSearch from 'minisearch'
import { createMarkdownRenderer } from 'vitepress'
import { excerptOf } from './excerpt.mjs'
import { ROOT } from './pages.mjs'
import { withExcerpts } from './search-box.mjs'
import {
  indexTerms, miniSearch, queryTerms, search, sectionsPlugin
} from './search.mjs'

/** An index as the book builds and loads it, with one document for each text. */
function indexOf(...texts) {
  const options = { fields: ['title', 'titles', 'text'], ...miniSearch.options }
  const index = new MiniSearch(options)
  texts.forEach((text, id) => index.add({ id, title: '', titles: [], text }))
  const settings = { ...options, searchOptions: miniSearch.searchOptions }
  const loaded = MiniSearch.loadJSON(JSON.stringify(index), settings)
  return (query) => loaded.search(query).map((result) => result.id)
}

test('an identifier is found whole, by its beginning and by each of its parts', () => {
  const find = indexOf('x += __shfl_xor_sync(mask, x, 16);', 'nothing here')
  const queries = [
    '__shfl_xor_sync',
    'shfl_xor_sync',
    '__shfl',
    'xor_sync',
    'xor',
    'sync'
  ]
  for (const query of queries) assert.deepEqual(find(query), [0], query)
})

test('names in camel case are found by their parts, in any case', () => {
  const find = indexOf('wb::OnlineSoftmax state; threadIdx.x', 'soft and max')
  for (const query of [
    'onlinesoftmax',
    'OnlineSoftmax',
    'softmax',
    'threadIdx',
    'Idx'
  ]) {
    assert.deepEqual(find(query), [0], query)
  }
})

test('a word is found inside a longer word', () => {
  const find = indexOf('an uncoalesced access', 'the multiprocessors', 'unrelated')
  assert.deepEqual(find('coalesced'), [0])
  assert.deepEqual(find('alesc'), [0])
  assert.deepEqual(find('processor'), [1])
})

test('Chinese words are found in the middle of a sentence', () => {
  const find = indexOf(
    '共享内存有三十二个存储体,同时访问同一个存储体会产生冲突。',
    '线程束中的线程同时执行,合并访存很重要。'
  )
  assert.deepEqual(find('存储体'), [0])
  assert.deepEqual(find('冲突'), [0])
  assert.deepEqual(find('线程束'), [1])
  assert.deepEqual(find('访存'), [1])
  assert.deepEqual(find('束'), [1])
  assert.deepEqual(find('内存有线'), [])
})

test('all words of a query must be there', () => {
  const find = indexOf('bank conflicts of shared memory', 'shared pages of a cache')
  assert.deepEqual(find('shared bank'), [0])
  assert.deepEqual(find('shared zebra'), [])
})

test('wrong letters in a long word are forgiven, none in a short one', () => {
  const find = indexOf('divergence of a warp', 'a swizzle of rows')
  assert.deepEqual(find('divergance'), [0])
  assert.deepEqual(find('swizzel'), [1])
  assert.deepEqual(find('worp'), [])
})

test('a number with its unit and an architecture are words', () => {
  const find = indexOf('needs sm_90a and 48 KB', 'runs on sm_80')
  assert.deepEqual(find('sm_90a'), [0])
  assert.deepEqual(find('sm_80'), [1])
})

test('the functions survive being turned into text, as VitePress does it', () => {
  for (const fn of [indexTerms, queryTerms]) {
    const again = new Function(`return ${fn.toString()}`)()
    assert.deepEqual(again('__shfl_xor_sync 存储体'), fn('__shfl_xor_sync 存储体'))
  }
})

test('nothing but punctuation gives no term', () => {
  assert.deepEqual(indexTerms('--- ___ (!)'), [])
  assert.deepEqual(queryTerms(' . '), [])
})

const md = await createMarkdownRenderer('.', {})
const sections = async (text) => JSON.parse(await search.options._render(text, {}, md))

test('a page is indexed by its headings, with code and without markup', async () => {
  const found = await sections(
    '---\ntitle: T\nwords: a, b\n---\n# Title *x*\n\nIntro `code`.\n\n## Part\n\n' +
      '::: details More\n```cpp\n__syncthreads();\n```\n:::\n\n### Sub\n\ntext\n'
  )
  assert.deepEqual(
    found.map(({ anchor, titles }) => [anchor, ...titles]),
    [
      ['', 'Title x'],
      ['part', 'Title x', 'Part'],
      ['sub', 'Title x', 'Part', 'Sub']
    ]
  )
  assert.match(found[0].text, /Intro code\./)
  assert.match(found[1].text, /More[^]*__syncthreads\(\);/)
  assert.doesNotMatch(JSON.stringify(found), /words|title: /)
})

test('a term is found by its other names', async () => {
  const [first] = await sections('---\nalso: double buffering\n---\n# Stage\n\ntext\n')
  assert.match(first.text, /text\nAlso: double buffering\./)
})

test('an excerpt begins before the first word that was found', () => {
  const text = `${'word '.repeat(60)}the <b>swizzle</b> of\nrows ${'end '.repeat(60)}`
  const excerpt = excerptOf(text, ['swizzle', 'absent'])
  assert.match(excerpt, /^… (?:word )+the &lt;b&gt;swizzle&lt;\/b&gt; of rows (?:end )+…$/)
  assert.ok(excerpt.length < 220)
  assert.equal(excerptOf('short', ['none']), 'short')
  assert.equal(excerptOf(undefined, []), '')
})

test("VitePress's search box is the one that is changed", () => {
  const box = 'vitepress/dist/client/theme-default/components/VPLocalSearchBox.vue'
  const code = fs.readFileSync(path.join(ROOT, 'node_modules', box), 'utf8')
  const changed = withExcerpts(code)
  assert.match(changed, /const mods = \[\]\n/)
  assert.match(changed, /excerptOf\(r\.text/)
  assert.throws(() => withExcerpts('<script lang="ts" setup>'), /has no .* any more/)
})

test('a build takes the sections of the page that it renders', async () => {
  md.use(sectionsPlugin)
  process.env.NODE_ENV = 'production'
  const later = search.options._render('# Title\n\ntext\n', { path: '/page.md' }, md)
  md.render('# Title\n\nas rendered\n', { realPath: '/page.md' })
  delete process.env.NODE_ENV
  assert.match(JSON.parse(await later)[0].text, /as rendered/)
})

test('a page that asks for it is not indexed', async () => {
  assert.deepEqual(await sections('---\nsearch: false\n---\n# Title\n\ntext\n'), [])
})
