import assert from 'node:assert/strict'
import test from 'node:test'
import { createMarkdownRenderer } from 'vitepress'
import {
  definitionOf,
  finder,
  linkTerms,
  listHtml,
  plain,
  terms
} from './glossary.mjs'

const term = (title, words, more = {}) => ({
  title,
  url: `/glossary/${title}.html`,
  file: `book/pages/glossary/${title}.md`,
  words,
  where: [''],
  definition: `A ${title} is a ${title}.`,
  ...more
})
const WARP = term('warp', ['warp', 'warps'])
const SM = term('multiprocessor', ['SM', 'multiprocessor'])
const SHARED = term('shared-memory', ['shared memory'])
const BLOCK = term('block', ['block', 'thread block'], { where: ['docs', 'day01'] })
const ALL = [WARP, SM, SHARED, BLOCK]

const md = await createMarkdownRenderer('.', {
  config: (md) => {
    md.core.ruler.push('terms', (state) => linkTerms(state, state.env.source, ALL))
  }
})

/** The links of a page, as [text, address]. */
function linksOf(markdown, source = 'day01-basics/02-x/lesson.md') {
  const html = md.render(markdown, { source })
  return [...html.matchAll(/<a href="([^"]+)" class="wb-term"[^>]*>([^<]+)<\/a>/g)].map(
    ([, href, text]) => [text, href]
  )
}

test('the first use in prose becomes a link, later ones do not', () => {
  const found = linksOf('Two warps.\n\nOne warp and a warp in shared memory.')
  assert.deepEqual(found, [
    ['warps', '/glossary/warp.html'],
    ['shared memory', '/glossary/shared-memory.html']
  ])
})

test('code, headings, tables and links are left alone', () => {
  const page = [
    '# A warp',
    '`warp` and [a warp](https://example.org)',
    '```\nwarp\n```',
    '| warp | b |\n| --- | --- |\n| warp | c |',
    '> at last, a Warp'
  ]
  assert.deepEqual(linksOf(page.join('\n\n')), [['Warp', '/glossary/warp.html']])
})

test('a term may be broken into two lines', () => {
  assert.deepEqual(linksOf('It is shared\nmemory that *helps*\nhere.'), [
    ['shared\nmemory', '/glossary/shared-memory.html']
  ])
})

test('only whole words count', () => {
  assert.deepEqual(linksOf('A time warped, warp-wide, ware, unwarp, warp_size.'), [])
})

test('capitals count where the word has them', () => {
  assert.deepEqual(linksOf('The sm is small, the SM is not.'), [
    ['SM', '/glossary/multiprocessor.html']
  ])
})

test('a term may be limited to some pages', () => {
  assert.deepEqual(linksOf('A thread block.'), [
    ['thread block', '/glossary/block.html']
  ])
  assert.deepEqual(linksOf('A thread block.', 'day06-x/01-y/lesson.md'), [])
})

test('a term is not linked on its own page, nor where it is linked by hand', () => {
  assert.deepEqual(linksOf('A warp.', WARP.file), [])
  assert.deepEqual(linksOf('A warp. See [warp](../pages/glossary/warp.md).'), [])
})

test('a word that two terms claim is an error', () => {
  assert.throws(() => finder([WARP, term('other', ['warps'])]), /"warps" twice/)
})

test('the first sentence is the definition', () => {
  assert.equal(
    definitionOf('# What is it?\n\nA **warp** is 32 `threads`\nof [a](b.md). More.'),
    'A warp is 32 threads of a.'
  )
  assert.equal(definitionOf('# X\n\nFull of e.g. dots: 3.5 of them. Yes.'),
    'Full of e.g. dots: 3.5 of them.')
  assert.equal(definitionOf('# X\n\nOne. `two` Three.'), 'One.')
  assert.equal(plain('$2 \\cdot 3$'), '2 × 3')
})

test('the list has every term and escapes its text', () => {
  const html = listHtml([term('a', ['a'], { definition: '<b> & "c"' })], '/base/')
  assert.match(html, /href="\/base\/glossary\/a\.html"/)
  assert.match(html, /&lt;b> &amp; &quot;c&quot;/)
})

test('every page of the glossary says what it defines, in one sentence', () => {
  const all = terms()
  assert.ok(all.length >= 50, `${all.length} terms`)
  finder(all)
  for (const { file, definition, words } of all) {
    assert.ok(words.length > 0, file)
    const { length } = definition
    assert.ok(length > 30 && length < 330, `${file}: ${definition}`)
    assert.match(definition, /\.$/, file)
    assert.doesNotMatch(definition, /\\|\^\{/, `${file}: TeX in the first sentence`)
  }
})
