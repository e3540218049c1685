// The model against what wb::OnlineSoftmax computes (book/truth/online-softmax.cu), and
// against the numbers that day 6's lessons work out by hand.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import {
  EMPTY,
  add,
  logSumExp,
  merge,
  mergeTree,
  output,
  rescale,
  show,
  walk,
  weightsAt,
} from './model.js';
import { aboutNode, aboutStep } from './texts.js';

const truth = JSON.parse(
  readFileSync(new URL('../../data/truth/online-softmax.json', import.meta.url)),
);

/** "-inf" as JSON has it. */
const number = (x) => (x === '-inf' ? -Infinity : x);

/**
 * C++'s expf and logf may be off by one in the last bit, and no two libraries agree on
 * which arguments; all the rest is rounded alike. So: a few units in the last place,
 * and the same four digits where the figure shows them.
 */
function same(actual, expected, what) {
  const wanted = number(expected);
  if (actual === wanted) return;
  const error = Math.abs(actual - wanted);
  assert.ok(error <= 5e-7 * Math.abs(wanted), `${what}: ${actual}, C++ has ${wanted}`);
}

function sameState(state, expected, what) {
  same(state.max, expected.max, `${what} max`);
  same(state.sum, expected.sum, `${what} sum`);
  same(state.o, expected.o, `${what} o`);
  same(output(state), expected.output, `${what} output`);
  same(logSumExp(state), expected.logSumExp, `${what} log-sum-exp`);
}

test('the walk has the states of OnlineSoftmax::add', () => {
  assert.ok(truth.rows.length >= 8);
  truth.rows.forEach((row, i) => {
    const steps = walk(row.keys);
    assert.equal(steps.length, row.walk.length);
    steps.forEach((step, key) =>
      sameState(step.state, row.walk[key], `row ${i} key ${key}`),
    );
  });
});

test('the tree has the states of OnlineSoftmax::merge', () => {
  truth.rows.forEach((row, i) => {
    const levels = mergeTree(row.keys, row.partSize);
    assert.deepEqual(
      levels.map((level) => level.length),
      row.tree.map((level) => level.length),
    );
    levels.forEach((level, l) =>
      level.forEach((node, n) =>
        sameState(node.state, row.tree[l][n], `row ${i} level ${l} node ${n}`),
      ),
    );
  });
});

test('what the figure shows is what C++ would print', () => {
  const row = truth.rows[0];
  walk(row.keys).forEach((step, key) => {
    for (const name of ['max', 'sum', 'o']) {
      assert.equal(show(step.state[name]), show(number(row.walk[key][name])));
    }
  });
});

test("the first four keys are the lesson's", () => {
  const steps = walk(truth.rows[0].keys).slice(0, 4);
  assert.equal(show(steps[1].state.sum), '1.3679');
  assert.equal(show(steps[2].factor), '0.3679');
  assert.equal(steps[3].state.sum.toFixed(4), '1.5530');
  assert.equal(output(steps[3].state).toFixed(2), '15.07');
  assert.equal(logSumExp(steps[3].state).toFixed(4), '2.4402');
});

test('the weights add up to the sum, before and after a new maximum', () => {
  for (const { keys } of truth.rows) {
    walk(keys).forEach((step, key) => {
      const weights = weightsAt(keys, key + 1);
      const sum = weights.reduce((all, weight) => all + (weight?.now ?? 0), 0);
      same(sum, step.state.sum, `sum after key ${key}`);
      if (!step.newMax) return;
      const before = weights.reduce((all, weight) => all + (weight?.before ?? 0), 0);
      same(before, step.before.sum, `sum before key ${key}`);
    });
  }
  assert.deepEqual(weightsAt(truth.rows[0].keys, 0), Array(8).fill(null));
});

test('the order of the keys does not matter', () => {
  const { keys } = truth.rows[3];
  const forward = walk(keys).at(-1).state;
  const backward = walk([...keys].reverse()).at(-1).state;
  same(output(backward), output(forward), 'backward');
});

test('a masked key changes nothing', () => {
  const keys = truth.rows[3].keys;
  const with_mask = [...keys, { score: 99, value: 99, masked: true }];
  const steps = walk(with_mask);
  assert.deepEqual(steps.at(-1).state, steps.at(-2).state);
});

test('a row without a key gives 0 and -inf, not NaN', () => {
  assert.equal(output(EMPTY), 0);
  assert.equal(logSumExp(EMPTY), -Infinity);
  assert.deepEqual(merge(EMPTY, EMPTY).state, EMPTY);
  const some = add(EMPTY, 3, 7).state;
  assert.deepEqual(merge(EMPTY, some).state, some);
  assert.deepEqual(merge(some, EMPTY).state, some);
});

test('without the exception, two empty parts give NaN, and one does not', () => {
  assert.ok(Number.isNaN(rescale(-Infinity, -Infinity, false)));
  const some = add(EMPTY, 3, 7).state;
  assert.deepEqual(merge(EMPTY, some, false).state, some);
  const twoEmpty = mergeTree(truth.rows[4].keys, 2, false);
  assert.ok(Number.isNaN(twoEmpty.at(-1)[0].state.sum));
  assert.ok(Number.isNaN(output(twoEmpty.at(-1)[0].state)));
  const oneEmpty = mergeTree(truth.rows[0].keys, 2, false);
  assert.deepEqual(oneEmpty, mergeTree(truth.rows[0].keys, 2));
});

test('numbers are printed with four digits', () => {
  assert.equal(show(0.36787944), '0.3679');
  assert.equal(show(2), '2');
  assert.equal(show(-1.5), '−1.5');
  assert.equal(show(-Infinity), '−∞');
  assert.equal(show(NaN), 'NaN');
  assert.equal(show(-0.00001), '0');
  assert.equal(show(1234567), '1.23e+6');
});

test('steps and merges are told in words', () => {
  const { keys, partSize } = truth.rows[0];
  const steps = walk(keys);
  assert.equal(
    aboutStep(steps[2], keys),
    'Key 2, score 2, is a new maximum: factor e^(1 − 2) = 0.3679. ' +
      'l = 1.3679 × 0.3679 + 1 = 1.5032; o = 31.0364 × 0.3679 + 1 × 10 = 21.4176.',
  );
  assert.match(aboutStep(steps[0], keys), /is the first: the factor is 0/);
  assert.match(aboutStep(steps[3], keys), /is no new maximum/);
  assert.match(aboutStep(steps[4], keys), /masked/);
  assert.match(aboutStep(undefined, keys), /No key yet/);
  const levels = mergeTree(keys, partSize);
  assert.match(aboutNode(levels, 0, 2), /keys 4 to 5: all masked/);
  assert.match(aboutNode(levels, 1, 0), /m = max\(1, 2\) = 2/);
  const broken = mergeTree(truth.rows[4].keys, 2, false);
  assert.match(aboutNode(broken, 1, 0), /is NaN/);
});
