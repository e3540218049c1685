// The model of the hash table against table_insert_or_find(), run in the simulator
// (book/truth/hash-buckets.cpp), and against what must hold for calls of many keys.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { BUCKETS, PLACES, loads } from './load.js';
import * as m from './model.js';

const truth = JSON.parse(
  readFileSync(new URL('../../data/truth/hash-buckets.json', import.meta.url)),
);
const POLICIES = ['none', 'lru', 'lfu'];

test('homes and digests are those of the header', () => {
  assert.ok(truth.hashes.length >= 4);
  for (const { key, homes, digest } of truth.hashes) {
    assert.deepEqual([1, 4, 1024, 1000003].map((n) => m.homeOf(key, n)), homes);
    assert.equal(m.digestOf(key), digest);
  }
});

test('each call gets the slot that the solution gives it', () => {
  assert.deepEqual(truth.tables.map(({ policy }) => policy), POLICIES);
  for (const { calls, ...shape } of truth.tables) {
    const table = m.emptyTable(shape);
    assert.ok(calls.length >= 100);
    calls.forEach(([key, times, slot], call) => {
      const { threads } = m.insertOrFind(table, Array(times).fill(key)).at(-1);
      for (const thread of threads)
        assert.equal(thread.slot ?? -1, slot, `${shape.policy}, call ${call}, ${key}`);
    });
  }
});

/** Many calls of many keys, more than there are slots, with the frames of each. */
function* manyCalls(policy, window) {
  const table = m.emptyTable({ buckets: 4, places: 4, window, policy });
  let random = 7;
  for (let call = 0; call < 60; ++call) {
    const keys = Array.from({ length: 1 + (call % 9) }, () => {
      random = (random * 1103515245 + 12345) % 2147483648;
      return 1 + (random % 29);
    });
    const before = table.slots.map((slot) => ({ ...slot }));
    yield { keys, table, before, frames: m.insertOrFind(table, keys) };
  }
}

test('after a call each key has one slot, in its window, and what was used stays', () => {
  for (const policy of POLICIES)
    for (const window of [1, 2, 4]) {
      const uses = new Map();
      for (const { keys, table, before, frames } of manyCalls(policy, window)) {
        const held = table.slots.map(({ key }) => key).filter((key) => key !== null);
        assert.equal(new Set(held).size, held.length, 'a key twice');
        const { threads } = frames.at(-1);
        threads.forEach(({ slot, doing }, i) => {
          assert.equal(slot === null, doing === 'refused');
          if (slot === null) return;
          assert.equal(table.slots[slot].key, keys[i]);
          assert.equal(m.search(table, keys[i]).slot, slot);
        });
        for (let bucket = 0; bucket < 4; ++bucket) {
          const free = table.slots.slice(bucket * 4, bucket * 4 + 4)
            .map(({ key }) => key === null);
          assert.deepEqual(free, [...free].sort(), 'a hole');
        }
        if (policy === 'none')
          before.forEach(({ key }, slot) => {
            if (key !== null) assert.equal(table.slots[slot].key, key);
          });
        // How often a key was used since it came, by a map.
        const there = new Set(held);
        for (const key of uses.keys()) if (!there.has(key)) uses.delete(key);
        for (const key of keys)
          if (there.has(key)) uses.set(key, (uses.get(key) ?? 0) + 1);
        if (policy === 'lfu')
          for (const { key, count } of table.slots)
            if (key !== null) assert.equal(count, uses.get(key), `key ${key}`);
      }
    }
});

test('in each round of claims somebody gets a slot', () => {
  for (const { frames } of manyCalls('lru', 2))
    for (const { phase, threads } of frames)
      if (phase === 'swap') assert.ok(threads.some(({ doing }) => doing === 'won'));
});

test('the story: a race, a twin, a second bucket, and a key that leaves', () => {
  const did = (policy, doing) => m.story(2, policy).flatMap(({ call, threads }) =>
    threads.filter((t) => t.doing === doing).map((t) => `${call}: ${t.key}`));
  assert.deepEqual(did('lru', 'twin'), ['1: 12', '2: 20']);
  assert.ok(did('lru', 'lost').includes('1: 14'));
  const left = (policy) => m.story(2, policy).flatMap(({ threads }) =>
    threads.filter((t) => t.doing === 'won' && t.left !== null).map((t) => t.left));
  assert.deepEqual(left('lru'), [20, 11]);
  assert.deepEqual(left('lfu'), [22, 11]);
  assert.deepEqual(left('none'), []);
  assert.ok(did('none', 'refused').includes('4: 42'));
});

test('what a search costs, against the lesson', () => {
  const poissonFrom = (mean, from) => {
    let term = Math.exp(-mean);
    let below = 0;
    for (let k = 0; k < from; ++k, term *= mean / k) below += term;
    return 1 - below;
  };
  for (const window of [1, 2, 4]) {
    const all = loads(window);
    assert.equal(all.length, 21);
    assert.deepEqual([all[0].miss.keys, all[0].full], [1, 0]);
    all.forEach(({ load, hit, miss, full, without }, k) => {
      assert.ok(hit.keys <= miss.keys && miss.keys <= window * PLACES);
      if (k === 0) return;
      assert.ok(hit.keys >= all[k - 1].hit.keys && full >= all[k - 1].full);
      assert.ok(without * load >= all[k - 1].without * all[k - 1].load);
    });
  }
  // With a window of 1, buckets are full as Poisson says; 1024 of them are a sample.
  for (const load of [0.5, 0.75, 1]) {
    const { full } = loads(1)[Math.round(load * 20)];
    const expected = poissonFrom(load * PLACES, PLACES);
    const deviation = Math.sqrt((expected * (1 - expected)) / BUCKETS);
    assert.ok(Math.abs(full - expected) < 4 * deviation, `${load}: ${full}, ${expected}`);
  }
  // A full bucket: 1 to 14 keys, 7.5 on average.
  assert.ok(Math.abs(loads(1)[20].hit.keys - 7.5) < 0.7);
});
