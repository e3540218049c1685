// The model of a ring of stages: what must come before what, and rates that can be
// found by hand. There is no C++ side: durations are inputs, and the order of things is
// that of day 2's chapter 06, v1, v3 and v4.
import assert from 'node:assert/strict';
import test from 'node:test';

import {
  STAGES, TILE_BYTES, copied, doing, gapOf, most, rate, timeline,
} from './model.js';

/** The lesson's worked numbers: 25 % occupancy of an H100. */
const LESSON = { latency: 700, use: 200, gap: gapOf(2) };
const DURATIONS = [
  LESSON,
  { latency: 700, use: 900, gap: 100 },
  { latency: 300, use: 50, gap: 10 },
  { latency: 1000, use: 1, gap: 400 },
];
const CASES = STAGES.flatMap((stages) =>
  DURATIONS.flatMap((durations) =>
    [1, 2, 5, 7, 12].map((tiles) => ({
      stages, durations, count: tiles, ...timeline(tiles, stages, durations),
    }))));
const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-6 * Math.abs(b), `${a}, not ${b}`);

test('every tile is copied once, then used, in order', () => {
  for (const { tiles, count, durations } of CASES) {
    assert.equal(tiles.length, count);
    tiles.forEach((tile, i) => {
      assert.ok(tile.landed >= tile.start + durations.latency);
      assert.ok(tile.begin >= tile.landed);
      near(tile.end, tile.begin + durations.use);
      if (i > 0) assert.ok(tile.begin >= tiles[i - 1].end);
    });
  }
});

test('memory brings one tile after the other, as fast as it can', () => {
  for (const { tiles, durations } of CASES)
    for (let i = 1; i < tiles.length; ++i)
      assert.ok(tiles[i].landed >= tiles[i - 1].landed + durations.gap - 1e-9);
});

test('a stage is filled again only when its tile has been used', () => {
  for (const { tiles, stages } of CASES)
    for (let i = stages; i < tiles.length; ++i) {
      assert.equal(tiles[i].stage, tiles[i - stages].stage);
      assert.ok(tiles[i].start >= tiles[i - stages].end - 1e-9, `${stages}: tile ${i}`);
    }
});

test('the rates of the lesson: 9, 18 and all that memory has', () => {
  // Two blocks on a multiprocessor.
  near(2 * rate(1, LESSON), (2 * TILE_BYTES) / (700 + 200));
  near(2 * rate(2, LESSON), (2 * 2 * TILE_BYTES) / (700 + 200));
  near(rate(6, LESSON), most(LESSON));
  assert.ok(2 * rate(1, LESSON) > 9 && 2 * rate(1, LESSON) < 9.5);
  assert.ok(2 * rate(2, LESSON) > 18 && 2 * rate(2, LESSON) < 18.5);
  assert.ok(2 * most(LESSON) > 24 && 2 * most(LESSON) < 24.5);
});

test('more stages are never slower, and none beats memory or the work', () => {
  for (const durations of DURATIONS) {
    const rates = [1, 2, 4, 6].map((stages) => rate(stages, durations));
    rates.forEach((r, i) => {
      assert.ok(r <= most(durations) * (1 + 1e-9));
      assert.ok(r <= (TILE_BYTES / durations.use) * (1 + 1e-9));
      if (i > 0) assert.ok(r >= rates[i - 1] * (1 - 1e-9));
    });
  }
});

test('three stages are no better than two: the copy starts behind the wait', () => {
  const durations = { latency: 700, use: 0, gap: 1 };
  near(rate(2, durations), (2 * TILE_BYTES) / 700);
  near(rate(3, durations), (2 * TILE_BYTES) / 700);
  near(rate(6, durations), (5 * TILE_BYTES) / 700);
});

test('what happens at a time', () => {
  const line = timeline(3, 2, { latency: 10, use: 4, gap: 1 });
  assert.deepEqual(line.tiles.map(({ begin }) => begin), [10, 14, 24]);
  assert.equal(doing(line, 0), 'waits for tile 0');
  assert.equal(doing(line, 10), 'uses tile 0');
  assert.equal(doing(line, 18), 'waits for tile 2');
  assert.equal(doing(line, 28), 'is done');
  assert.deepEqual(copied(line, 5), [0, 1]);
  assert.deepEqual(copied(line, 15), [2]);
});
