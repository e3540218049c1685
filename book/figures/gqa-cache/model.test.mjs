// The model against wb::AttentionShape, wb::PagedCache and the reference of attention
// (book/truth/gqa-cache.cpp).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import {
  bytesPaged,
  bytesPerSequence,
  bytesPerStep,
  bytesPerToken,
  flopPerStep,
  groupSize,
  kvHeadChoices,
  kvHeadOf,
  nameOf,
  sequencesThatFit,
  showBytes,
} from './model.js';

const truth = JSON.parse(
  readFileSync(new URL('../../data/truth/gqa-cache.json', import.meta.url)),
);

test('a query head reads the key/value head that the reference reads', () => {
  assert.ok(truth.sharing.length >= 5);
  for (const { queryHeads, kvHeads, kvHeadOf: expected } of truth.sharing) {
    const model = { queryHeads, kvHeads };
    assert.deepEqual(
      Array.from({ length: queryHeads }, (_, head) => kvHeadOf(model, head)),
      expected,
    );
  }
});

test('a cache has the bytes of AttentionShape::kv_elements', () => {
  assert.ok(truth.caches.length >= 5);
  for (const { model, tokens, batch, bytes, flop } of truth.caches) {
    assert.equal(bytesPerSequence(model, tokens) * batch, bytes);
    assert.equal(bytesPerStep(model, tokens, batch).once, bytes);
    assert.equal(flopPerStep(model, tokens, batch), flop);
  }
});

test('in pages it has the bytes of PagedCache::elements', () => {
  for (const { model, tokens, batch, pageSize, pagedBytes } of truth.caches) {
    assert.equal(bytesPaged(model, tokens, pageSize) * batch, pagedBytes);
  }
});

test('as many sequences fit as can be added one by one', () => {
  for (const { model, tokens, fit } of truth.caches) {
    assert.equal(sequencesThatFit(model, tokens, 80e9), fit);
  }
});

test("the lessons' numbers", () => {
  const model = { layers: 32, queryHeads: 32, kvHeads: 8, headDim: 128, typeBytes: 2 };
  assert.equal(showBytes(bytesPerToken(model)), '131 KB');
  assert.equal(showBytes(bytesPerSequence(model, 8192)), '1.07 GB');
  const layer = { ...model, layers: 1, typeBytes: 4 };
  const { once, perHead } = bytesPerStep(layer, 4096, 16);
  assert.equal(showBytes(once), '537 MB');
  assert.equal(showBytes(perHead), '2.15 GB');
  assert.equal(flopPerStep(layer, 4096, 16), 1073741824);
});

test('names and groups', () => {
  assert.deepEqual(kvHeadChoices(8), [1, 2, 4, 8]);
  assert.deepEqual(kvHeadChoices(12), [1, 2, 3, 4, 6, 12]);
  assert.equal(groupSize({ queryHeads: 32, kvHeads: 8 }), 4);
  assert.equal(nameOf({ queryHeads: 8, kvHeads: 8 }), 'MHA');
  assert.equal(nameOf({ queryHeads: 8, kvHeads: 2 }), 'GQA');
  assert.equal(nameOf({ queryHeads: 8, kvHeads: 1 }), 'MQA');
});

test('no memory is left for a sequence that is too long', () => {
  const model = { layers: 32, kvHeads: 32, headDim: 128, typeBytes: 4 };
  assert.equal(sequencesThatFit(model, 1 << 20, 80e9), 0);
  assert.equal(sequencesThatFit(model, 1024, -1), 0);
});
