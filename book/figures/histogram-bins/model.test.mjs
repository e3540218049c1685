// The model of a histogram's additions: what must hold for each version, and the numbers
// of the lesson. There is no C++ side: passes are those of shared memory's banks, as
// <MemoryAccess /> counts them, except that equal lanes may follow one another.
import assert from 'node:assert/strict';
import test from 'node:test';

import * as memory from '../memory-access/model.js';
import * as m from './model.js';

const CASES = m.WAYS.flatMap(({ id }) => m.KINDS.flatMap((kind) =>
  [true, false].flatMap((atOnce) => [m.SMALL, m.REAL].map((shape) => {
    const values = m.valuesOf(kind, shape.warps * shape.lanes, shape.bins);
    return { id, kind, atOnce, shape, values, ...m.run(id, shape, values, atOnce) };
  }))));

test('each value is counted once, in its bin, whatever the version', () => {
  for (const { id, shape, values, pass, passes, globalAdds } of CASES) {
    for (const bin of values)
      assert.ok(Number.isInteger(bin) && bin >= 0 && bin < shape.bins);
    assert.equal(Math.max(...pass), passes);
    assert.equal(Math.min(...pass), 1);
    const words = m.countsAfter(id, shape, values, pass, passes);
    const counts = Array(shape.bins).fill(0);
    words.forEach((count, word) => {
      const bin = id === 'v6' ? Math.floor(word / shape.lanes) : word % shape.bins;
      counts[bin] += count;
    });
    values.forEach((bin) => (counts[bin] -= 1));
    assert.ok(counts.every((rest) => rest === 0));
    assert.equal(globalAdds, id === 'v1' ? values.length : new Set(values).size);
    assert.ok(m.countsAfter(id, shape, values, pass, 0).every((count) => count === 0));
  }
});

test('in a pass a bank serves one word, and one warp has its turn', () => {
  for (const { id, atOnce, shape, values, pass, passes } of CASES) {
    for (let now = 1; now <= passes; ++now) {
      const served = values.flatMap((bin, i) => {
        const warp = Math.floor(i / shape.lanes);
        const word = m.wordOf(id, shape, warp, i % shape.lanes, bin);
        return pass[i] === now ? [{ warp, word }] : [];
      });
      assert.ok(served.length > 0, 'a pass for nothing');
      const words = served.map(({ word }) => word);
      const different = new Set(words).size;
      if (id === 'v1' || !atOnce) assert.equal(different, words.length);
      if (id === 'v1') continue;
      assert.equal(new Set(words.map((word) => word % shape.banks)).size, different);
      assert.equal(new Set(served.map(({ warp }) => warp)).size, 1);
    }
  }
});

test('with equal lanes at once, passes are wavefronts of a load of these words', () => {
  for (const { id, atOnce, shape, values, perWarp } of CASES) {
    if (id === 'v1' || !atOnce || shape !== m.REAL) continue;
    perWarp.forEach((passes, warp) => {
      const address = values.slice(warp * 32, warp * 32 + 32)
        .map((bin, lane) => 4 * m.wordOf(id, shape, warp, lane, bin));
      assert.equal(passes, memory.wavefrontsOf({ bytes: 4, address }).ways);
    });
  }
});

test('the numbers of the lesson', () => {
  for (const { ways, atOnce, means } of m.AVERAGES)
    for (const way of ways)
      m.KINDS.forEach((kind, k) => {
        const mean = m.average(way, kind, atOnce);
        const close = Math.abs(mean / means[k] - 1) < 0.02;
        assert.ok(close, `${way} ${kind} ${atOnce}: ${mean}, not ${means[k]}`);
      });
});

test('a copy a lane never waits; a copy a warp waits as one for all', () => {
  for (const { id, shape, passes } of CASES)
    if (id === 'v6') assert.equal(passes, shape.warps);
  const of = (way) => CASES.filter(({ id }) => id === way).map(({ passes }) => passes);
  assert.deepEqual(of('v3'), of('v2'));
});
