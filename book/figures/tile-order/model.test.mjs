// The model of the order of tiles: each tile once, the order that the C++ side's test
// has, and the counts that the figure's page talks about.
import assert from 'node:assert/strict';
import test from 'node:test';

import * as m from './model.js';

test('each tile of C is taken once, in all sizes and bands', () => {
  for (const band of m.BANDS)
    for (const [down, across] of [[1, 1], [5, 3], [16, 16], [17, 4], [31, 2]]) {
      const seen = new Set();
      for (let tile = 0; tile < down * across; ++tile) {
        const at = m.clusterTile(tile, down, across, band);
        assert.ok(at.down >= 0 && at.down < down);
        assert.ok(at.across >= 0 && at.across < across);
        seen.add(`${at.down} ${at.across}`);
      }
      assert.equal(seen.size, down * across, `${down} x ${across}, bands of ${band}`);
    }
});

test('three rows of two columns in bands of two, as in hopper_gemm_test.cpp', () => {
  const order = Array.from({ length: 6 }, (_, tile) => {
    const { down, across } = m.clusterTile(tile, 3, 2, 2);
    return [down, across];
  });
  assert.deepEqual(order, [[0, 0], [1, 0], [0, 1], [1, 1], [2, 1], [2, 0]]);
});

test('rounds hold all tiles, and as few clusters as take no more rounds', () => {
  assert.deepEqual(m.launchOf(4096), { side: 16, rounds: 4, clusters: 64 });
  assert.deepEqual(m.launchOf(8192), { side: 32, rounds: 16, clusters: 64 });
  for (const size of m.SIZES) {
    const launch = m.launchOf(size);
    const all = Array.from({ length: launch.rounds }, (_, round) =>
      m.tilesOf(launch, round)).flat();
    assert.deepEqual(all, Array.from({ length: launch.side ** 2 }, (_, i) => i));
    assert.ok(launch.clusters <= m.MULTIPROCESSORS / 2);
  }
});

test('at 8192, bands of 8 need less than half of what rows need', () => {
  const rows = m.needsOf(8192, 1, 0);
  assert.deepEqual([rows.rows.length, rows.columns.length], [2, 32]);
  const square = m.needsOf(8192, 8, 0);
  assert.deepEqual([square.rows.length, square.columns.length], [8, 8]);
  assert.ok(Math.abs(square.megabytes - 16 * 256 * 8192 * 2 / 1e6) < 1e-9);
  for (const band of m.BANDS)
    assert.ok(m.needsOf(8192, band, 0).megabytes >= square.megabytes);
});

test('a band that goes backwards begins with columns that are still there', () => {
  // Four rounds of eight columns are a band of 8192; the fifth begins the next one.
  assert.equal(m.needsOf(8192, 8, 3).kept, 8);  // the same rows
  const turn = m.needsOf(8192, 8, 4);
  assert.deepEqual(turn.columns, m.needsOf(8192, 8, 3).columns);
  assert.equal(turn.kept, 8);
  assert.equal(m.needsOf(8192, 8, 0).kept, 0);
});
