import assert from 'node:assert/strict'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { isLadderFile, loadData } from '../../lib/data.mjs'
import {
  bestOfEachRung, decades, labelsOf, memoryRoof, ofOneGpu, packPoints, place, pointsOf,
  ridge, roofsOf, shapeOf, shownPoints, unpackPoints, withoutPoint, workOf,
} from './model.js'

const folder = join(dirname(fileURLToPath(import.meta.url)), '../../data')
const files = ofOneGpu(Object.fromEntries(
  Object.entries(loadData(folder)).filter(([, content]) => isLadderFile(content))))
const points = pointsOf(files)

test('a shape is read from the size of a row', () => {
  assert.deepEqual(shapeOf('B4 H16 N1024 D64 causal'), {
    batch: 4, queryHeads: 16, kvHeads: 16, queries: 1024, keys: 1024, headDim: 64 })
  assert.deepEqual(shapeOf('B16 Hq32 Hkv8 Nq1 Nk4096 D128'), {
    batch: 16, queryHeads: 32, kvHeads: 8, queries: 1, keys: 4096, headDim: 128 })
  assert.equal(shapeOf('B1 H16 N4096 D64, window 256').headDim, 64)
  assert.equal(shapeOf('n = 1024').headDim, undefined)
})

test('vector add does one operation for twelve bytes', () => {
  const row = { exercise: 'vector_add', size: 'n = 100', bytes: 1200 }
  assert.deepEqual(workOf(row), { flop: 100, bytes: 1200 })
})

test('flash attention does N / 4 operations for each byte of floats', () => {
  const row = { exercise: 'flash_attention', size: 'B2 H3 N4096 D64',
    flop: 4 * 2 * 3 * 4096 * 4096 * 64 }
  const { flop, bytes } = workOf(row)
  assert.equal(bytes, 4 * 2 * 3 * 4096 * 64 * 4)
  assert.equal(flop / bytes, 1024)
})

test('decoding from 16 bits does one operation a byte and query head', () => {
  const row = { exercise: 'paged_attention', size: 'B16 N8192 Hq32 Hkv8 D128 page 16',
    bytes: 2 * 2 * 16 * 8 * 8192 * 128 }
  const { flop, bytes } = workOf(row)
  assert.equal(flop / bytes, 4) // four query heads share each byte
})

test('operations that a benchmark counts are those that are counted here', () => {
  const counted = Object.values(files).flatMap(({ rows }) => rows).filter((row) =>
    row.flop !== undefined && /^(naive|flash)_attention$/.test(row.exercise) &&
    !row.size.includes('causal'))
  assert.ok(counted.length > 0)
  for (const row of counted) {
    assert.equal(workOf({ ...row, flop: undefined }).flop, row.flop, row.size)
  }
})

test('every rung of days 1 and 6 that does arithmetic is a point', () => {
  const { day01, day06 } = files
  const without = withoutPoint({ day01, day06 }, points)
  assert.deepEqual(without.sort(), ['append_kv', 'hello_gpu'])
  for (const { exercise, rung, intensity, tflops } of points) {
    assert.ok(intensity > 0 && Number.isFinite(intensity), `${exercise} ${rung}`)
    assert.ok(tflops > 0 && Number.isFinite(tflops), `${exercise} ${rung}`)
  }
})

test('a rung limited by memory stands as far below the roof as its row says', () => {
  const roofs = roofsOf(files)
  const reads = points.filter(({ ceiling }) => ceiling === 'read')
  assert.ok(reads.length > 0)
  for (const { tflops, intensity, percent } of reads) {
    const share = (100 * tflops) / memoryRoof(roofs, intensity)
    assert.ok(Math.abs(share / percent - 1) < 0.02, `${share} is not ${percent}`)
  }
})

test('points of another GPU do not stand under these roofs', () => {
  const on = (gpu) => ({ machine: { gpu } })
  const chosen = ofOneGpu({ day01: on('A'), day03: on('B'), day06: on('A') })
  assert.deepEqual(Object.keys(chosen), ['day01', 'day06'])
})

test('points survive the way to the page, to four digits', () => {
  const unpacked = unpackPoints(packPoints(points))
  assert.equal(unpacked.length, points.length)
  const key = ({ exercise, rung, size }) => `${exercise} ${rung} ${size}`
  const found = new Map(unpacked.map((point) => [key(point), point]))
  for (const point of points) {
    const { tflops, ours, ceiling } = found.get(key(point))
    assert.ok(Math.abs(tflops / point.tflops - 1) < 1e-3)
    assert.deepEqual([ours, ceiling], [point.ours, point.ceiling])
  }
})

test('the roofs meet at the ridge', () => {
  const roofs = { gbps: 3000, kinds: [{ name: 'fp32', tflops: 60 }] }
  assert.equal(ridge(roofs, roofs.kinds[0]), 20)
  assert.equal(memoryRoof(roofs, 20), 60)
})

test('roofs that are near each other share a label', () => {
  const kinds = [['fp32', 50], ['bf16', 765], ['fp16', 720], ['tf32', 370]].map(
    ([name, tflops]) => ({ name, tflops }))
  assert.deepEqual(labelsOf(kinds).map((group) => group.map(({ name }) => name)),
    [['bf16', 'fp16'], ['tf32'], ['fp32']])
})

test('of each rung the size nearest to the ceiling is drawn, or every size', () => {
  const point = (rung, percent, ours = true) => ({
    exercise: 'gemm', rung, percent, ours, intensity: 10 + percent, tflops: 1 })
  const all = [
    point('v1', 10), point('v1', 30), point('v2', 20), point('lib', 90, false)]
  assert.deepEqual(bestOfEachRung(all).map(({ percent }) => percent), [30, 20, 90])
  const shown = (choice) => shownPoints(all, {
    exercise: '', everySize: false, libraries: false, ...choice }).length
  assert.equal(shown({}), 2)
  assert.equal(shown({ everySize: true }), 3)
  assert.equal(shown({ libraries: true }), 3)
  assert.equal(shown({ exercise: 'other' }), 0)
})

test('axes reach from the decade below to the decade above', () => {
  assert.deepEqual(decades([0.05, 3, 700]), [-2, -1, 0, 1, 2, 3])
  assert.equal(place(10, [0, 1, 2], 0, 100), 50)
})
