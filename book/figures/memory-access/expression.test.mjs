import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile, ExpressionError } from './expression.js';

const value = (text, values = {}) => compile(text, Object.keys(values))(values);
const fails = (text, message, at, values = {}) =>
  assert.throws(() => value(text, values), (error) => {
    assert.ok(error instanceof ExpressionError, text);
    assert.match(error.message, message, text);
    if (at !== undefined) assert.equal(error.at, at, text);
    return true;
  });

test('numbers and names', () => {
  assert.equal(value('42'), 42);
  assert.equal(value(' 0x1F '), 31);
  assert.equal(value('threadIdx.x + lane', { 'threadIdx.x': 3, lane: 4 }), 7);
});

test('precedence and association are those of C++', () => {
  assert.equal(value('1 + 2 * 3'), 7);
  assert.equal(value('(1 + 2) * 3'), 9);
  assert.equal(value('20 - 5 - 3'), 12);
  assert.equal(value('64 / 4 / 2'), 8);
  assert.equal(value('1 << 2 + 1'), 8);
  assert.equal(value('6 & 3 == 3'), 6 & 1);
  assert.equal(value('1 | 6 ^ 3 & 2'), 1 | (6 ^ (3 & 2)));
  assert.equal(value('1 || 0 && 0'), 1);
  assert.equal(value('5 < 3 ? 1 : 7 > 2 ? 8 : 9'), 8);
  assert.equal(value('- - 3 - -4'), 7);
  assert.equal(value('!~-1'), 1);
});

test('division truncates and the remainder has the sign of the dividend', () => {
  assert.equal(value('-7 / 2'), -3);
  assert.equal(value('-7 % 4'), -3);
  assert.ok(Object.is(value('-1 / 2'), 0));
});

test('values are ints', () => {
  assert.equal(value('2147483647'), 2147483647);
  assert.equal(value('-2147483647 - 1'), -2147483648);
  assert.equal(value('-8 >> 1'), -4);
  fails('2147483648', /does not fit/, 0);
  fails('65536 * 65536', /does not fit/, 6);
  fails('1 << 31', /does not fit/, 2);
  fails('1 << 32', /shift by 32/, 2);
  fails('1 >> -1', /shift by -1/, 2);
});

test('what C++ does not evaluate is no error', () => {
  assert.equal(value('0 && 1 / 0'), 0);
  assert.equal(value('1 || 1 / 0'), 1);
  assert.equal(value('1 ? 2 : 1 / 0'), 2);
  fails('1 / 0', /division by 0/, 2);
  fails('4 % (2 - 2)', /division by 0/, 2);
});

test('errors say what and where', () => {
  fails('', /missing at the end/, 0);
  fails('1 +', /missing at the end/, 3);
  fails('1 + * 2', /a value expected, not "\*"/, 4);
  fails('(1 + 2', /"\)" expected/, 6);
  fails('1 2', /"2" was not expected/, 2);
  fails('lane + x', /"x" is unknown; known are lane/, 7, { lane: 1 });
  fails('lane @ 2', /"@" means nothing here/, 5, { lane: 1 });
  fails('1 = 2', /"=" means nothing here/, 2);
  fails('constructor', /unknown/);
  fails('1 ? 2', /":" expected/, 5);
});
