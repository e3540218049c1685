import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  FLIGHT, LANDED, decode, leftOut, nextMark, player, say, sayAll, sayWord, showLanes,
  warpAt,
} from './model.js'

// Two warps: both store a row of a tile, a barrier, warp 0 reads a column with a
// conflict, warp 1 does so for a half of its lanes, and TMA copies 128 bytes.
const ALL = 0xffffffff
const small = () => ({
  version: 1, kernel: 'k', seed: 0, grid: [1, 1, 1], block: [64, 1, 1], index: [0, 0, 0],
  left_out: 0, ended_early: 0, launched: ['k.cu', 30],
  places: [['', 0], ['k.cu', 5], ['k.cu', 6], ['k.cu', 7], ['k.cu', 8]],
  variables: [{ name: 'tile', begin: 64, bytes: 4096, line: 3 }],
  patterns: [[0, 0], [ALL, 4], [3, 0], [ALL, 128], [0xffff, 128], [1, 0], [5, 0, 12]],
  shapes: [
    [2, 1, 1, 4, 1, 1, 1, 0], // store a row
    [10, 2, 0, 0, 2, 0, 0, 0], // barrier
    [1, 3, 1, 4, 3, 32, 1, 0], // load a column
    [1, 3, 1, 4, 4, 16, 1, 0], // by half of the lanes
    [8, 4, 1, 128, 5, 0, 0, 0], // TMA begins
    [9, 4, 1, 128, 0, 0, 0, 0], // and has landed
    [13, 1, 0, 0, 0, 0, 0, 0], // a fold
    [2, 1, 1, 4, 6, 1, 1, 0], // lanes 0 and 2, 12 bytes apart
  ],
  steps: [
    0, 0, 64, 1, 0, 192, -1, 1, 0, 0, 2, 64, 1, 3, 68, 0, 4, 1088, -1, 5, 1088, 1, 6, 0,
    1, 7, 320,
  ],
  folds: [{ times: 9, steps: 9, places: [1], writes: [1, 1, 2112, 4, -1, 1, 3136, 4] }],
  findings: [{ kind: 'race', what: 'write after read', text: 'RACE' }],
  found: [4, 0],
})

test('lanes are shown as ranges', () => {
  assert.equal(showLanes(0xffffffff), '0-31')
  assert.equal(showLanes(0b1011), '0-1, 3')
  assert.equal(showLanes(0x80000000), '31')
  assert.match(showLanes(0x55555555), /\.\.\.$/)
})

test('shared memory of another block of the cluster is not this one', () => {
  const trace = { ...small(), cluster: 2 }
  trace.shapes[0] = [2, 1, 1, 4, 1, 1, 1, 2] // store a row, to block 1
  trace.shapes[4] = [8, 4, 1, 128, 5, 0, 0, 2] // TMA begins there
  const decoded = decode(trace)
  const { state, go } = player(decoded)
  go(6)
  assert.ok(state.owner.every((owner) => owner === 0))
  assert.match(say(decoded, 1), /in block 1 of the cluster, byte 64 on/)
  assert.match(say(decoded, 6), /128 bytes to block 1 of the cluster/)
  assert.match(leftOut(decoded), /the 1 other block of the cluster does/)
  assert.doesNotMatch(leftOut(decode(small())), /cluster/)
})

test('shared memory knows who wrote it', () => {
  const decoded = decode(small())
  const { state, go } = player(decoded)
  go(2)
  assert.equal(state.owner[0], 1)
  assert.equal(state.owner[31], 1 + 31)
  assert.equal(state.owner[32], 1 + 32)
  assert.equal(state.owner[64], 0)
  assert.match(sayWord(decoded, state, 33), /by warp 1, lane 1, step 2, line 5/)
  assert.match(sayWord(decoded, state, 33), /bytes 132 to 135, bank 17/)
  go(6)
  assert.equal(state.owner[256], FLIGHT)
  go(7)
  assert.equal(state.owner[256], LANDED)
  assert.equal(state.owner[256 + 32], 0)
  go(8)
  assert.equal(state.owner[512], 1 + 32) // by what is folded
  assert.equal(state.owner[768], FLIGHT)
  go(9)
  assert.deepEqual([...state.owner.slice(64, 69)], [33, 0, 0, 35, 0])
})

test('going back gives what going there gave', () => {
  const trace = small()
  // Long enough for several snapshots.
  const round = trace.steps
  trace.steps = Array.from({ length: 300 }, () => round).flat()
  const decoded = decode(trace)
  const { state, go } = player(decoded)
  const seen = []
  for (let at = 0; at <= decoded.count; at += 7) {
    go(at)
    seen.push([at, [...state.last], state.owner.slice(), state.written.slice()])
  }
  for (const [at, last, owner, written] of seen.reverse()) {
    go(at)
    assert.deepEqual([...state.last], last)
    assert.deepEqual(state.owner, owner)
    assert.deepEqual(state.written, written)
  }
})

test('a warp waits at a barrier until all are there', () => {
  const decoded = decode(small())
  const { state, go } = player(decoded)
  assert.equal(warpAt(decoded, state, 1).status, 'start')
  go(1)
  assert.deepEqual(
    [warpAt(decoded, state, 0).status, warpAt(decoded, state, 0).line], ['wait', 6])
  go(3)
  assert.equal(warpAt(decoded, state, 0).status, 'run')
  assert.match(sayAll(decoded, state), /warp 0 is at line 6; warp 1 is at line 6/)
  go(9)
  assert.equal(warpAt(decoded, state, 0).status, 'end')
})

test('a step is said in words', () => {
  const decoded = decode(small())
  assert.match(say(decoded, 0), /^Step 0 of 9/)
  assert.match(say(decoded, 1), /warp 0, line 5: lanes 0-31 store 4 bytes each of shared/)
  assert.match(say(decoded, 3), /the block, line 6: All warps have arrived/)
  assert.match(say(decoded, 4), /32 wavefronts, where 1 would do/)
  assert.match(say(decoded, 5), /RACE, WRITE AFTER READ!/)
  assert.match(say(decoded, 6), /TMA begins to copy 128 bytes to tile, byte 1024/)
  assert.match(say(decoded, 8), /goes round 9 more times/)
})

test('marks are found in both directions', () => {
  const decoded = decode(small())
  assert.deepEqual(decoded.marks, [
    { step: 4, kind: 'conflict' }, { step: 5, kind: 'finding' },
  ])
  assert.equal(nextMark(decoded, 0, 1).step, 4)
  assert.equal(nextMark(decoded, 4, 1).step, 5)
  assert.equal(nextMark(decoded, 5, 1), null)
  assert.equal(nextMark(decoded, 9, -1).step, 5)
})

test('a tile is on its way until it has landed', () => {
  const [flight] = decode(small()).flights
  assert.deepEqual([flight.begin, flight.end, flight.row], [5, 6, 0])
})

test('what is not shown is said', () => {
  assert.equal(leftOut(decode(small())), 'Not shown: 9 steps of loops are folded.')
  const cut = { ...small(), left_out: 70, ended_early: 1 }
  assert.match(leftOut(decode(cut)), /70 steps at the end .*a fault/)
})
