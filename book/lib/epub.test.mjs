import assert from 'node:assert/strict'
import test from 'node:test'
import { unzipSync, strFromU8 } from 'fflate'
import { epubFiles, epubPages, zipped } from './epub.mjs'
import { checkEpub, nestingFault } from './epub-check.mjs'
import { epubPage, propertiesOf } from './epub-page.mjs'
import { styleOfEpub } from './epub-style.mjs'

const context = {
  file: 'a.xhtml', answersFile: 'a-answers.xhtml', target: (href) => `to:${href}`,
  ownId: (id) => `t-${id}`
}
const bodyOf = (html, more = {}) => epubPage(html, { ...context, ...more }).body

test('HTML becomes XHTML: empty elements, entities, comments, what a script needs', () => {
  assert.equal(
    bodyOf('<p tabindex="0" data-v-1 id=x>a &lt; b&nbsp;&amp; c<br>d<!--[--></p>'),
    '<p id="t-x">a &lt; b\u00a0&amp; c<br/>d</p>')
  assert.equal(bodyOf('<p>x<button>Copy</button><input checked></p>'), '<p>x</p>')
  assert.equal(bodyOf('<h2>T <a class="header-anchor" href="#t">#</a></h2>', { deeper: 1 }),
    '<h3>T </h3>')
})

test('links get their address in the EPUB, or none', () => {
  assert.equal(bodyOf('<a href="/b.html#c" target="_blank">b</a>'),
    '<a href="to:/b.html#c">b</a>')
  assert.equal(bodyOf('<a href="/b.html">b</a>', { target: () => null }), '<a>b</a>')
})

test('pictures and formulas are in their own namespaces, and declared', () => {
  const svg = bodyOf('<svg viewBox="0 0 1 1"><path d="M0 0"/></svg>')
  assert.equal(svg,
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0"/></svg>')
  const katex = bodyOf('<span class="katex"><span class="katex-mathml"><math><mi>x</mi>' +
    '<mo><mrow><mi>m</mi><mi>od</mi></mrow></mo></math></span>' +
    '<span class="katex-html">x</span></span>')
  assert.match(katex, /<math xmlns="[^"]*MathML"><mi>x<\/mi><mo>mod<\/mo><\/math>/)
  assert.doesNotMatch(katex, /katex-html/)
  assert.deepEqual(propertiesOf(svg + katex), ['mathml', 'svg'])
  assert.deepEqual(propertiesOf('<p/>'), [])
})

test('a figure that moves leaves its words; a drawn picture stays', () => {
  const figure = (inner) => bodyOf('<figure class="wb-figure"><figcaption>T</figcaption>' +
    `<div class="wb-figure-drawing" aria-label="a tree">${inner}</div>` +
    '<p class="wb-figure-status">now</p></figure>')
  assert.match(figure('<svg><g/></svg>'), /<p>a tree<\/p>/)
  assert.doesNotMatch(figure('<svg><g/></svg>'), /svg|now/)
  assert.match(figure('<svg class="wb-picture"><g/></svg>'), /<svg .*wb-picture/)
})

test('folds go to another file, with those in them; tabs stand one below the other', () => {
  const { body, answers } = epubPage(
    '<p>x</p><details class="details custom-block"><summary>Stuck?</summary>' +
      '<details class="wb-hint"><summary>Hint 1</summary><p>a</p></details></details>' +
      '<details class="wb-ladder-all"><summary>All</summary>t</details>', context)
  assert.match(body, /^<p>x<\/p><p class="fold"><a href="a-answers.xhtml#fold1">Stuck\?</)
  assert.match(body, /<div class="open"><p class="fold-title">All<\/p>t<\/div>$/)
  assert.deepEqual(answers.map(({ id, title }) => [id, title]), [['fold1', 'Stuck?']])
  assert.match(answers[0].body, /^<div class="open"><p class="fold-title">Hint 1<\/p><p>a/)
  const tabs = bodyOf('<div class="wb-rung-diff"><input><label>v2</label><input>' +
    '<label>diff to v1</label><div class="panel code">c</div>' +
    '<div class="panel diff">d</div></div>')
  assert.match(tabs, /<p class="tab">v2<\/p><div class="panel code">c<\/div>/)
  assert.match(tabs, /<p class="tab">diff to v1<\/p><div class="panel diff">d/)
})

/** A small book: a guide, a chapter, a term. */
const PAGES = [
  ['Start & go', 'index.html', 'page', 'index.xhtml', ''],
  ['Dot: sum', 'd/c/index.html', 'chapter', 'c.xhtml', ''],
  ['Warp', 'g/warp.html', 'term', 'terms.xhtml', 'warp-']
].map(([title, source, kind, file, prefix]) => ({ title, source, kind, file, prefix }))
const HTML = {
  'index.html': '<h1 id="top">Start</h1><a href="/d/c/#deep">c</a>' +
    '<a href="/gone.html">g</a>',
  'd/c/index.html': '<h1>Dot</h1><a href="/g/warp.html">w</a><details class="details ' +
    'custom-block"><summary>v1</summary><h3 id="deep">In it</h3></details>',
  'g/warp.html': '<h1 id="what">Warp</h1><a href="/#top">s</a><a href="#what">here</a>'
}
const small = () => epubFiles(PAGES, ({ source }) => HTML[source],
  { date: '2026-11-24', commit: 'abc', release: '' })

test('an EPUB has its parts, links between them, and no fault', () => {
  const files = small()
  assert.deepEqual(checkEpub(files), [])
  assert.deepEqual([...files.keys()].slice(0, 3),
    ['mimetype', 'META-INF/container.xml', 'EPUB/package.opf'])
  assert.match(files.get('EPUB/index.xhtml'), /href="c-answers.xhtml#deep".*<a>g<\/a>/)
  assert.match(files.get('EPUB/c.xhtml'), /href="terms.xhtml#warp"/)
  assert.match(files.get('EPUB/terms.xhtml'), /<h2 id="warp-what">.*href="#warp-what"/)
  assert.match(files.get('EPUB/nav.xhtml'), /Start &amp; go<\/a><ol><li>.*Dot: sum/)
  assert.match(files.get('EPUB/package.opf'), /2026-11-24T00:00:00Z/)
})

test('the same book is the same archive, and its type comes first, as it is', () => {
  const archive = zipped(small())
  assert.deepEqual(archive, zipped(small()))
  assert.equal(strFromU8(archive.subarray(30, 58)), 'mimetypeapplication/epub+zip')
  assert.equal(strFromU8(unzipSync(archive)['EPUB/c.xhtml']), small().get('EPUB/c.xhtml'))
})

test('faults of an EPUB are found', () => {
  const faultsWith = (change) => {
    const files = small()
    change(files)
    return checkEpub(files).join('\n')
  }
  const replace = (name, from, to) => (files) =>
    files.set(name, files.get(name).replace(from, to))
  assert.match(faultsWith(replace('EPUB/c.xhtml', '#warp', '#nobody')), /no such id/)
  assert.match(faultsWith(replace('EPUB/c.xhtml', 'terms.xhtml', 'x.xhtml')), /not there/)
  assert.match(faultsWith(replace('EPUB/c.xhtml', '</h1>', '</h2>')), /closes nothing/)
  assert.match(faultsWith(replace('EPUB/c.xhtml', '<h1>', '<script/><h1>')), /<script/)
  assert.match(faultsWith(replace('EPUB/package.opf', 'href="c.xhtml"', 'href="d.xhtml"')),
    /c.xhtml: is not in the manifest/)
  assert.match(faultsWith((files) => files.delete('EPUB/terms.xhtml')), /but is not there/)
  assert.match(faultsWith(replace('EPUB/package.opf', /<itemref idref="f1"\/>/, '')),
    /is not in the spine/)
  assert.match(faultsWith(replace('EPUB/terms.xhtml', '<h2 id="warp-what">',
    '<h2 id="warp-what"><i id="warp-what"/>')), /two elements have the id/)
  assert.equal(nestingFault('<a b="c"/>&#160;'), null)
  assert.match(nestingFault('<p>&nbsp;</p>'), /entity/)
  assert.match(nestingFault('<p>a < b</p>'), /begins no element/)
})

test('the pages of the book: all lessons, no figure that moves, each file its own', () => {
  const pages = epubPages()
  const chapters = pages.filter(({ kind }) => kind === 'chapter')
  assert.ok(chapters.length >= 40)
  assert.ok(!pages.some(({ source }) => /^figures\/|changelog/.test(source)))
  const files = pages.filter(({ kind }) => kind !== 'term').map(({ file }) => file)
  assert.equal(new Set(files).size, files.length)
})

test('the style sheet has colours, and nothing that old readers do not know', () => {
  const style = styleOfEpub()
  assert.match(style, /\.wb-picture rect, \.wb-picture \.cells \{/)
  assert.match(style, /\.vp-code \.c1\{color:#/)
  assert.doesNotMatch(style, /var\(|:is\(|@media/)
})
