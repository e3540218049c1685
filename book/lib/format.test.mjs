import assert from 'node:assert/strict'
import { test } from 'node:test'

import { formatMeasured, formatNumber, formatShare, markdownTable, wrap } from './format.mjs'

test('numbers have three significant digits, unless others are asked for', () => {
  assert.equal(formatNumber(41.8432), '41.8')
  assert.equal(formatNumber(0.0325), '0.0325')
  assert.equal(formatNumber(0.5), '0.500')
  assert.equal(formatNumber(89.31, 2), '89')
  assert.equal(formatNumber(9.996), '10.0')
})

test('thousands are set apart', () => {
  assert.equal(formatNumber(2850.3), '2,850')
  assert.equal(formatNumber(116325.7), '116,000')
  assert.equal(formatNumber(3190.267, 4), '3,190')
})

test('very small numbers have an exponent, and 0 has none', () => {
  assert.equal(formatNumber(1.525040715932846e-8, 2), '1.5e-8')
  assert.equal(formatNumber(0), '0')
  assert.equal(formatNumber(-2.5), '-2.50')
  assert.equal(formatNumber(Infinity), 'Infinity')
})

test('a value is converted as its tag asks', () => {
  assert.equal(formatMeasured(6455.5, { as: 'ms' }), '6.46')
  assert.equal(formatMeasured(1.016, { as: 'more', digits: '2' }), '1.6')
  assert.equal(formatMeasured(0.75, { as: 'less', digits: '2' }), '25')
  assert.equal(formatMeasured(0.893, { as: 'percent', digits: '2' }), '89')
})

test('"more" is refused where less was measured, and the other way round', () => {
  assert.throws(() => formatMeasured(0.9, { as: 'more' }), /says "more".* -10\.0 %/)
  assert.throws(() => formatMeasured(1.1, { as: 'less' }), /says "less"/)
})

test('strings and counts are written as they are', () => {
  assert.equal(formatMeasured('NVIDIA H100', {}), 'NVIDIA H100')
  assert.equal(formatMeasured(162816, {}), '162,816')
  assert.equal(formatMeasured(41, {}), '41')
})

test('unknown conversions and digits are refused', () => {
  assert.throws(() => formatMeasured(1, { as: 'miles' }), /"miles" is not one of: ns, ms/)
  assert.throws(() => formatMeasured(1.5, { digits: '0' }), /digits="0"/)
})

test('text is wrapped at the width and loses no word', () => {
  const wrapped = wrap('one two three four', 9)
  assert.equal(wrapped, 'one two\nthree\nfour')
})

test('a table has a head, a rule and its rows', () => {
  assert.equal(
    markdownTable([['a', 'b'], ['1', '2']]), '| a | b |\n| --- | --- |\n| 1 | 2 |')
})

test('a share of more than the ceiling says so', () => {
  assert.deepEqual([6.72, 93.4, 99.4, 99.6, 100.4, 103.2].map(formatShare),
    ['6.7', '93', '99', '99.6', '100', '103'])
})
