// The model of a gather and its sums: held to the rules of day 2's chapter 04 for the
// runs of a share (store_sum of v4, shares.cuh), and to the tree in its lesson.
import assert from 'node:assert/strict';
import test from 'node:test';

import {
  BATCHES, NUM_ROWS, SHARE, addShares, counts, levelsOf, longestOf, mostOf, queuesOf,
  sizesOf, sorted, tableAfter,
} from './model.js';
import { WORDS } from './words.js';

const batch = (id) => BATCHES.find((b) => b.id === id).indices;
/** The batches of the figure, and many of all lengths from a fixed generator. */
const CASES = BATCHES.map(({ indices }) => indices);
let state = 1;
for (let count = 1; count <= 40; ++count)
  for (const numRows of [1, 2, 3, NUM_ROWS])
    CASES.push(Array.from({ length: count }, () => {
      state = (state * 1103515245 + 12345) % 2 ** 31;
      return Math.floor((state / 2 ** 31) * numRows);
    }));
const summands = (text) =>
  [...text].map((c, i) => ({ row: c === '-' ? null : Number(c), from: [i] }));
const goals = (text) => addShares(summands(text)).runs.map(({ row, to }) => [row, to]);
const places = (text) => addShares(summands(text)).partials
  .map(({ row, from }) => (row === null ? '-' : `${row}:${from.join('')}`));

test('every index is in the queue of its row, and the sort is stable', () => {
  for (const indices of CASES) {
    const queues = queuesOf(indices);
    assert.equal(queues.flat().length, indices.length);
    queues.forEach((queue, row) =>
      queue.forEach((position) => assert.equal(indices[position], row)));
    assert.deepEqual(sorted(indices).flatMap(({ from }) => from), queues.flat());
  }
});

test('a run that is complete in its share goes to the table', () => {
  assert.deepEqual(goals('0012'), [[0, 'table'], [1, 'table'], [2, 'table']]);
  assert.deepEqual(goals('00001111'), [[0, 'table'], [1, 'table']]);
  assert.deepEqual(goals('01112223'),
    [[0, 'table'], [1, 'table'], [2, 'table'], [3, 'table']]);
  assert.deepEqual(places('00001111'), ['-', '-', '-', '-']);
});

test('one that goes on is the second sum, one that began before the first', () => {
  assert.deepEqual(goals('01122234'),
    [[0, 'table'], [1, 'table'], [2, 'second'], [2, 'first'], [3, 'table'],
      [4, 'table']]);
  assert.deepEqual(places('01122234'), ['-', '2:3', '2:45', '-']);
});

test('one that does both is first, with zeros second', () => {
  assert.deepEqual(goals('122222222234'), [[1, 'table'], [2, 'second'], [2, 'both'],
    [2, 'first'], [3, 'table'], [4, 'table']]);
  assert.deepEqual(places('122222222234'),
    ['-', '2:123', '2:4567', '2:', '2:89', '-']);
});

test('what belongs to no row is not added, and ends no run of another share', () => {
  assert.deepEqual(goals('-00--11-'), [[0, 'table'], [1, 'table']]);
  assert.deepEqual(goals('---00---'), [[0, 'second'], [0, 'first']]);
  assert.deepEqual(places('---00---'), ['-', '0:3', '0:4', '-']);
});

test('a share that is not full ends where the summands end', () => {
  assert.deepEqual(goals('000011'), [[0, 'table'], [1, 'table']]);
  assert.deepEqual(goals('000111'), [[0, 'table'], [1, 'second'], [1, 'first']]);
});

test('each row is written once, with all of its gradients in their order', () => {
  for (const indices of CASES)
    for (const share of [2 * SHARE, SHARE]) {
      const levels = levelsOf(indices, share);
      const queues = queuesOf(indices);
      const written = levels.flatMap(({ runs }) =>
        runs.filter(({ to }) => to === 'table'));
      assert.equal(written.length, queues.filter(({ length }) => length > 0).length);
      assert.deepEqual(
        tableAfter(levels, levels.length).map((sum) => sum?.from ?? []), queues);
      assert.ok(levels.at(-1).partials.every(({ row }) => row === null));
    }
});

test('nothing is in the table before the first level, and levels only add rows', () => {
  const levels = levelsOf(batch('uniform'));
  const rows = levels.map((_, done) =>
    tableAfter(levels, done).filter((sum) => sum !== null).length);
  assert.deepEqual(rows, [0, 3, 5]);
});

test('what is counted, by hand', () => {
  assert.deepEqual(counts(batch('uniform')),
    { atomics: 4, rows: 4, levels: [3, 2, 2], shares: 7 });
  assert.deepEqual(counts(batch('skewed')),
    { atomics: 8, rows: 8, levels: [4, 2, 0], shares: 6 });
  assert.deepEqual(counts(batch('one')),
    { atomics: 16, rows: 16, levels: [4, 3, 2], shares: 9 });
});

test('no batch needs more than a share for each level', () => {
  for (const indices of CASES) {
    const { levels, shares, atomics } = counts(indices);
    assert.ok(levels.every((longest) => longest <= SHARE));
    assert.ok(shares <= mostOf(indices.length, SHARE));
    assert.equal(levels.length, sizesOf(indices.length, SHARE).length);
    assert.equal(atomics, longestOf(queuesOf(indices)));
  }
});

test('the tree of the lesson: 2^20 gradients, shares of 32', () => {
  assert.deepEqual(sizesOf(2 ** 20, 32), [
    { summands: 1048576, shares: 32768 },
    { summands: 65536, shares: 2048 },
    { summands: 4096, shares: 128 },
    { summands: 256, shares: 8 },
    { summands: 16, shares: 1 },
  ]);
  assert.equal(mostOf(2 ** 20, 32), 160);
});

test('every step of every way has its words', () => {
  const said = BATCHES.flatMap(({ indices }) => {
    const [queues, levels] = [queuesOf(indices), levelsOf(indices)];
    return Object.values(WORDS).flatMap((words) =>
      [0, 1, 2, 3, 4].map((done) => words({ queues, levels, done })));
  });
  assert.ok(said.every((text) => /^[A-Z].*\.$/.test(text) && !/NaN|undef/.test(text)));
  const levels = levelsOf(batch('one'));
  assert.equal(WORDS.shares({ levels, done: 4 }), 'Level 3: 1 run, the longest of 2 ' +
    'summands. Complete, to the table: row 3. Cut at an edge, to partial sums: 0.');
  const queues = queuesOf(batch('one'));
  assert.match(WORDS.atomics({ queues, done: 15 }), /1 row at work; 1 gradient waits/);
});
