import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { digest } from '../digest.js';
import { splitMix64 } from '../sparse-masks/random.js';
import * as model from './model.js';

const truth = JSON.parse(
  readFileSync(
    new URL('../../data/truth/number-formats.json', import.meta.url),
    'utf8',
  ),
);
const SPECIALS = [Infinity, -Infinity, NaN];

const view = new DataView(new ArrayBuffer(8));

/** The bits of a float, all NaNs alike. */
function floatBits(value) {
  view.setFloat32(0, value);
  return Number.isNaN(value) ? 0x7fc00000 : view.getUint32(0);
}

/** The double after (or, with step -1, before) a positive x. */
function nextDouble(x, step) {
  view.setFloat64(0, x);
  view.setBigInt64(0, view.getBigInt64(0) + BigInt(step));
  return view.getFloat64(0);
}

/** As random_number() of book/truth/number-formats.cpp. */
function randomNumber(next) {
  const fraction = Number(next() >> 11n) * 2 ** -53;
  const exponent = Number(next() % 300n) - 160;
  const negative = (next() & 1n) !== 0n;
  return (negative ? -fraction : fraction) * 2 ** exponent;
}

function* values(format, step) {
  for (let code = 0; code < 2 ** model.width(format); code += step) {
    yield floatBits(model.decode(format, code).value);
  }
}

function* midpoints(format, step) {
  for (let code = 0; code + 1 < 2 ** (model.width(format) - 1); code += step) {
    const above = model.decode(format, code + 1).value;
    if (!Number.isFinite(above)) continue;
    const middle = (model.decode(format, code).value + above) / 2;
    yield model.encode(format, middle);
    yield model.encode(format, -middle);
    yield model.encode(format, nextDouble(middle, -1));
    yield model.encode(format, nextDouble(middle, 1));
  }
}

function* randoms(format) {
  const next = splitMix64(1);
  for (let i = 0; i < 20000; ++i) yield model.encode(format, randomNumber(next));
}

test('the formats are those that C++ knows', () => {
  assert.deepEqual(
    model.FORMATS.map((f) => [f.name, model.width(f)]),
    truth.formats.map((f) => [f.name, f.bits]),
  );
});

for (const expected of truth.formats) {
  const format = model.formatOf(expected.name);
  const step = expected.bits === 32 ? 65537 : 1;

  test(`${expected.name}: codes have the values that C++ gives them`, () => {
    assert.equal(digest(values(format, step)), expected.values_digest);
  });
  test(`${expected.name}: numbers half-way between two codes go where C++ goes`, () => {
    assert.equal(digest(midpoints(format, step)), expected.midpoints_digest);
  });
  test(`${expected.name}: 20,000 random numbers round as in C++`, () => {
    assert.equal(digest(randoms(format)), expected.random_digest);
  });
  test(`${expected.name}: chosen numbers, infinities and NaN round as in C++`, () => {
    const numbers = [...truth.numbers, ...SPECIALS];
    const plain = numbers.map((x) => model.encode(format, x));
    assert.deepEqual(plain, expected.numbers);
    if (!expected.saturated) return;
    const saturated = numbers.map((x) => model.encode(format, x, true));
    assert.deepEqual(saturated, expected.saturated);
  });
  test(`${expected.name}: a code's value encodes to the same code`, () => {
    for (let code = 0; code < 2 ** model.width(format); code += step) {
      const { kind, value } = model.decode(format, code);
      if (kind !== 'nan') assert.equal(model.encode(format, value), code);
    }
  });
}

test('outcomes have names', () => {
  const what = (name, x, saturate) =>
    model.outcome(model.formatOf(name), x, saturate).what;
  assert.equal(what('fp16', 0.5), 'exact');
  assert.equal(what('fp16', 0.1), 'rounded');
  assert.equal(what('fp16', 65519), 'rounded');
  assert.equal(what('fp16', 65520), 'overflow');
  assert.equal(what('fp16', 1e-8), 'underflow');
  assert.equal(what('fp8 e4m3', 1000), 'overflow');
  assert.equal(what('fp8 e4m3', 1000, true), 'saturated');
  assert.equal(what('fp8 e4m3', 450, true), 'rounded');
  assert.equal(what('fp4 e2m1', 100), 'saturated');
  assert.equal(what('fp4 e2m1', NaN), 'no NaN');
  assert.equal(what('bf16', NaN), 'exact');
});

test('neighbours stop at the largest number and pass through zero', () => {
  const e2m1 = model.formatOf('fp4 e2m1');
  assert.deepEqual(model.neighbours(e2m1, 7, 2).map((n) => n.value), [3, 4, 6]);
  assert.deepEqual(
    model.neighbours(e2m1, 0, 2).map((n) => n.value),
    [-1, -0.5, 0, 0.5, 1],
  );
});

test('bits are named, and turn over one by one', () => {
  const fp16 = model.formatOf('fp16');
  const fields = model.bitsOf(fp16, 0x3c00).map((bit) => bit.field[0]);
  assert.equal(fields.join(''), 'seeeeeffffffffff');
  assert.equal(model.toggle(0x3c00, 15), 0xbc00);
  assert.equal(model.toggle(0xffffffff, 31), 0x7fffffff);
  assert.equal(model.hex(fp16, 0x1f), '0x001f');
});

test('what a reader types is read, and nonsense is not', () => {
  assert.equal(model.parseNumber(' 1e-8 '), 1e-8);
  assert.equal(model.parseNumber('2^-24'), 2 ** -24);
  assert.equal(model.parseNumber('-2^3'), -8);
  assert.equal(model.parseNumber('1,100'), 1100);
  assert.equal(model.parseNumber('-inf'), -Infinity);
  assert.ok(Number.isNaN(model.parseNumber('nan')));
  for (const text of ['', 'one', '1..2', '0x10', '1e', '--1']) {
    assert.equal(model.parseNumber(text), undefined, text);
  }
});

test('long numbers are shown short', () => {
  assert.equal(model.show(0.5), '0.5');
  assert.equal(model.show(Math.fround(0.1)), '0.1000000015');
  assert.equal(model.show(2 ** -149), '1.401298464e-45');
  assert.equal(model.show(-Infinity), '-infinity');
});
