// The model of a scan in one pass. There is no C++ side: rounds are the model's own. What
// must hold whatever the order: right prefixes, words that only grow, and an end if and
// only if no block waits for one that cannot begin.
import assert from 'node:assert/strict';
import test from 'node:test';

import { ORDERS, TILES, TOTALS, ask, inWords, run } from './model.js';

const CASES = Object.keys(ORDERS).flatMap((order) =>
  [1, 2, 3, 4, 8].flatMap((room) =>
    [true, false].flatMap((ticket) =>
      [1, 4, 32].map((lanes) => {
        const options = { order, room, ticket, lanes };
        return { ...options, ...run(options) };
      }))));
const RANK = { empty: 0, total: 1, prefix: 2 };
const sumUpTo = (tile) => TOTALS.slice(0, tile + 1).reduce((a, b) => a + b);

test('with tickets every order ends, even with room for one block', () => {
  for (const c of CASES) if (c.ticket) assert.equal(c.stuck, false, JSON.stringify(c));
});

test('with blockIdx.x, the last first hangs unless there is room for all', () => {
  for (const c of CASES) {
    if (c.ticket) continue;
    if (c.order === 'first') assert.equal(c.stuck, false);
    if (c.order === 'last') assert.equal(c.stuck, c.room < TILES);
    // 2, 0, 5, 1, 7, 3, 6, 4: with room for three, 5, 7 and 6 wait for 4.
    if (c.order === 'mixed') assert.equal(c.stuck, c.room < 4);
  }
});

test('prefixes and totals are those of the tiles', () => {
  for (const { rounds, stuck } of CASES) {
    for (const { words } of rounds)
      words.forEach(({ kind, value }, tile) => {
        if (kind === 'total') assert.equal(value, TOTALS[tile]);
        if (kind === 'prefix') assert.equal(value, sumUpTo(tile));
      });
    if (!stuck) assert.ok(rounds.at(-1).words.every(({ kind }) => kind === 'prefix'));
  }
});

test('a word is written once as a total and once as a prefix', () => {
  for (const { rounds } of CASES)
    for (let r = 1; r < rounds.length; ++r)
      rounds[r].words.forEach(({ kind }, tile) =>
        assert.ok(RANK[kind] >= RANK[rounds[r - 1].words[tile].kind]));
});

test('never more blocks than there is room for, and each tile has one', () => {
  for (const { rounds, room, stuck } of CASES) {
    const tiles = new Map();
    for (const { blocks } of rounds) {
      assert.ok(blocks.length <= room);
      for (const { block, tile } of blocks) {
        assert.ok(!tiles.has(tile) || tiles.get(tile) === block);
        tiles.set(tile, block);
      }
    }
    if (!stuck) assert.equal(tiles.size, TILES);
  }
});

test('more lanes never take more rounds', () => {
  for (const order of Object.keys(ORDERS))
    for (const room of [1, 2, 4, 8]) {
      const rounds = [1, 4, 32].map((lanes) =>
        run({ order, room, lanes, ticket: true }).rounds.length);
      assert.ok(rounds[0] >= rounds[1] && rounds[1] >= rounds[2], `${rounds}`);
    }
  const wide = (lanes) =>
    run({ order: 'first', room: 8, lanes, ticket: true }).rounds.length;
  assert.ok(wide(4) < wide(1));
});

test('a window: the lesson\'s picture, and what need not be waited for', () => {
  const total = (value) => ({ kind: 'total', value });
  const prefix = (value) => ({ kind: 'prefix', value });
  const empty = { kind: 'empty', value: 0 };
  const words = [prefix(6), prefix(16), total(5), total(7)];
  assert.deepEqual(ask(words, 3, 4), { added: 28, kind: 'end' });
  assert.deepEqual(ask(words, 3, 1), { added: 7, kind: 'add' });
  assert.deepEqual(ask([empty, prefix(16), total(5)], 2, 4), { added: 21, kind: 'end' });
  assert.deepEqual(ask([prefix(6), empty, total(5)], 2, 4), { added: 0, kind: 'wait' });
  assert.deepEqual(ask([total(6), total(10)], 1, 4), { added: 16, kind: 'end' });
});

test('in words', () => {
  const { rounds } = run({ order: 'last', room: 2, ticket: false, lanes: 4 });
  const { blocks, words } = rounds.at(-1);
  assert.deepEqual(
    blocks.map((b) => inWords(b, words)),
    ['tile 7 waits for tile 5', 'tile 6 waits for tile 5']);
});
