import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import * as model from './model.js';

const layout = readFileSync(
  new URL('../../../day05-quantization/02-gptq-int4/layout.h', import.meta.url),
  'utf8',
);

test('a place of a row is what layout.h says', () => {
  assert.match(layout, /place_of_row\(int i\) \{\s*return i \/ 2 \+ i % 2 \* 4;/);
  assert.match(layout, /kTileRows = 32;\s*inline constexpr int kTileColumns = 32;/);
  assert.match(layout, /Lane 4 g \+ q has four words of it: word j is column 4 g \+ j,/);
  assert.deepEqual([0, 1, 2, 3, 4, 5, 6, 7].map(model.placeOfRow), [0, 4, 1, 5, 2, 6, 3, 7]);
});

test('each number has bits of its own, in both layouts', () => {
  for (const { groupOf } of model.ORDERS) {
    const rows = model.sortedRows(groupOf);
    const stored = new Set();
    const packed = new Set();
    for (let k = 0; k < model.K; ++k) {
      for (let n = 0; n < model.N; ++n) {
        const { row, column, nibble } = model.wordOf(k, n);
        assert.ok(row < model.K / 8 && nibble < 8);
        stored.add(`${row} ${column} ${nibble}`);
        const p = model.packedOf(k, n, rows);
        assert.ok(p.lane < 32 && p.word < 4 && p.nibble < 8);
        packed.add(`${p.tile} ${p.lane} ${p.word} ${p.nibble}`);
        assert.equal(model.rowsOfPacked(p, rows)[p.nibble], k);
      }
    }
    assert.equal(stored.size, model.K * model.N);
    assert.equal(packed.size, model.K * model.N);
  }
});

test('a tile has rows of one group, sorted', () => {
  for (const { groupOf } of model.ORDERS) {
    const rows = model.sortedRows(groupOf);
    assert.deepEqual(rows.toSorted((a, b) => a - b), [...Array(model.K).keys()]);
    rows.forEach((k, place) => {
      assert.equal(groupOf(k), groupOf(rows[place - (place % model.TILE)]));
    });
  }
  assert.deepEqual(model.sortedRows(model.orderOf('order').groupOf).slice(0, 4), [0, 2, 4, 6]);
});

test('zeros: eight columns of a group share a word', () => {
  assert.deepEqual(model.zeroOf(1, 13), { row: 1, column: 1, nibble: 5 });
  const words = new Set();
  for (let n = 0; n < model.N; ++n) words.add(model.zeroOf(0, n).column);
  assert.equal(words.size, model.N / 8);
});

test('a mask takes two neighbouring rows', () => {
  const rows = model.sortedRows(model.orderOf('none').groupOf);
  const word = model.rowsOfPacked({ tile: 1, lane: 2 }, rows);
  assert.deepEqual(
    model.MASKS.map(({ nibbles }) => nibbles.map((i) => word[i])),
    [[48, 49], [50, 51], [52, 53], [54, 55]],
  );
  for (const { shift, mask, nibbles } of model.MASKS) {
    const bits = (Number(mask) << shift) >>> 0;
    nibbles.forEach((i) => assert.equal((bits >>> (4 * i)) & 15, 15));
  }
});
