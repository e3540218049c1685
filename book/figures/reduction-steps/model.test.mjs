import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as m from './model.js';

const { reductions: truth } = JSON.parse(readFileSync(
  new URL('../../data/truth/reduction-steps.json', import.meta.url), 'utf8'));
const of = (way, threads) => m.reduce(way, m.inputs(threads));

test('the kernels begin with the numbers of the figure', () => {
  assert.deepEqual(m.inputs(8), [3, 1, 7, 0, 4, 1, 6, 3]);
  for (const one of truth) assert.deepEqual(m.inputs(one.threads), one.input);
});

test('after each step the threads hold what those of the kernels hold', () => {
  assert.ok(truth.length > 20);
  for (const one of truth) {
    const reduction = of(one.way, one.threads);
    assert.deepEqual(reduction.steps.map(({ values }) => values), one.steps,
      `${one.way} ${one.threads}`);
    assert.equal(reduction.result, one.result);
    assert.equal(reduction.result, one.input.reduce((a, b) => a + b));
  }
});

test('barriers, requests and wavefronts are those that the checker counts', () => {
  for (const one of truth) {
    const { barriers, loads, stores } = of(one.way, one.threads);
    assert.deepEqual({ barriers, loads, stores },
      { barriers: one.barriers, loads: one.loads, stores: one.stores },
      `${one.way} ${one.threads}`);
  }
});

test('every way and size of the figure is one that a kernel has confirmed', () => {
  for (const way of m.WAYS)
    for (const threads of way.threads)
      assert.ok(truth.some((one) => one.way === way.id && one.threads === threads),
        `${way.id} ${threads}`);
});

test('the lesson\'s picture and numbers', () => {
  const { steps } = of('sequential', 8);
  assert.deepEqual(steps.map(({ values, step }) => values.slice(0, step)),
    [[7, 2, 13, 3], [20, 5], [25]]);
  const block = of('sequential', 256);
  assert.equal(block.steps.length, 8);
  assert.equal(block.barriers, 9);
  assert.deepEqual(block.steps.map((s) => m.atWork(s).threads),
    [128, 64, 32, 16, 8, 4, 2, 1]);
  assert.deepEqual(block.steps.map((s) => m.atWork(s).warps), [4, 2, 1, 1, 1, 1, 1, 1]);
  assert.deepEqual(of('interleaved', 256).steps.map((s) => m.atWork(s).warps),
    [8, 8, 8, 8, 8, 4, 2, 1]);
  assert.deepEqual(of('compact', 256).steps.map((s) => m.waysOf(s)),
    [2, 4, 8, 8, 8, 4, 2, 1]);
  assert.equal(of('two-level', 256).barriers, 1);
});

test('what is useful reaches the result', () => {
  for (const one of truth) {
    const { steps, input } = of(one.way, one.threads);
    // Spoil what nobody needs; the result stays.
    const spoilt = steps.map(({ useful, to, values }) => {
      const changed = [...values];
      to.forEach((place, t) => {
        if (place !== null && !useful[t]) changed[place] = NaN;
      });
      return changed;
    });
    let values = input;
    steps.forEach((step, k) => {
      const next = [...spoilt[k]];
      step.to.forEach((place, t) => {
        if (place === null || !step.useful[t]) return;
        next[place] = (step.kind === 'exchange' ? 0 : values[place]) +
          values[step.from[t]];
      });
      values = next;
    });
    assert.equal(values[0], one.result, `${one.way} ${one.threads}`);
  }
});

test('sentences', () => {
  assert.equal(m.sentence(of('sequential', 8), 0, 2),
    'thread 2: s[2] + s[6] = 7 + 6 = 13');
  assert.equal(m.sentence(of('sequential', 8), 0, 5), 'thread 5 waits');
  assert.equal(m.sentence(of('compact', 8), 0, 1), 'thread 1: s[2] + s[3] = 7 + 0 = 7');
  assert.equal(m.sentence(of('shuffle-down', 8), 0, 1), 'lane 1 adds that of lane 5: ' +
    '1 + 1 = 2');
  assert.equal(m.sentence(of('shuffle-down', 8), 0, 7),
    'lane 7 adds its own again: 3 + 3 = 6, which nobody needs');
  const block = of('two-level', 128);
  assert.equal(m.sentence(block, 5, 1),
    `thread 1 takes ${block.steps[4].values[32]}, the sum of warp 1`);
  assert.equal(m.sentence(block, 5, 9), 'thread 9 has no sum to take');
  assert.equal(m.sentence(block, 6, 40), 'thread 40 has left');
});
