import assert from 'node:assert/strict'
import test from 'node:test'
import { joined, remembering, styleSheet } from './code-colours.mjs'
import { formulaStyle } from './fonts.mjs'

const token = (content, color, fontStyle = 0) => ({ content, color, fontStyle })

test('neighbours of one look become one, and blanks take any look', () => {
  const line = [
    token('int', '#000001'),
    token(' ', '#000000'),
    token('main', '#000001'),
    token('()', '#000002')
  ]
  assert.deepEqual(joined(line).map(({ content }) => content), ['int main', '()'])
  assert.equal(line[0].content, 'int', 'the tokens of the highlighter stay as they are')
})

test('what is underlined stays apart, its blanks too', () => {
  const line = [token('a', '#000001', 4), token(' ', '#000001'), token('b', '#000001')]
  assert.deepEqual(joined(line).map(({ content }) => content), ['a', ' b'])
})

test('each class has a colour in light and in dark', () => {
  const rules = [...styleSheet().matchAll(/\.vp-code( \.c\d+)?\{color:(#\w+)\}/g)]
  const names = rules.map(([, name]) => name ?? '')
  assert.ok(new Set(names).size > 8, names.join())
  for (const name of names) assert.equal(names.filter((each) => each === name).length, 2)
})

test('of the fonts of formulas one format is left, some of them cut', () => {
  const css =
    '@font-face{src:url(fonts/A.woff2) format("woff2"),url(fonts/A.woff) format("woff")}'
  assert.equal(
    formulaStyle(css, (name) => `./${name}`),
    '@font-face{src:url(./A.woff2) format("woff2")}'
  )
})

test('a line is read once in each state, and again if it was not read to its end', () => {
  const state = (depth, name) => ({ depth, name, equals: (other) => other.name === name })
  let [calls, busy] = [0, true]
  const tokenize = remembering((line, before) => {
    calls++
    const ruleStack = line === '{' ? state(2, 'block') : state(1, 'file')
    return { tokens: [line, before.name], ruleStack, stoppedEarly: busy }
  })
  const file = state(1, 'file')
  tokenize('{', file)
  busy = false
  const { ruleStack: block } = tokenize('{', file)
  assert.equal(calls, 2)
  assert.equal(tokenize('{', file).ruleStack, block)
  assert.equal(calls, 2)
  assert.deepEqual(tokenize('x', file).tokens, ['x', 'file'])
  assert.deepEqual(tokenize('x', block).tokens, ['x', 'block'], 'another state')
  assert.equal(tokenize('{', tokenize('}', block).ruleStack).ruleStack, block)
  assert.equal(calls, 6)
})
