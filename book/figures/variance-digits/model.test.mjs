// The model of a variance in floats: the numbers of the lesson, and the bound that the
// contract of layer_norm() states. There is no C++ side: a compiler fuses products and
// sums, which JavaScript cannot.
import assert from 'node:assert/strict';
import test from 'node:test';

import * as m from './model.js';

const ROWS = m.ROWS.flatMap(({ id }) =>
  m.MEANS.map((mean) => ({ id, mean, row: m.rowOf(id, mean) })));
const GOOD = ['passes', 'welford', 'merged'];

test('Welford, step by step, and two lanes merged: the table of the lesson', () => {
  const steps = [];
  let known = { count: 0, mean: 0, squares: 0 };
  for (const x of [1, 2, 3, 6]) {
    known = m.withElement(known, x);
    steps.push([known.mean, known.squares]);
  }
  assert.deepEqual(steps, [[1, 0], [1.5, 0.5], [2, 2], [3, 14]]);
  const lanes = [{ count: 2, mean: 1.5, squares: 0.5 },
    { count: 2, mean: 4.5, squares: 4.5 }];
  assert.deepEqual(m.merged(...lanes), { count: 4, mean: 3, squares: 14 });
  assert.deepEqual(m.merged(known, { count: 0, mean: 0, squares: 0 }), known);
});

test('the row 10000 to 10003: multiples of 8, and 1.25 by the other ways', () => {
  const row = m.rowOf('four', 10000);
  assert.deepEqual(row, [10000, 10001, 10002, 10003]);
  assert.equal(m.exactly(row).variance, 1.25);
  const { variance, ofSquares, ofMean } = m.measure('squares', row);
  assert.equal(m.spacing(1e8), 8);
  for (const large of [ofSquares, ofMean]) assert.equal(large % 8, 0);
  assert.ok([-8, 0, 8].includes(variance), `${variance}`);
  for (const way of GOOD) assert.equal(m.measure(way, row).variance, 1.25);
});

test('all but the difference of squares keep the bound of the contract', () => {
  const unit = 2 ** -24;
  const gamma = (k) => (k * unit) / (1 - k * unit);
  for (const { id, mean, row } of ROWS) {
    const { variance } = m.exactly(row);
    const k = 64 + row.length / 32; // as the header says
    const size = row.reduce((sum, x) => sum + Math.abs(x), 0) / row.length;
    const e = gamma(k + 3) * size;
    const bound =
      gamma(k + 6) * (variance + e * e) + e * e + 2 * e * Math.sqrt(variance);
    for (const way of GOOD) {
      const off = Math.abs(m.measure(way, row).variance - variance);
      assert.ok(off <= bound, `${id} ${mean} ${way}: ${off} > ${bound}`);
    }
  }
});

test('what the figure shows: digits that go once, and digits that go twice', () => {
  const errors = (way) => m.MEANS.map((mean) =>
    m.measure(way, m.rowOf('noise', mean)).error);
  for (const way of GOOD) {
    assert.ok(errors(way)[0] < 1e-6);
    assert.ok(errors(way).every((error) => error < 0.05));
  }
  const squares = errors('squares');
  assert.ok(squares[0] < 1e-6);
  assert.ok(squares[m.MEANS.indexOf(1000)] > 0.01);
  assert.ok(squares[m.MEANS.indexOf(1e5)] > 1);
  assert.ok(ROWS.some(({ row }) => m.measure('squares', row).variance < 0));
});

test('elements are floats, and sums are those of all elements', () => {
  for (const { row } of ROWS) for (const x of row) assert.equal(Math.fround(x), x);
  assert.equal(m.warpSum(Array.from({ length: 32 }, (_, lane) => lane)), 496);
  assert.equal(m.measure('passes', m.rowOf('four', 1)).mean, 2.5);
  for (const x of [1, 1.5, 1e8, 65504])
    assert.equal(Math.fround(x + m.spacing(x)) - x, m.spacing(x));
});
