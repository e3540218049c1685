import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { digest } from '../digest.js';
import * as model from './model.js';

const truth = JSON.parse(
  readFileSync(new URL('../../data/truth/sparse-masks.json', import.meta.url), 'utf8'),
);

const builders = {
  dense: model.densePattern,
  local: model.localPattern,
  window: model.windowWithSinks,
  strided: model.stridedPattern,
  random: model.randomPattern,
  hierarchical: model.hierarchicalPattern,
  'block-sparse': model.blockSparsePattern,
};

test("the block is the kernels' block", () => {
  const { rows, keys } = model.KERNEL_BLOCK;
  assert.deepEqual([rows, keys], [truth.block_rows, truth.block_keys]);
});

for (const expected of truth.patterns) {
  test(`${expected.name}(${expected.arguments}) is what C++ builds`, () => {
    const pattern = builders[expected.name](...expected.arguments);
    if (expected.indices) {
      assert.deepEqual(pattern.offsets, expected.offsets);
      assert.deepEqual(pattern.indices, expected.indices);
    }
    assert.equal(pattern.indices.length, expected.pairs);
    assert.equal(digest(pattern.offsets), expected.offsets_digest);
    assert.equal(digest(pattern.indices), expected.indices_digest);
    const blocks = model.toBlocks(pattern);
    assert.deepEqual(blocks.full.offsets, expected.full_offsets);
    assert.deepEqual(blocks.full.blocks, expected.full_blocks);
    assert.deepEqual(blocks.partial.offsets, expected.partial_offsets);
    assert.deepEqual(blocks.partial.blocks, expected.partial_blocks);
    assert.equal(digest(blocks.masks), expected.masks_digest);
    assert.deepEqual(blocks.order, expected.order);
  });
}

test('every builder of the figure is compared with C++', () => {
  const compared = new Set(truth.patterns.map((p) => p.name));
  assert.deepEqual(new Set(Object.keys(builders)), compared);
});

test('a window of 256 keys costs what the lesson computes by hand', () => {
  const pattern = model.windowWithSinks(4096, 4096, 256, 0);
  const cost = model.costs(pattern, model.toBlocks(pattern));
  assert.equal(cost.pairs, 1015936);
  assert.equal(cost.csrBytes, 4097 * 8 + 1015936 * 4);
  assert.deepEqual([cost.full, cost.partial, cost.allBlocks], [62, 124, 2048]);
  assert.equal(cost.computed, 186 * 8192);
});

test('small blocks, as drawn: the diagonal is partial, the rest full', () => {
  const pattern = model.densePattern(8, 8, true);
  const blocks = model.toBlocks(pattern, { rows: 4, keys: 4 });
  assert.deepEqual(blocks.full, { offsets: [0, 0, 1], blocks: [0] });
  assert.deepEqual(blocks.partial, { offsets: [0, 1, 2], blocks: [0, 1] });
  assert.deepEqual(blocks.masks.slice(0, 4), [1n, 3n, 7n, 15n]);
  assert.deepEqual(blocks.order, [1, 0]);
});

test('every pattern of the menu builds with its first values', () => {
  for (const choice of model.PATTERNS) {
    const values = Object.fromEntries(choice.sliders.map((s) => [s.name, s.value]));
    const pattern = choice.build(32, values, { rows: 8, keys: 4 });
    assert.equal(pattern.offsets.length, 33, choice.name);
    assert.ok(pattern.indices.length > 0, choice.name);
  }
});
