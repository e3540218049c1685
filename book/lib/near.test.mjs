import assert from 'node:assert/strict'
import { test } from 'node:test'

import { closest, distance } from './near.mjs'

test('the distance counts insertions, deletions and replacements', () => {
  assert.equal(distance('', 'abc'), 3)
  assert.equal(distance('abc', ''), 3)
  assert.equal(distance('kitten', 'sitting'), 3)
  assert.equal(distance('same', 'same'), 0)
})

test('the nearest names come first, and no more than asked for', () => {
  const known = ['vector_add', 'dot_product', 'saxpy']
  assert.deepEqual(closest('vector_ad', known, 1), ['vector_add'])
  assert.equal(closest('DOT_PRODUCT', known, 3)[0], 'dot_product')
  assert.deepEqual(closest('x', [], 3), [])
})
