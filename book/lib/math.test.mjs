import assert from 'node:assert/strict'
import test from 'node:test'
import { createMarkdownRenderer } from 'vitepress'
import { mathPlugin, renderMath } from './math.mjs'

const md = await createMarkdownRenderer('.', { config: mathPlugin })
const count = (html) => html.split('class="katex"').length - 1

test('a formula in a line, one over two lines, and two in one', () => {
  assert.equal(count(md.render('takes $32 \\cdot 2$ B')), 1)
  assert.equal(count(md.render('takes\n$a +\nb$ B')), 1)
  assert.equal(count(md.render('$N$ instead of $N^2$.')), 2)
})

test('money and code are no formulas', () => {
  assert.equal(count(md.render('costs $5 or $6, $ 7 $')), 0)
  assert.equal(count(md.render('`$x$` and \\$x\\$')), 0)
})

test('a block of its own, in one line and in several, and in a list', () => {
  assert.match(
    md.render('$$ a = b $$'),
    /^<div class="wb-math" v-pre[^>]*>.*katex-display/
  )
  assert.match(md.render('text\n\n$$\na\n= b\n$$\n\ntext'), /<div class="wb-math"/)
  assert.match(md.render('- item\n\n  $$ a $$\n'), /<li>[\s\S]*<div class="wb-math"/)
})

test('a formula in the cell of a table', () => {
  assert.equal(count(md.render('| a |\n| --- |\n| $x_1$ |\n')), 1)
})

test('what KaTeX cannot read, and a block without its end, are errors', () => {
  assert.throws(
    () => md.render('$\\nosuchthing$'),
    /formula \\nosuchthing cannot be set/
  )
  assert.throws(() => md.render('$$ a = b\n\ntext'), /has no end/)
})

test('a letter that the fonts of formulas leave out is an error', () => {
  assert.throws(() => renderMath('\\text{ж}', false), /cannot be set|"ж"/)
  assert.throws(() => renderMath('\\aleph', false), /has "ℵ", which lib\/fonts/)
})

test('a formula carries MathML, and braces that Vue leaves alone', () => {
  assert.match(renderMath('{{a}}', false), /<math/)
  assert.match(md.render('$2^{{a}}$'), /<span class="wb-math" v-pre>/)
})
