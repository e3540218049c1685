// The model of a cross entropy in floats, against the lesson of day 3's chapter 07 and
// what its known-wrong kernels are rejected for.
import assert from 'node:assert/strict';
import test from 'node:test';

import * as m from './model.js';

const NORMAL = 2 ** -126; // the smallest float that has all of its digits
const value = (what, way, x, yes) => m.measure(what, way, x, yes).value;

test('the numbers of the lesson', () => {
  assert.equal(m.sigmoid(-100), 0);
  assert.equal(value('loss', 'sigmoid', -100, true), Infinity);
  assert.equal(value('loss', 'stable', -100, true), 100);
  assert.equal(value('loss', 'plus', -20, false), 0);
  assert.equal(value('loss', 'difference', -20, false), 0);
  assert.equal(value('loss', 'stable', -20, false).toPrecision(2), '2.1e-9');
  assert.equal(m.softplus(1.127).toFixed(3), '1.408');
});

test('the chapter\'s way keeps its digits, for every logit of the chart', () => {
  for (const what of ['loss', 'gradient'])
    for (const yes of [true, false])
      for (const x of m.LOGITS) {
        const { error } = m.measure(what, 'stable', x, yes);
        if (Math.abs(m.exactly(what, x, yes)) < NORMAL) assert.ok(error <= 1);
        else assert.ok(error < 4 * 2 ** -24, `${what} ${x} ${yes}: ${error}`);
      }
});

test('each other way is wrong somewhere, and right near 0', () => {
  for (const [what, ways] of Object.entries(m.WHAT))
    for (const { id } of ways.slice(1)) {
      const errors = [true, false].flatMap((yes) =>
        m.LOGITS.map((x) => m.measure(what, id, x, yes).error));
      assert.ok(Math.max(...errors) >= 1, `${what} ${id}`);
      for (const yes of [true, false])
        assert.ok(m.measure(what, id, 0, yes).error < 1e-6);
    }
});

test('the chain rule meets 0 times infinity', () => {
  assert.ok(Number.isNaN(value('gradient', 'sigmoid', -100, true)));
  assert.equal(value('gradient', 'stable', -100, true), -1);
  assert.equal(value('gradient', 'difference', 20, true), 0);
  assert.ok(value('gradient', 'stable', 20, true) < 0);
});

test('loss and gradient fit together: differences of the exact loss', () => {
  const step = 1e-4;
  for (const yes of [true, false])
    for (const x of [-20, -3, 0, 0.5, 7]) {
      const loss = (at) => m.exactly('loss', at, yes);
      const slope = (loss(x + step) - loss(x - step)) / (2 * step);
      const gradient = m.exactly('gradient', x, yes);
      assert.ok(Math.abs(slope - gradient) < 1e-6 + 1e-3 * Math.abs(gradient));
    }
  for (const x of m.LOGITS)
    assert.equal(m.exactly('loss', x, true), m.exactly('loss', -x, false));
});
