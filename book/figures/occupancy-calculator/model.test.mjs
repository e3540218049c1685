import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

import { budget, MULTIPROCESSORS, occupancy, placesOf } from './model.js'

const truth = JSON.parse(readFileSync(
  new URL('../../data/truth/occupancy-calculator.json', import.meta.url), 'utf8'))
const byArch = (arch) => MULTIPROCESSORS.find((sm) => sm.arch === arch)
const h100 = byArch(90)

test('the multiprocessors are those of the chapter', () => {
  const ours = MULTIPROCESSORS.map((sm) => [sm.arch, sm.warps, sm.blocks,
    sm.sharedBytes, sm.sharedUnit, sm.sharedReserved])
  assert.deepEqual(ours, truth.multiprocessors)
})

test('blocks, warps, limits and limiters are those of C++', () => {
  assert.ok(truth.occupancies.length > 200)
  for (const row of truth.occupancies) {
    const [arch, threads, registers, sharedBytes, ...expected] = row
    const got = occupancy(byArch(arch), { threads, registers, sharedBytes })
    const { limits, blocks, warps, limiter } = got
    assert.deepEqual([...Object.values(limits), blocks, warps, limiter], expected,
      `sm_${arch}, ${threads} threads, ${registers} registers, ${sharedBytes} bytes`)
  }
})

test('budgets are those of C++', () => {
  for (const [arch, threads, blocks, registers, sharedBytes] of truth.budgets) {
    assert.deepEqual(budget(byArch(arch), threads, blocks), { registers, sharedBytes },
      `sm_${arch}, ${blocks} blocks of ${threads}`)
  }
  assert.equal(budget(h100, 256, 9), null)
})

test('each warp that fits has a place, and no quarter has more than its share', () => {
  const needs = { threads: 96, registers: 72, sharedBytes: 0 }
  const places = placesOf(h100, needs)
  assert.deepEqual(places.map((quarter) => quarter.length), [16, 16, 16, 16])
  const taken = places.flat().filter((block) => block !== null)
  assert.equal(taken.length, occupancy(h100, needs).warps)
  for (const quarter of places) {
    const registers = quarter.filter((block) => block !== null).length * 72 * 32
    assert.ok(registers <= 16384)
  }
})
