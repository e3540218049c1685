// The model of jagged rows. Its search is held to row_of() of day 2's chapter 05: the
// test takes the function's own lines from the chapter and runs them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import {
  MOST, PRESETS, THREADS, TILE, denseOf, idle, longestOf, offsetsOf, placeOf, rowBlocks,
  search, slowest, tileBlocks,
} from './model.js';

const SOURCE = new URL(
  '../../../solutions/day02-memory/05-jagged-tensors/jagged_tensors_fast.cu',
  import.meta.url);

/** The chapter's row_of() with 64-bit integers, for which C++ and JavaScript agree. It
 * tells `look` which rows it asks for. */
function chapterRowOf() {
  const [, body] = /row_of\(const AnyRows& rows, [^)]*\) \{\n(.*?)\n\}\n/s
    .exec(readFileSync(SOURCE, 'utf8'));
  const script = body.replace('const int64_t ', 'const ').replace(/\b\d+\b/g, '$&n');
  const rowOf = new Function('rows', 'low', 'high', 'word', script);
  return (offsets, low, high, word, look = () => {}) => Number(rowOf({
    start: (row) => {
      look(Number(row));
      return BigInt(offsets[row]);
    },
  }, BigInt(low), BigInt(high), BigInt(word)));
}
const chapter = chapterRowOf();

/** All lengths of 0 to 3 for one to five rows, and the presets. */
const LENGTHS = PRESETS.map(({ lengths }) => lengths);
for (let rows = 1; rows <= 5; ++rows)
  for (let i = 0; i < 4 ** rows; ++i)
    LENGTHS.push(Array.from({ length: rows }, (_, r) => Math.floor(i / 4 ** r) % 4));

/** Calls check(offsets, low, high, word) for all searches that row_of() allows. */
function eachSearch(check) {
  let count = 0;
  for (const offsets of LENGTHS.map(offsetsOf))
    for (let low = 0; low < offsets.length; ++low)
      for (let high = low + 1; high < offsets.length; ++high)
        for (let word = offsets[low]; word < offsets[high]; ++word, ++count)
          check(offsets, low, high, word);
  assert.ok(count > 1000);
}

test('the search asks what row_of() asks, and finds the row that it finds', () => {
  eachSearch((offsets, low, high, word) => {
    const asked = [];
    const row = chapter(offsets, low, high, word, (r) => asked.push(r));
    const steps = search(offsets, low, high, word);
    assert.equal(steps.at(-1).low, row);
    assert.deepEqual(steps.slice(0, -1).map(({ middle }) => middle), asked);
  });
});

test('start(low) <= word < start(high), before the search and after each step', () => {
  eachSearch((offsets, ...range) => {
    const word = range[2];
    for (const { low, high } of search(offsets, ...range)) {
      assert.ok(offsets[low] <= word);
      assert.ok(word < offsets[high]);
    }
  });
});

test('a word is in no empty row, and comes back from its place in dense', () => {
  for (const lengths of LENGTHS) {
    const offsets = offsetsOf(lengths);
    const words = lengths.flatMap((length, row) =>
      Array.from({ length }, (_, place) => ({ row, place })));
    assert.equal(words.length, offsets.at(-1));
    words.forEach((word, i) => assert.deepEqual(placeOf(offsets, i), word));
  }
});

test('each word is in one block, with rows as with tiles', () => {
  for (const lengths of LENGTHS)
    for (const blocks of [rowBlocks(lengths), tileBlocks(lengths)]) {
      let next = 0;
      for (const { first, end, rounds } of blocks) {
        assert.equal(first, next);
        assert.ok(rounds * THREADS >= end - first);
        assert.ok((rounds - 1) * THREADS < end - first);
        next = end;
      }
      assert.equal(next, offsetsOf(lengths).at(-1));
    }
});

test('tiles are even: none is idle, none needs more rounds than a whole one', () => {
  for (const lengths of LENGTHS) {
    const blocks = tileBlocks(lengths);
    assert.equal(idle(blocks), 0);
    assert.ok(slowest(blocks) <= TILE / THREADS);
    for (const { first, end } of blocks.slice(0, -1)) assert.equal(end - first, TILE);
  }
});

test('the presets, by hand', () => {
  const facts = PRESETS.map(({ id, lengths }) => [
    id, slowest(rowBlocks(lengths)), idle(rowBlocks(lengths)),
    slowest(tileBlocks(lengths)), tileBlocks(lengths).length, denseOf(lengths).padding,
  ]);
  assert.deepEqual(facts, [
    ['short', 2, 0, 2, 6, 11],
    ['long', 8, 2, 2, 6, 99],
    ['empty', 5, 5, 2, 4, 56],
    ['none', 0, 8, 0, 0, 0],
  ]);
});

test("the lesson's picture: 3, 0, 2 and 1 entries", () => {
  const offsets = offsetsOf([3, 0, 2, 1]);
  assert.deepEqual(offsets, [0, 3, 3, 5, 6]);
  assert.deepEqual(placeOf(offsets, 3), { row: 2, place: 0 });
  assert.deepEqual(search(offsets, 0, 4, 3), [
    { low: 0, high: 4, middle: 2, begins: true },
    { low: 2, high: 4, middle: 3, begins: false },
    { low: 2, high: 3 },
  ]);
});

test('lengths stay within what can be drawn', () => {
  for (const { lengths } of PRESETS) {
    assert.ok(offsetsOf(lengths).at(-1) <= MOST);
    lengths.forEach((length, r) => {
      assert.equal(offsetsOf(lengths).at(-1) - length + longestOf(lengths, r), MOST);
    });
  }
});
