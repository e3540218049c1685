// The model of the schedules: what must come before what, what two units cannot do at
// once, and totals that can be found by hand. There is no C++ side: durations are
// inputs, and the order of things is that of day 6's chapter 08, v1 to v4.
import assert from 'node:assert/strict';
import test from 'node:test';

import { Counter, Engine, Signal } from './engine.js';
import {
  GROUPS,
  SCHEDULES,
  bound,
  productCycles,
  tensorShare,
  timeline,
} from './model.js';

const DURATIONS = [
  { load: 300, qk: 512, softmax: 512, pv: 512 },
  { load: 0, qk: 512, softmax: 900, pv: 512 },
  { load: 1500, qk: 512, softmax: 512, pv: 512 },
  { load: 100, qk: 300, softmax: 2000, pv: 700 },
  { load: 250, qk: 1000, softmax: 50, pv: 100 },
  { load: 300, qk: 512, softmax: 1000, pv: 512, together: 1.25 },
  { load: 300, qk: 512, softmax: 1600, pv: 512, together: 1 },
  { load: 300, qk: 512, softmax: 1200, pv: 512, together: 1.25, apart: 600 },
];
const IDS = SCHEDULES.map(({ id }) => id);

/** Many timelines: { id, blocks, durations, stages, bars, total }. */
const CASES = [];
for (const id of IDS) {
  for (const durations of DURATIONS) {
    for (const blocks of [1, 2, 3, 8]) {
      for (const stages of id === 'v1' ? [2] : [1, 2, 4]) {
        const line = timeline(id, blocks, durations, stages);
        CASES.push({ id, blocks, durations, stages, ...line });
      }
    }
  }
}
const forAll = (check) => CASES.forEach(check);
const near = (a, b) => Math.abs(a - b) < 1e-3;

test('every tile is copied once, and every product and softmax is done once', () => {
  forAll(({ id, blocks, bars }) => {
    const count = (kind) => bars.filter((bar) => bar.kind === kind).length;
    assert.equal(count('K'), blocks, id);
    assert.equal(count('V'), blocks, id);
    for (const kind of ['QK', 'softmax', 'PV']) {
      assert.equal(count(kind), GROUPS * blocks, `${id} ${kind}`);
    }
  });
});

test('what needs something begins after it', () => {
  forAll(({ id, blocks, bars }) => {
    const find = (kind, owner, block) =>
      bars.find((b) => b.kind === kind && b.owner === owner && b.block === block);
    for (let block = 0; block < blocks; ++block) {
      for (let group = 0; group < GROUPS; ++group) {
        const qk = find('QK', group, block);
        const softmax = find('softmax', group, block);
        const pv = find('PV', group, block);
        const where = `${id} block ${block}`;
        assert.ok(qk.begin >= find('K', 'producer', block).end - 1e-3, where);
        assert.ok(softmax.begin >= qk.end - 1e-3, where);
        assert.ok(pv.begin >= softmax.end - 1e-3, where);
        assert.ok(pv.begin >= find('V', 'producer', block).end - 1e-3, where);
      }
    }
  });
});

test('a buffer is filled again only when both warpgroups are done with it', () => {
  forAll(({ id, blocks, stages, bars }) => {
    for (const [tile, user] of [
      ['K', 'QK'],
      ['V', 'PV'],
    ]) {
      for (let block = stages; block < blocks; ++block) {
        const copy = bars.find((b) => b.kind === tile && b.block === block);
        const users = bars.filter((b) => b.kind === user && b.block === block - stages);
        const free = Math.max(...users.map((b) => b.end));
        assert.ok(copy.begin >= free - 1e-3, `${id} ${tile}${block}`);
      }
    }
  });
});

test('a unit gives no more than it has', () => {
  forAll(({ id, durations, bars, total }) => {
    const speed = { copy: 1, tensor: 1, softmax: 2 / (durations.together ?? 2) };
    for (const unit of ['copy', 'tensor', 'softmax']) {
      const work = bars.filter((b) => b.unit === unit).reduce((s, b) => s + b.work, 0);
      assert.ok(work <= speed[unit] * total + 1e-3, `${id} ${unit}`);
      for (const bar of bars.filter((b) => b.unit === unit)) {
        assert.ok(bar.end - bar.begin >= bar.work - 1e-3);
      }
    }
  });
});

test('no schedule beats the bound', () => {
  forAll(({ blocks, durations, total }) => {
    assert.ok(total >= bound(blocks, durations) - 1e-3);
  });
});

test('without turns, two warpgroups do the same at the same time', () => {
  const d = { load: 100, qk: 512, softmax: 600, pv: 400 };
  const { bars, total } = timeline('v2', 4, d);
  assert.ok(near(total, d.load + 4 * GROUPS * (d.qk + d.softmax + d.pv)));
  for (const bar of bars.filter((b) => b.owner === 0)) {
    const twin = bars.find(
      (b) => b.owner === 1 && b.kind === bar.kind && b.block === bar.block,
    );
    assert.ok(near(twin.begin, bar.begin) && near(twin.end, bar.end));
  }
});

test('with turns, one softmax is under the products of the other warpgroup', () => {
  // Softmax is as long as a turn: the tensor cores never wait, but at both ends.
  const d = { load: 0, qk: 500, softmax: 1000, pv: 500 };
  const blocks = 10;
  const { total } = timeline('v3', blocks, d);
  assert.ok(total - productCycles(blocks, d) <= 2 * (d.qk + d.softmax), `${total}`);
  const serial = timeline('v2', blocks, d).total;
  assert.ok(serial / total > 1.8, `${serial} ${total}`);
});

test('warpgroups that begin apart stay apart, unless a barrier keeps them together', () => {
  const d = { load: 0, qk: 500, softmax: 1000, pv: 500 };
  const blocks = 10;
  const late = { ...d, apart: 1000 };
  // What v3's turns make sure of, v2 may have by luck.
  const turns = timeline('v3', blocks, d).total;
  assert.ok(Math.abs(timeline('v2', blocks, late).total - turns) <= late.apart);
  assert.ok(timeline('v2', blocks, d).total > 1.8 * turns);
  // v1 loses the head start at once, and no more.
  const meeting = timeline('v1', blocks, d).total;
  assert.ok(near(timeline('v1', blocks, late).total, meeting + late.apart));
});

test('the overlap helps where a softmax is longer than a turn', () => {
  const d = { load: 0, qk: 500, softmax: 1300, pv: 500, together: 1, apart: 1000 };
  const blocks = 100;
  const cycles = (id, durations) => timeline(id, blocks, durations).total / blocks;
  // A round of v3 is a turn and a softmax; of v4, the products of both warpgroups.
  assert.ok(Math.abs(cycles('v3', d) - 2300) < 30, `${cycles('v3', d)}`);
  assert.ok(Math.abs(cycles('v4', d) - 2000) < 30, `${cycles('v4', d)}`);
  // Without turns nobody sees to it that they are apart. In step, both scores are
  // followed by both softmaxes, with both outputs beneath.
  const inStep = { ...d, apart: 0, together: 2 };
  assert.ok(Math.abs(cycles('v4', inStep) - (1000 + 2600)) < 30);
  assert.ok(cycles('v4', inStep) > cycles('v3', inStep));
});

test('slow copies are what everything waits for', () => {
  const d = { load: 5000, qk: 500, softmax: 500, pv: 500 };
  for (const id of ['v2', 'v3', 'v4']) {
    const { total } = timeline(id, 8, d);
    assert.ok(total < 1.1 * bound(8, d), id);
  }
  assert.ok(tensorShare('v4', 8, d) < 0.25);
});

test('a later version is never slower in the cases that the figure begins with', () => {
  const totals = IDS.map((id) => timeline(id, 4, DURATIONS[7]).total);
  assert.deepEqual(
    totals,
    [...totals].sort((a, b) => b - a),
  );
});

test('the engine shares units, keeps orders and sees a deadlock', () => {
  const engine = new Engine();
  const job = { unit: 'u', order: 0, work: 10 };
  function* two() {
    engine.start({ ...job, owner: 'a', name: 1 });
    engine.start({ ...job, owner: 'a', name: 2 });
    yield engine.start({ ...job, owner: 'b', name: 3 });
  }
  engine.run(two());
  const ends = Object.fromEntries(engine.bars.map(({ name, end }) => [name, end]));
  assert.deepEqual(ends, { 1: 20, 2: 30, 3: 20 });
  function* forever(on) {
    yield on;
  }
  assert.throws(() => new Engine().run(forever(new Signal())), /wait for each other/);
  assert.throws(() => new Engine().run(forever(new Counter())), /wait for each other/);
});
