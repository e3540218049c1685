// The model against what the simulator's checker counts when the solutions of day 6,
// chapters 01 and 02, run (book/truth/flash-tiles.cu).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import {
  blocks,
  flashTraffic,
  flop,
  leastTraffic,
  naiveTraffic,
  sharedBytes,
  sharedLimit,
  showBytes,
  showKiB,
  tileKind,
  visibleKeys,
  walkAt,
  walkLength,
} from './model.js';

const truth = JSON.parse(
  readFileSync(new URL('../../data/truth/flash-tiles.json', import.meta.url)),
);

test('flash attention moves the bytes that the checker counts', () => {
  assert.ok(truth.flash.length >= 6);
  for (const { shape, read, written } of truth.flash) {
    const traffic = flashTraffic(shape);
    assert.equal(traffic.read, read, JSON.stringify(shape));
    assert.equal(traffic.written, written, JSON.stringify(shape));
  }
});

test('naive attention moves the bytes that the checker counts', () => {
  assert.ok(truth.naive.length >= 4);
  for (const { shape, products, softmax } of truth.naive) {
    const traffic = naiveTraffic(shape);
    const { scores, output } = traffic;
    assert.deepEqual(traffic.softmax, softmax, JSON.stringify(shape));
    assert.equal(scores.read + output.read, products.read, JSON.stringify(shape));
    assert.equal(scores.written + output.written, products.written);
    assert.equal(traffic.read, products.read + softmax.read);
    assert.equal(traffic.written, products.written + softmax.written);
  }
});

test('shared memory is that of Tile::kBytes', () => {
  assert.ok(truth.tiles.length >= 10);
  for (const { shape, bytes } of truth.tiles) {
    assert.equal(sharedBytes(shape).all, bytes, JSON.stringify(shape));
  }
});

test('masks and FLOP are those of wb/attention.h', () => {
  for (const { N, M, causal, visible } of truth.masks) {
    assert.deepEqual(
      visible,
      visible.map((_, row) => visibleKeys(N, M, causal, row)),
    );
  }
  for (const { shape, flop: expected } of truth.flash) {
    assert.equal(flop(shape), expected);
  }
});

test('the walk ends with all bytes of the kernel', () => {
  for (const { shape, read, written } of truth.flash) {
    const end = walkAt(shape, walkLength(shape));
    // A block without a visible key still reads its q and writes zeros.
    const idle = blocks(shape).filter((block) => block.steps === 0);
    const rows = idle.reduce((sum, block) => sum + block.rows, 0);
    assert.equal(end.read + rows * shape.D * 4, read);
    assert.equal(end.written + rows * shape.D * 4, written);
  }
});

test('the walk starts with nothing, and its first tile brings q, k and v', () => {
  const shape = { N: 256, M: 256, D: 64, BM: 128, BN: 64, causal: false };
  assert.deepEqual(walkAt(shape, 0), { block: -1, tile: -1, read: 0, written: 0 });
  const one = walkAt(shape, 1);
  assert.deepEqual(one, {
    block: 0,
    tile: 0,
    read: (128 + 2 * 64) * 64 * 4,
    written: 0,
  });
  assert.equal(walkAt(shape, 4).written, 128 * 64 * 4);
  assert.deepEqual([walkAt(shape, 5).block, walkAt(shape, 5).tile], [1, 0]);
});

test('causal tiles are whole, masked or skipped; only these are left out', () => {
  const shape = { N: 256, M: 256, D: 64, BM: 128, BN: 64, causal: true };
  const kinds = [0, 1].map((b) => [0, 1, 2, 3].map((t) => tileKind(shape, b, t)));
  assert.deepEqual(kinds, [
    ['masked', 'masked', 'skipped', 'skipped'],
    ['whole', 'whole', 'masked', 'masked'],
  ]);
  blocks(shape).forEach((block, b) => {
    for (let tile = 0; tile < block.tiles; ++tile) {
      assert.equal(tileKind(shape, b, tile) === 'skipped', tile >= block.steps);
    }
  });
});

test("the lesson's numbers: 67 MB of tensors beside 4.29 GB of scores", () => {
  const shape = { N: 4096, M: 4096, D: 64, causal: false };
  assert.equal(showBytes(64 * 4096 * 64 * 4), '67.1 MB');
  assert.equal(showBytes(64 * naiveTraffic(shape).matrix), '4.29 GB');
  assert.equal(showBytes(64 * leastTraffic(shape)), '268 MB');
  const { softmax, matrix } = naiveTraffic(shape);
  assert.equal(softmax.read + softmax.written, 5 * matrix);
});

test('limits of shared memory', () => {
  assert.equal(sharedLimit(48 * 1024).name, 'without asking');
  assert.equal(sharedLimit(48 * 1024 + 1).name, 'sm_86, sm_89, sm_120');
  assert.equal(sharedLimit(sharedBytes({ D: 256, BM: 128, BN: 32 }).all).name,
    'sm_90, sm_100');
  assert.equal(sharedLimit(228 * 1024), null);
  assert.equal(showKiB(sharedBytes({ D: 64, BM: 128, BN: 64 }).all), '101 KiB');
});
