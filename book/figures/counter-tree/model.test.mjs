import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'

import { BOUNDS, examine, EXAMPLES, QUESTIONS } from './model.js'

const measured = JSON.parse(readFileSync(
  new URL('../../data/profiling_counters.json', import.meta.url)))

/** Measured counters as the model asks for them. */
function countersOf(kernel, launches = 1) {
  const row = measured[kernel]
  const limits = {
    registers: row.limit_registers, shared: row.limit_shared,
    other: Math.min(row.limit_warps, row.limit_blocks),
  }
  const least = Math.min(...Object.values(limits))
  const sharedRequests = row.wavefronts - row.conflicts
  return {
    busy: launches > 1 ? 50.4 : 100,
    // The ideal: one sector for every eight threads that take part, as all six do.
    sectors: Math.max(row.load_sectors_a_request, row.store_sectors_a_request),
    ideal: 4,
    passes: sharedRequests > 0 ? row.wavefronts / sharedRequests : 1,
    threads: row.threads,
    occupancy: row.theoretical,
    limit: ['other', 'registers', 'shared'].find((name) => limits[name] === least),
    roof: 70,
  }
}

test('what an H100 counts of the six patients leads to what is wrong with them', () => {
  const found = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) =>
    examine(countersOf(`mystery_${letter}`, letter === 'd' ? 1024 : 1)).id)
  assert.deepEqual(found, ['divergence', 'shared_memory', 'uncoalesced', 'launches',
    'registers', 'bank_conflicts'])
})

test('nothing of it is left when they are mended', () => {
  for (const letter of ['a', 'b', 'c', 'd', 'e', 'f'])
    assert.equal(examine(countersOf(`mended_${letter}`)).id, 'latency', letter)
})

test('the examples stop at three different questions', () => {
  assert.deepEqual(EXAMPLES.map(({ counters }) => examine(counters).id),
    ['uncoalesced', 'bank_conflicts', 'roof'])
})

test('the order decides where several are true', () => {
  const worst = { busy: 1, sectors: 32, ideal: 4, passes: 32, threads: 1,
    occupancy: 1, limit: 'shared', roof: 100 }
  assert.equal(examine(worst).stop, 0)
  assert.equal(examine({ ...worst, busy: 100 }).id, 'uncoalesced')
  assert.equal(examine({ ...worst, busy: 100, sectors: 4 }).id, 'bank_conflicts')
})

test('a limit without few warps is no disease', () => {
  const healthy = EXAMPLES[2].counters
  assert.equal(examine({ ...healthy, occupancy: 81, limit: 'shared' }).id, 'roof')
  assert.equal(
    examine({ ...healthy, occupancy: BOUNDS.occupancy - 1, limit: 'shared' }).id,
    'shared_memory')
})

test('every question has a name and a place to look at', () => {
  for (const { id, asks, look } of QUESTIONS) assert.ok(id && asks && look)
  assert.equal(new Set(QUESTIONS.map(({ id }) => id)).size, QUESTIONS.length)
})
