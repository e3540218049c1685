// The lessons ask about steps of the recorded traces by their numbers. If a trace is
// recorded anew, these tests say which question no longer fits.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'
import { decode, say } from './model.js'

/** What the trace says of each step, without "Step 3 of 109: ". */
function sayings(name) {
  const file = new URL(`../../data/traces/${name}.json`, import.meta.url)
  const decoded = decode(JSON.parse(fs.readFileSync(file)))
  return Array.from({ length: decoded.count }, (_, step) =>
    say(decoded, step).replace(/^Step \d+ of \d+: /, ''))
}
const where = (said, pattern) => said.flatMap((text, step) => (pattern.test(text) ? [step] : []))
const BARRIER = /^the block, .*barrier/

test('dot product: 64 sectors, warps 0 to 3, six barriers of warp 0 alone', () => {
  const said = sayings('dot_product')
  const barriers = where(said, BARRIER)
  assert.equal(barriers[0], 33)
  const loads = said.slice(0, 33).filter((text) => /of global memory.* 4 sectors/.test(text))
  assert.equal(loads.length * 4, 64)
  const adding = said.slice(38, 54)
  assert.ok(adding.every((text) => /^warp [0-3],/.test(text)))
  assert.match(said[42], /^warp 0,.*s_sum, byte 512 /)
  assert.equal(barriers.filter((step) => step > 64).length, 6)
  const later = said.slice(64, barriers.at(-1))
  assert.ok(later.every((text) => /^(warp 0,|the block)/.test(text)))
  assert.ok(said.slice(55, 63).some((text) => /^warp 1,/.test(text)))
})

test('transpose: coalesced both ways, one bank for a column', () => {
  const said = sayings('transpose')
  assert.deepEqual(where(said, BARRIER), [129])
  assert.match(said[130], /^warp 0,.*s_tile, byte 0 on\. Bank conflict: 32 wavefronts/)
  assert.match(said[131], /^warp 1,.*s_tile, byte 4 on/)
  assert.match(said[162], /store 4 bytes each of global memory.* 4 sectors/)
  const before = said.slice(0, 129)
  assert.ok(before.some((text) => /load .*global memory.* 4 sectors/.test(text)))
  assert.ok(before.some((text) => /store .*s_tile.*No bank conflict/.test(text)))
})

test('flash attention: two barriers a tile, values on their way during the scores', () => {
  const said = sayings('flash_attention')
  const barriers = where(said, BARRIER)
  assert.equal(barriers.length, 8)
  assert.deepEqual(barriers.slice(0, 2), [169, 1042])
  const start = /cp\.async of 16 bytes each of global memory in (allocation \d)/
  const copies = (from, to) =>
    said.slice(from, to).flatMap((text) => start.exec(text)?.[1] ?? [])
  assert.deepEqual([...new Set(copies(0, 169))], ['allocation 3'])
  assert.deepEqual([...new Set(copies(169, 1042))], ['allocation 4'])
  assert.match(said[174], /cp\.async.*allocation 4/)
  assert.match(said[168], /line 43.*landed/)
  assert.match(said[1041], /line 54/)
})

test('Hopper attention: one thread copies, turns are passed on, a stage is released', () => {
  const said = sayings('hopper_attention')
  const copies = said.filter((text) => /TMA begins to copy/.test(text))
  assert.equal(copies.length, 9)
  assert.ok(copies.every((text) => /^warp 0,.*16384 bytes/.test(text)))
  assert.match(said[145], /^warp 7,.*multiply/)
  assert.match(said[113], /^warp 9,.*line 21.*arrive/)
  assert.match(said[142], /^warp 7,.*line 24.*arrive/)
  assert.match(said[148], /^warp 10,.*line 21.*have waited/)
  for (const step of [94, 207]) assert.match(said[step], /TMA.*byte 16384\./)
  assert.match(said[160], /^warp 4,.*arrive at the mbarrier.*byte 81952/)
  assert.match(said[200], /^warp 8,.*arrive at the mbarrier.*byte 81952/)
  assert.match(said[203], /^warp 0,.*waited for the mbarrier.*byte 81952/)
})

test('softmax: each element twice, ten shuffles before the barrier and ten after it', () => {
  const said = sayings('softmax')
  assert.deepEqual(where(said, BARRIER), [193])
  assert.deepEqual(where(said, /^warp 0,.*load .*global memory.*, byte 0 on/), [9, 338])
  const ofWarp = said.filter((text) => /^warp 0,/.test(text))
  assert.equal(where(ofWarp, /load .*global memory/).length, 8)
  assert.equal(where(ofWarp, /store .*global memory/).length, 4)
  const shuffles = where(said, /^warp 0,.*exchange values/)
  assert.deepEqual([shuffles.length, shuffles[0], shuffles[5]], [20, 73, 121])
  assert.equal(shuffles.filter((step) => step < 193).length, 10)
  assert.match(said[194], /^warp 0,.*lanes 0-7 load .*s_warps/)
  assert.equal(where(said, /store .*s_warps/).length, 16)
  assert.ok(where(said, /store .*s_warps/).every((step) => step < 193))
})
