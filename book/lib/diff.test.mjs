import assert from 'node:assert/strict'
import { test } from 'node:test'

import { diffLines, similarity, withoutRung } from './diff.mjs'

const marks = (result) => result.map(({ mark, line }) => mark + line)

/** One side of a diff: all lines but those with the mark of the other side. */
const side = (result, other) =>
  result.filter(({ mark }) => mark !== other).map(({ line }) => line)

test('equal texts have nothing but common lines', () => {
  assert.deepEqual(marks(diffLines(['a', 'b'], ['a', 'b'])), [' a', ' b'])
})

test('a replaced line is a deletion, then an insertion', () => {
  assert.deepEqual(
    marks(diffLines(['a', 'b', 'c'], ['a', 'x', 'c'])), [' a', '-b', '+x', ' c'])
})

test('one of the texts may be empty', () => {
  assert.deepEqual(marks(diffLines([], ['a'])), ['+a'])
  assert.deepEqual(marks(diffLines(['a'], [])), ['-a'])
  assert.deepEqual(diffLines([], []), [])
})

test('both texts can be read out of the diff, whatever they are', () => {
  let seed = 1
  const random = (n) => (seed = (seed * 48271) % 2147483647) % n
  for (let round = 0; round < 200; ++round) {
    const text = () => Array.from({ length: random(12) }, () => 'abcd'[random(4)])
    const [before, after] = [text(), text()]
    const result = diffLines(before, after)
    assert.deepEqual(side(result, '+'), before)
    assert.deepEqual(side(result, '-'), after)
  }
})

test('as many lines as possible are common', () => {
  const kept = (a, b) =>
    diffLines([...a], [...b]).filter(({ mark }) => mark === ' ').length
  assert.equal(kept('abcbdab', 'bdcaba'), 4) // Cormen et al., section on LCS
  assert.equal(kept('abcdef', 'acf'), 3)
})

test('indentation counts', () => {
  assert.equal(diffLines(['  a'], ['a']).length, 2)
})

test('similarity is 1 for equal texts and 0 for texts without a common line', () => {
  assert.equal(similarity(['a', 'b'], ['a', 'b']), 1)
  assert.equal(similarity(['a'], ['b']), 0)
  assert.equal(similarity(['a', 'b'], ['a', 'c']), 0.5)
})

test('lines that differ only in the number of the rung can be the same', () => {
  const [before, after] = [['add_v1(x);', 'a'], ['add_v2(x);', 'b']]
  assert.deepEqual(
    marks(diffLines(before, after, withoutRung)), [' add_v2(x);', '-a', '+b'])
})
