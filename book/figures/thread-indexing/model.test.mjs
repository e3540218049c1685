import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as m from './model.js';

const truth = JSON.parse(readFileSync(
  new URL('../../data/truth/thread-indexing.json', import.meta.url), 'utf8'));
const product = (d) => d.reduce((a, b) => a * b);

/** Calls f(blockIdx, threadIdx) for all threads, in the order of the truth. */
function eachThread(launch, f) {
  const threads = product(launch.block);
  for (let i = 0; i < product(launch.grid) * threads; ++i)
    f(m.place(Math.floor(i / threads), launch.grid),
      m.place(i % threads, launch.block), i);
}

test('every thread of the kernels computes the same as the model', () => {
  assert.ok(truth.launches.length > 10);
  for (const launch of truth.launches) {
    const { name } = launch;
    eachThread(launch, (block, thread, i) => {
      const t = m.threadAt(launch, block, thread);
      assert.equal(t.index ?? -1, launch.first[i], `${name}: first of ${i}`);
      assert.equal(t.tid, launch.thread[i], name);
      assert.equal(t.tid - t.lane, launch.first_lane[i], name);
      assert.equal(m.countVisits(launch, block, thread), launch.visits[i], name);
    });
  }
});

test('the summary counts what the kernels counted', () => {
  for (const launch of truth.launches) {
    const s = m.summary(launch);
    assert.equal(s.elements, launch.visited.length, launch.name);
    assert.equal(s.threads, launch.first.length, launch.name);
    assert.equal(s.idle, launch.first.filter((i) => i < 0).length, launch.name);
    assert.equal(s.missed, launch.visited.filter((v) => v === 0).length, launch.name);
    assert.equal(s.active + s.idle, s.threads, launch.name);
  }
});

test('visits and owners agree', () => {
  for (const launch of truth.launches)
    eachThread(launch, (block, thread) => {
      const list = m.visits(launch, block, thread, 1e6);
      assert.equal(list.length, m.countVisits(launch, block, thread));
      for (const i of list) {
        const owner = m.ownerOf(launch, m.place(i, launch.extent));
        assert.deepEqual([owner.blockIdx, owner.threadIdx], [block, thread]);
      }
    });
});

test('every element and every idle thread is drawn once', () => {
  for (const launch of truth.launches) {
    const dimensions = launch.extent[2] > 1 ? 3 : launch.extent[1] > 1 ? 2 : 1;
    const drawn = m.picture(launch, dimensions);
    const cells = dimensions === 1
      ? drawn.rows.flatMap((row) => row.cells)
      : drawn.planes.flatMap((p) => p.rows.flat()).filter((cell) => cell !== null);
    if (drawn.left) continue;
    const s = m.summary(launch);
    const count = (state) => cells.filter((cell) => cell.state === state).length;
    assert.equal(count('active') + count('missed'), s.elements, launch.name);
    assert.equal(count('missed'), s.missed, launch.name);
    assert.equal(count('idle'), s.idle, launch.name);
  }
});

test('a large launch is drawn in part, its last row included', () => {
  const launch = m.launchOf({ extent: [1e9, 1, 1], block: [256, 1, 1] });
  const { rows, left, gapAfter } = m.picture(launch, 1);
  assert.ok(rows.length <= 32);
  assert.equal(rows.length + left, launch.grid[0] * 8);
  assert.equal(rows[0].begin, 0);
  assert.equal(rows.at(-1).cells.at(-1).at[0], launch.grid[0] * 256 - 1);
  assert.ok(gapAfter > 0 && gapAfter < rows.length);
  const video = m.launchOf({ extent: [640, 480, 1], block: [32, 8, 1] });
  assert.equal(m.picture(video, 2).planes, null);
});

test('the numbers of the lessons', () => {
  const v = m.launchOf(m.PRESETS.find((p) => p.id === 'thousand'));
  assert.deepEqual(v.grid, [4, 1, 1]);
  assert.equal(m.summary(v).idle, 24);
  assert.equal(m.sentence(v, [2, 0, 0], [3, 0, 0], 1), 'i = 2 · 256 + 3 = 515');
  const late = m.summary(m.launchOf({ extent: [7, 7, 1], block: [32, 8, 1] }));
  assert.equal(late.active, 49);
  assert.equal(late.threads, 256);
  const saxpy = m.launchOf(m.PRESETS.find((p) => p.id === 'stride'));
  assert.deepEqual(m.visits(saxpy, [0, 0, 0], [1, 0, 0]), [1, 9, 17]);
  assert.deepEqual(m.visits(saxpy, [1, 0, 0], [2, 0, 0]), [6, 14]);
});

test('sentences', () => {
  const ten = m.launchOf(m.PRESETS[0]);
  assert.equal(m.sentence(ten, [2, 0, 0], [3, 0, 0], 1),
    'i = 2 · 4 + 3 = 11: not below n = 10, nothing to do');
  const box = m.launchOf(m.PRESETS.find((p) => p.id === 'box'));
  assert.equal(m.sentence(box, [1, 1, 1], [0, 0, 0], 3),
    'x = 1 · 4 + 0 = 4, y = 1 · 2 + 0 = 2, z = 1 · 2 + 0 = 2; ' +
    'index = (2 · 3 + 2) · 5 + 4 = 44');
});

test('launches that CUDA refuses', () => {
  const refusal = (block, grid) => m.refusal({ block, grid });
  assert.equal(refusal([1024, 1, 1], [1, 1, 1]), null);
  assert.match(refusal([32, 33, 1], [1, 1, 1]), /1024 threads, not 1056/);
  assert.match(refusal([1, 1, 65], [1, 1, 1]), /blockDim.z is at most 64/);
  assert.match(refusal([1, 1, 1], [1, 65536, 1]), /gridDim.y is at most 65535/);
  assert.match(refusal([1, 1, 1], [0, 1, 1]), /at least one/);
});

test('32 bits wrap round', () => {
  assert.equal(m.in32Bits(2 ** 32 + 5), 5);
  assert.equal(m.in32Bits(515), 515);
});
