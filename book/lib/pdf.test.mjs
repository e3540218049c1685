import assert from 'node:assert/strict'
import test from 'node:test'
import { mainOf, section, takeFolds } from './pdf-document.mjs'
import { pageNumbers } from './pdf-pages.mjs'

const prefixes = new Map([
  ['a/index.html', 'p0'],
  ['b.html', 'p1']
])
const make = (html, deeper = 0) => section(html, 'a/index.html', prefixes, deeper)

test('ids and what refers to them get the prefix of the page', () => {
  const html = make('<h1 id="x">a</h1><label for="x y">b</label><g fill="url(#x)"/>')
  assert.match(html, /^<section class="wb-page" id="p0">/)
  assert.match(html, /<h1 id="p0-x">/)
  assert.match(html, /for="p0-x p0-y"/)
  assert.match(html, /url\(#p0-x\)/)
})

test('links lead within the document, to outside, or nowhere', () => {
  const html = make(
    '<a href="#x">1</a><a class="c" href="/b.html#y">2</a><a href="/b.html">3</a>' +
      '<a href="https://example.org/#z">4</a><a href="/source/f.cu.txt">5</a>'
  )
  assert.match(html, /<a href="#p0-x">1<\/a><a class="c" href="#p1-y">2<\/a>/)
  assert.match(html, /<a href="#p1">3<\/a><a href="https:\/\/example\.org\/#z">4</)
  assert.match(html, /<a>5<\/a>/)
})

test('folds are open, and headings of a chapter are one level down', () => {
  assert.match(
    make('<details class="d"><summary>s</summary></details>'),
    /<details open class/
  )
  assert.match(make('<h1 id="x">a</h1>', 1), /<h2 id="p0-x">a<\/h2>/)
})

test('the main part of a page', () => {
  assert.equal(mainOf('<body><main class="main"><p>x</p></main></body>'), '<p>x</p>')
  assert.throws(() => mainOf('<body></body>'), /without <main>/)
})

test('folds of a lesson go to the back, with those in them', () => {
  const fold = (title, inner) =>
    `<details open class="details custom-block"><summary>${title}</summary>${inner}</details>`
  const hints = fold('Stuck?', '<details class="wb-hint"><summary>1</summary>a</details>')
  const table = '<details class="wb-ladder-all"><summary>All</summary>t</details>'
  const { html, answers } = takeFolds(`x${hints}y${table}${fold('<b>v1</b>', 'code')}`, 'p3')
  assert.deepEqual(
    answers.map(({ id, title }) => `${id} ${title}`),
    ['p3-fold1 Stuck?', 'p3-fold2 v1']
  )
  assert.match(answers[0].html, /^<details class="wb-hint">.*<\/details>$/)
  assert.match(html, /^x<p class="wb-fold"><a href="#p3-fold1">Stuck\?: page <span/)
  assert.match(html, /y<details class="wb-ladder-all">.*t<\/details><p class="wb-fold">/)
  assert.throws(() => takeFolds('<details class="details custom-block">', 'p'), /its end/)
})

test('the number of the page of each place, through a tree of pages', () => {
  const pdf = [
    '1 0 obj\n<</Type /Page\n/Parent 9 0 R>>\nendobj',
    '2 0 obj\n<</Type /Page\n/Parent 8 0 R>>\nendobj',
    '3 0 obj\n<</Type /Page\n/Parent 8 0 R>>\nendobj',
    '8 0 obj\n<</Type /Pages\n/Kids [3 0 R 2 0 R]>>\nendobj',
    '9 0 obj\n<</Type /Pages\n/Kids [1 0 R 8 0 R]>>\nendobj',
    '10 0 obj\n<</p1 [1 0 R /XYZ 6 8 0]\n/p2#2Dx [2 0 R /XYZ 6 8 0]>>\nendobj',
    '11 0 obj\n<</Title (x)\n/Dest [3 0 R /XYZ 6 8 0]>>\nendobj',
    '12 0 obj\n<</Type /Catalog\n/Pages 9 0 R\n/Dests 10 0 R>>\nendobj\n'
  ].join('\n')
  assert.deepEqual([...pageNumbers(Buffer.from(pdf))], [['p1', 1], ['p2-x', 3]])
})
