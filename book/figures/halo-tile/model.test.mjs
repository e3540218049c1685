// The model of a tile and its halo: the chapter's sizes, the numbers of its lesson, and
// what the simulator counts for convolve_2d_v2.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import {
  BORDERS, MOST_RADIUS, TILES, haloed, imageOf, indexInside, loadsOf, requestsOf,
  stepsOf, textOf, tilesOf, windowOf,
} from './model.js';

const chapter = (file) => readFileSync(
  new URL(`../../../day02-memory/03-stencil-halo/${file}`, import.meta.url), 'utf8');
const constant = (text, name) =>
  Number(new RegExp(`constexpr int ${name} = (\\d+);`).exec(text)[1]);
const CHAPTER = TILES.at(-1);

/** Every tile of each image with each radius and border. */
function* cases() {
  for (const tile of TILES) {
    const image = imageOf(tile);
    const tiles = tilesOf(image, tile);
    for (let radius = 0; radius <= MOST_RADIUS; ++radius)
      for (const border of BORDERS)
        for (let row = 0; row < tiles.rows; ++row)
          for (let col = 0; col < tiles.cols; ++col)
            yield { image, tile, radius, border, at: { row, col },
              loads: loadsOf(image, tile, { row, col }, radius, border) };
  }
}

test("the tile and the radius are the chapter's", () => {
  const borders = chapter('borders.h');
  assert.equal(CHAPTER.rows, constant(borders, 'kTileRows'));
  assert.equal(CHAPTER.cols, constant(borders, 'kTileCols'));
  assert.equal(MOST_RADIUS, constant(chapter('stencil_halo.h'), 'kMaxRadius'));
});

test('blocks are whole warps, and images are no whole tiles', () => {
  for (const tile of TILES) {
    assert.equal((tile.rows * tile.cols) % 32, 0);
    assert.notEqual(imageOf(tile).rows % tile.rows, 0);
    assert.equal(imageOf(tile).cols % 8, 0);
    assert.deepEqual(tilesOf(imageOf(tile), tile), { rows: 3, cols: 3 });
  }
});

test('the numbers of the lesson', () => {
  const lesson = chapter('lesson.md');
  for (const [radius, sum, ratio] of [[1, '18 \\cdot 34 = 612', '1.20'],
    [4, '24 \\cdot 40 = 960', '1.88']]) {
    const all = haloed(CHAPTER, radius);
    assert.equal(`${all.rows} \\cdot ${all.cols} = ${all.places}`, sum);
    assert.equal(all.ratio.toFixed(2), ratio);
    assert.ok(lesson.includes(`$${sum}$ (${ratio} times)`), 'the lesson says so');
  }
  assert.equal(haloed(CHAPTER, 1).rounds, 2);
});

test('loads and sectors are what the simulator counts', () => {
  // The lesson's table: a filter over 256 x 256, radius 1, v2.
  const [, requests, sectors] =
    /filter, 256 × 256, radius 1: v1[^\n]*\n\| v2 and v3[^|]*\| ([\d,]+) \| ([\d,]+) \|/
      .exec(chapter('lesson.md'));
  const image = { rows: 256, cols: 256 };
  const tiles = tilesOf(image, CHAPTER);
  const sum = { requests: 0, sectors: 0 };
  for (let row = 0; row < tiles.rows; ++row)
    for (let col = 0; col < tiles.cols; ++col) {
      const one = requestsOf(image, loadsOf(image, CHAPTER, { row, col }, 1, 'zero'));
      sum.requests += one.requests;
      sum.sectors += one.sectors;
    }
  assert.equal(sum.requests.toLocaleString('en'), requests);
  assert.equal(sum.sectors.toLocaleString('en'), sectors);
});

test('a tile without a halo moves each of its sectors once', () => {
  for (const tile of TILES) {
    const image = imageOf(tile);
    const loads = loadsOf(image, tile, { row: 1, col: 1 }, 0, 'zero');
    assert.equal(requestsOf(image, loads).sectors, (tile.rows * tile.cols) / 8);
  }
});

test('what stands outside of an array', () => {
  const at = (border) => [-6, -1, 0, 3, 4, 9].map((i) => indexInside(i, 4, border));
  assert.deepEqual(at('zero'), [null, null, 0, 3, null, null]);
  assert.deepEqual(at('clamp'), [0, 0, 0, 3, 3, 3]);
  assert.deepEqual(at('wrap'), [2, 3, 0, 3, 0, 1]);
});

test('each place is loaded once, and by one thread in each round', () => {
  for (const { tile, radius, loads } of cases()) {
    const { places, threads, rounds } = haloed(tile, radius);
    assert.equal(new Set(loads.map(({ row, col }) => `${row} ${col}`)).size, places);
    assert.equal(loads.filter(({ isHalo }) => !isHalo).length, threads);
    assert.equal(
      new Set(loads.map(({ tid, round }) => `${tid} ${round}`)).size, places);
    assert.equal(loads.at(-1).round, rounds - 1);
  }
});

test('each place has a value, and an inner one its own', () => {
  for (const { image, border, loads } of cases())
    for (const { row, col, inside, source } of loads) {
      if (inside) assert.deepEqual(source, { row, col });
      else if (border === 'zero') assert.equal(source, null);
      else assert.ok(source.row >= 0 && source.row < image.rows &&
        source.col >= 0 && source.col < image.cols);
    }
});

test("all of a thread's window is in the tile with its halo", () => {
  for (const { tile, radius, loads } of cases()) {
    const first = { row: loads[0].row + radius, col: loads[0].col + radius };
    const last = { row: first.row + tile.rows - 1, col: first.col + tile.cols - 1 };
    for (const own of [first, last])
      assert.equal(windowOf(loads, radius, own).length, (2 * radius + 1) ** 2);
  }
});

test('the steps, in words', () => {
  const tile = TILES[0];
  const image = imageOf(tile);
  const say = (border, thread, step, at = { row: 0, col: 0 }) => textOf({
    image, tile, radius: 1, border, thread, step: stepsOf(tile, 1)[step],
    loads: loadsOf(image, tile, at, 1, border),
  });
  assert.equal(stepsOf(tile, 1).length, 5);
  assert.match(say('zero', 9, 0), /Thread 9 has the result of row 1, column 1\./);
  assert.match(say('zero', 31, 0, { row: 2, col: 0 }), /Thread 31 has no result/);
  assert.match(say('zero', 0, 1, { row: 1, col: 2 }), /^Tile 6 with its halo: /);
  assert.match(say('zero', 0, 1), /6 × 10 = 60 places .* 1\.88 .* 15 of them are/);
  assert.match(say('zero', 0, 2), /place 0, row -1, column -1: .* writes a zero/);
  assert.match(say('clamp', 0, 2), /row -1, column -1: .* reads row 0, column 0/);
  assert.match(say('wrap', 0, 2), /reads row 9, column 23/);
  assert.match(say('zero', 0, 3), /tid \+ 32\. Thread 0: place 32, row 2, column 1\./);
  assert.match(say('zero', 31, 3), /Thread 31 has nothing left to load/);
  assert.match(say('zero', 9, 4), /sums up 9 places .* loaded none .* itself\.$/);
  assert.match(say('zero', 0, 4), /itself, and 5 of them are outside/);
});
