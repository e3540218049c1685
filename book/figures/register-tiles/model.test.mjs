// The model of register tiles: the numbers that chapter 01 of day 4 works out by hand,
// and that every sum of a warp's tile belongs to one lane.
import assert from 'node:assert/strict';
import test from 'node:test';

import * as m from './model.js';

const shape = (id) => m.shapeOf(m.VERSIONS.find((version) => version.id === id));
const ALL = m.LANE_SHAPES.flatMap((lanes) => m.COUNTS.flatMap((tm) =>
  m.COUNTS.flatMap((tn) => [false, true].map((vectors) =>
    m.shapeOf({ lanes, tm, tn, vectors })))));

test('turns and shares of the versions, as the lesson has them', () => {
  const expected = {
    v3: [1, 2, 0.125], v4: [8, 9, 8 / 36], v5: [64, 40, 0.4], v6: [64, 12, 1],
    v7: [64, 8, 1], v9: [128, 12, 1],
  };
  for (const [id, [products, turns, share]] of Object.entries(expected)) {
    const counts = m.countsOf(shape(id));
    assert.deepEqual([counts.products, counts.turns], [products, turns], id);
    assert.ok(Math.abs(counts.share - share) < 1e-12, id);
  }
});

test('v5: eight loads of B take four turns each, those of A one', () => {
  const { a, b } = m.countsOf(shape('v5'));
  assert.deepEqual([a.loads, a.turns, b.loads, b.turns], [8, 8, 8, 32]);
  assert.deepEqual(b.banks.filter((count) => count > 0), [4, 4, 4, 4]);
});

test('floats that a warp reads: 144 in v6, 96 in v7', () => {
  for (const [id, floats] of [['v6', 144], ['v7', 96], ['v9', 160]]) {
    const { a, b } = m.countsOf(shape(id));
    assert.equal(a.floats + b.floats, floats, id);
  }
});

test('each sum of the tile belongs to exactly one lane', () => {
  for (const s of ALL) {
    const seen = new Set();
    let sums = 0;
    for (let lane = 0; lane < 32; ++lane)
      for (const { row, rows, col, cols } of m.patchesOf(s, lane))
        for (let i = row; i < row + rows; ++i)
          for (let j = col; j < col + cols; ++j) {
            seen.add(i * s.lanesN * s.tn + j);
            sums += 1;
          }
    assert.equal(sums, 32 * s.tm * s.tn);
    assert.equal(seen.size, sums);
    assert.equal(Math.max(...seen), sums - 1);
  }
});

test('turns of a load: a broadcast, neighbours, strides, vectors', () => {
  const lanes = (of) => Array.from({ length: 32 }, (_, lane) => of(lane));
  for (const [words, width, turns] of [
    [lanes(() => 5), 1, 1], [lanes((t) => t), 1, 1], [lanes((t) => 8 * t), 1, 8],
    [lanes((t) => 32 * t), 1, 32], [lanes((t) => 4 * t), 4, 4],
    [lanes((t) => 8 * t), 4, 8], [lanes(() => 0), 4, 2],
    [lanes((t) => 4 * (t >> 1)), 4, 2], [lanes((t) => 4 * (t % 16)), 4, 4]])
    assert.equal(m.turnsOf(words, width).turns, turns, `${words} ${width}`);
});

test('shared memory feeds no more than all, and always something', () => {
  for (const s of ALL) {
    const { share, turns } = m.countsOf(s);
    assert.ok(share > 0 && share <= 1 && turns >= 2);
  }
});
