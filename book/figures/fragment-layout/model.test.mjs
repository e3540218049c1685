// The model against ldmatrix, mma.sync and the checker's count of wavefronts in the
// simulator (book/truth/fragment-layout.cu).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { LAYOUTS, SIZES, chunkAt, elementsOf, holder, wavefronts } from './model.js';

const truth = JSON.parse(
  readFileSync(new URL('../../data/truth/fragment-layout.json', import.meta.url)),
);

for (const [matrix, [rows, cols]] of Object.entries(SIZES)) {
  test(`each lane holds the elements of ${matrix} that the instruction uses`, () => {
    assert.equal(truth[matrix].length, 32);
    truth[matrix].forEach((numbers, lane) => {
      assert.deepEqual(
        elementsOf(matrix, lane).map(([row, col]) => row * cols + col),
        numbers,
      );
    });
  });

  test(`every element of ${matrix} is held once`, () => {
    const seen = new Set();
    for (let row = 0; row < rows; ++row) {
      for (let col = 0; col < cols; ++col) {
        const { lane, register, half } = holder(matrix, row, col);
        assert.ok(lane >= 0 && lane < 32);
        seen.add(`${lane} ${register} ${half}`);
      }
    }
    assert.equal(seen.size, rows * cols);
  });
}

test("A's lanes are C's lanes, pair by pair: a product feeds the next one", () => {
  for (let row = 0; row < 16; ++row) {
    for (let col = 0; col < 8; ++col) {
      assert.equal(holder('c', row, col).lane, holder('a', row, col).lane);
    }
  }
});

test('chunks lie where the C++ side puts them', () => {
  assert.deepEqual(
    truth.layouts.map(({ name }) => name),
    Object.keys(LAYOUTS),
  );
  for (const { name, offsets } of truth.layouts) {
    offsets.forEach((row, r) =>
      row.forEach((offset, chunk) =>
        assert.equal(chunkAt(name, r, chunk).offset, offset),
      ),
    );
  }
});

test('ldmatrix takes as many wavefronts as the checker counts', () => {
  for (const { name, wavefronts: counted } of truth.layouts) {
    counted.forEach((count, chunk) => assert.equal(wavefronts(name, chunk), count));
  }
  assert.deepEqual(
    Object.keys(LAYOUTS).map((name) => wavefronts(name, 3)),
    [8, 1, 1],
  );
});

test('no two chunks lie at the same place', () => {
  for (const name of Object.keys(LAYOUTS)) {
    const places = new Set();
    for (let row = 0; row < 8; ++row) {
      for (let chunk = 0; chunk < 8; ++chunk) {
        places.add(chunkAt(name, row, chunk).offset);
      }
    }
    assert.equal(places.size, 64);
  }
});
