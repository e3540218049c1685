import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import {
  MissingNumber, exercises, isOurs, ladderOf, loadData, oneCall, lookUp, shortRung,
} from './data.mjs'

const row = (exercise, rung, size, more = {}) => ({
  exercise, rung, size, cache: 'cold', median_us: 10, p10_us: 9, p90_us: 12,
  tflops: 2.5, percent: 5, ceiling: 'fp32', ceiling_value: 50, date: '2026-11-21',
  ...more,
})

const data = {
  day06: {
    machine: { gpu: 'a GPU' },
    ceilings: { fp32: { value: 51.5, unit: 'TFLOP/s' } },
    rows: [
      row('flash', 'flash_v1', 'N64'),
      row('flash', 'flash_v2', 'N64', { tflops: 4 }),
      row('flash', 'torch sdpa', 'N64'),
      row('paged', 'paged_v1', 'N64'),
      row('paged', 'paged_v1', 'N64 hot', { cache: 'hot', median_us: 7 }),
      row('append', 'append_v1', 'N8', { cache: 'hot' }),
    ],
  },
  errors: {
    demonstrations: [{ what: 'exp(12)', fp16: 'inf' }],
    rows: [{ a: 'x', n: 1, error: 0.5 }, { a: 'x', n: 2, error: 0.25 }],
  },
}

const messageOf = (name) => {
  try {
    lookUp(data, name)
  } catch (error) {
    assert.ok(error instanceof MissingNumber, error.stack)
    return error.message
  }
  return assert.fail(`${name} was found`)
}

test('a row is found by its rung, in full or for short', () => {
  assert.equal(lookUp(data, 'day06/flash/flash_v2/N64/tflops').value, 4)
  assert.equal(lookUp(data, 'day06/flash/v2/N64/tflops').value, 4)
  assert.equal(lookUp(data, 'day06/flash/torch sdpa/N64/tflops').value, 2.5)
})

test('a value comes with its unit', () => {
  assert.equal(lookUp(data, 'day06/flash/v1/N64/tflops').unit, 'TFLOP/s')
  assert.equal(lookUp(data, 'day06/flash/v1/N64/median_us').unit, 'µs')
  assert.deepEqual(lookUp(data, 'day06/ceilings/fp32').value, 51.5)
})

test('the spread is computed from the percentiles', () => {
  assert.equal(lookUp(data, 'day06/flash/v1/N64/spread').value, 30)
})

test('"hot" names the row measured with a hot cache, in old files too', () => {
  assert.equal(lookUp(data, 'day06/paged/v1/N64/median_us').value, 10)
  assert.equal(lookUp(data, 'day06/paged/v1/N64 hot/median_us').value, 7)
  assert.equal(lookUp(data, 'day06/append/v1/N8 hot/median_us').value, 10)
  assert.match(messageOf('day06/flash/v1/N64 hot/median_us'), /no size/)
})

test('other rows are found by their fields, if these name one row', () => {
  assert.equal(lookUp(data, 'errors/a=x n=2/error').value, 0.25)
  assert.match(messageOf('errors/a=x/error'), /2 rows of errors.json have a=x/)
  assert.match(messageOf('errors/a=x n=3/error'), /no row "a=x n=3".*\n {4}a=x n=/)
})

test('entries of a list are found by what they are', () => {
  assert.equal(lookUp(data, 'errors/demonstrations/exp(12)/fp16').value, 'inf')
})

test('what is missing is named, with what is near it', () => {
  assert.match(messageOf('day6/flash/v1/N64/tflops'), /no file "day6".*\n {4}day06/)
  assert.match(messageOf('day06/flesh/v1/N64/tflops'), /exercise "flesh".*\n {4}flash/)
  assert.match(messageOf('day06/flash/v3/N64/tflops'), /rung "v3".*\n {4}v[12]/)
  assert.match(messageOf('day06/flash/v1/N46/tflops'), /size "N46".*\n {4}N64/)
  assert.match(messageOf('day06/flash/v1/N64/tflop'), /field "tflop".*\n {4}tflops/)
  assert.match(messageOf('day06/ceilings/fp23'), /member "fp23".*\n {4}fp32/)
  assert.match(messageOf('day06/machine'), /not one number; it has: gpu/)
})

test('an exercise is found in whichever file it is', () => {
  assert.equal(ladderOf(data, 'paged').name, 'day06')
  assert.equal(ladderOf(data, 'flash').rows.length, 3)
  assert.throws(() => ladderOf(data, 'pagd'), /no exercise "pagd".*\n {4}paged/)
  assert.deepEqual(exercises(data), ['flash', 'paged', 'append'])
})

test('our rungs are told from libraries', () => {
  assert.equal(shortRung('flash_v12'), 'v12')
  assert.equal(shortRung('cublasSdot'), 'cublasSdot')
  assert.ok(isOurs({ exercise: 'flash', rung: 'flash_v1' }))
  assert.ok(isOurs({ exercise: 'paged', rung: 'paged' }))
  assert.ok(!isOurs({ exercise: 'flash', rung: 'torch sdpa flash' }))
})

test('files are read by name, and a broken one is named', () => {
  const folder = mkdtempSync(join(tmpdir(), 'data-'))
  try {
    writeFileSync(join(folder, 'a.json'), '{"rows": [{"ratio": 0.5}, {"ratio": 1.1}]}')
    writeFileSync(join(folder, 'notes.txt'), 'not JSON')
    const { summary } = loadData(folder).a
    assert.deepEqual(summary, { rows: 2, median_ratio: 0.8, within_15_percent: 1,
      smallest_ratio: 0.5, largest_ratio: 1.1 })
    writeFileSync(join(folder, 'b.json'), '{')
    assert.throws(() => loadData(folder), /b\.json/)
    assert.throws(() => loadData(join(folder, 'none')), /no folder/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a table has one yardstick, and a share is of the ceiling that it names', () => {
  const row = (rung, tflops, value, more = {}) => ({
    exercise: 'gemm', rung, size: 'n', tflops, ceiling: 'bf16', ceiling_value: value,
    percent: (100 * tflops) / value, ...more
  })
  const file = (rows, more = {}) => ({ ceilings: {}, rows, ...more })
  const [ours, theirs] = [row('gemm_v1', 685, 735), row('cuBLAS', 689, 779)]
  assert.doesNotThrow(() => oneCall(file([ours, row('cuBLAS', 689, 735.2)])))
  assert.throws(() => oneCall(file([ours, theirs])),
    /gemm, n, cuBLAS: measured in another call .* "bf16" is 779 here and 735 there/)
  assert.throws(() => oneCall(file([row('gemm_v1', 685, 735, { percent: 88 })])),
    /gemm_v1: 88 % is not of 735/)
  const declared = oneCall(file([ours, theirs], { other_calls: { gemm: 'Another call.' } }))
  assert.deepEqual(declared.rows[0], ours)
  assert.equal(declared.rows[1].percent, undefined)
  assert.equal(declared.rows[1].other_call, 'Another call.')
  const predicted = { ceiling: 'the predicted speed' }
  const each = [row('a_v1', 2, 4, predicted), row('a_v2', 2, 8, predicted)]
  assert.doesNotThrow(() => oneCall(file(each)))
})
