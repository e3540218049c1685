import assert from 'node:assert/strict';
import test from 'node:test';
import * as model from './model.js';

const all = (each) => {
  for (const { id } of model.FORMATS)
    for (const group of model.GROUPS)
      for (const hasZero of [false, true]) each(id, group, hasZero);
};

test('ties go to the even number', () => {
  const x = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.4, -2.6];
  assert.deepEqual(x.map(model.roundEven).map((q) => q + 0), [-2, -2, 0, 0, 2, 2, 2, -3]);
});

test('a row is the same each time, of size 1, and has its outlier', () => {
  const row = model.rowOf(12);
  assert.deepEqual(row, model.rowOf(12));
  assert.equal(row[model.OUTLIER], 12);
  const others = row.filter((_, i) => i !== model.OUTLIER);
  const rms = Math.sqrt(others.reduce((sum, x) => sum + x * x, 0) / others.length);
  assert.ok(rms > 0.8 && rms < 1.2, `${rms}`);
});

test('no number is further off than half of the widest step', () => {
  all((id, group, hasZero) => {
    const row = model.rowOf(20);
    const { values, scales } = model.quantise(row, id, group, hasZero);
    // E2M1's widest step is 2; a zero that was rounded moves the ends by half a step.
    const most = id === 'e2m1' ? 1 : hasZero ? 1 : 0.5;
    row.forEach((x, i) => {
      const scale = scales[Math.floor(i / group)];
      assert.ok(Math.abs(values[i] - x) <= most * scale * 1.0001, `${id} ${group} ${i}`);
    });
  });
});

test('an outlier makes its neighbours worse, and a smaller group saves most of them', () => {
  for (const { id } of model.FORMATS) {
    const error = (times, group) => model.quantise(model.rowOf(times), id, group, false).error;
    assert.ok(error(24, 64) > 2 * error(1, 64), id);
    assert.ok(error(24, 16) < 0.7 * error(24, 64), id);
  }
});

test('a zero point helps where numbers have one sign', () => {
  const row = model.rowOf(2).map(Math.abs);
  const error = (hasZero) => model.quantise(row, 'int4', 64, hasZero).error;
  assert.ok(error(true) < 0.7 * error(false));
});

test('zeros stay zeros, and scales are counted', () => {
  all((id, group, hasZero) => {
    const { values, error } = model.quantise(Array(64).fill(0), id, group, hasZero);
    assert.ok(values.every((x) => x === 0));
    assert.ok(Number.isNaN(error));
  });
  const bits = (...how) => model.quantise(model.rowOf(1), ...how).bits;
  assert.equal(bits('int8', 64, false), 8.25);
  assert.equal(bits('int4', 16, true), 5.25);
  assert.equal(bits('e2m1', 32, true), 4.5);
});
