/**
 * pipeline-timeline/model.js: when the warpgroups of day 6's Hopper attention load,
 * multiply and exponentiate, if each of these took a fixed number of cycles.
 *
 * It is a model, and its durations are the reader's. What it knows:
 *  - the order in which v1 to v4 of chapter 08 do things, and what they wait for;
 *  - tensor cores serve products in the order in which they were started; two
 *    warpgroups that start theirs at the same time get half of the speed each;
 *  - two softmaxes at the same time are `together` times slower each;
 *  - tiles are copied one after the other into a ring of `stages` buffers.
 */
import { Counter, Engine, Signal } from './engine.js';

/** Warpgroups that consume: each has 64 rows of its own. */
export const GROUPS = 2;

/** What the figure offers. */
export const SCHEDULES = [
  { id: 'v1', name: 'v1: one loop' },
  { id: 'v2', name: 'v2: producer and consumers' },
  { id: 'v3', name: 'v3: ping-pong' },
  { id: 'v4', name: 'v4: overlap' },
];

/** Whether the warpgroups take turns on the tensor cores. */
const isInTurns = (schedule) => schedule === 'v3';

/**
 * @typedef {object} Durations
 * @property {number} load     cycles to copy a tile of keys, or of values
 * @property {number} qk       cycles of the tensor cores for S = Q K^T of 64 rows
 * @property {number} softmax  cycles from scores to weights, of 64 rows
 * @property {number} pv       cycles of the tensor cores for O += P V of 64 rows
 * @property {number} [together]  how many times longer a softmax takes while the other
 *   warpgroup is at its own: 1 if they do not disturb each other, 2 if one alone keeps
 *   the units busy
 * @property {number} [apart]  cycles that warpgroup 1 begins after warpgroup 0: nothing
 *   but turns (v3) or a common barrier (v1) decides how far apart they are
 */

/**
 * The timeline of one tile of 128 rows.
 *
 * @param {string} schedule  an id of SCHEDULES
 * @param {number} blocks    of keys, >= 1
 * @param {Durations} durations
 * @param {number} stages    buffers for tiles of keys, and as many for values
 * @returns {{ bars: object[], total: number }} a bar has unit ('copy', 'tensor',
 *   'softmax'), owner ('producer', 0, 1), kind ('K', 'V', 'QK', 'softmax', 'PV'),
 *   block, begin and end
 */
export function timeline(schedule, blocks, durations, stages = 2) {
  const together = durations.together ?? 2;
  const apart = durations.apart ?? 0;
  const engine = new Engine({ softmax: (jobs) => (jobs > 1 ? together : 1) });
  const tiles = { K: [], V: [] };
  for (const which of ['K', 'V']) {
    for (let block = 0; block < blocks; ++block) {
      const signals = { started: new Signal(), full: null, empty: new Signal() };
      tiles[which].push({ ...signals, released: 0 });
    }
  }
  /** Starts the copy of a tile; its buffer is free. */
  function load(which, block) {
    const tile = tiles[which][block];
    const job = { unit: 'copy', owner: 'producer', kind: which, block };
    tile.full = engine.start({ ...job, order: 0, work: durations.load });
    tile.started.isSet = true;
  }
  function release(which, block) {
    const tile = tiles[which][block];
    if (++tile.released === GROUPS) tile.empty.isSet = true;
  }

  // Starting products: without turns, what is started at the same time has the same
  // order; with turns, each turn has its own.
  let turnNumber = 0;
  const turns = [new Counter(1), new Counter(0)];
  const pass = (group) => ++turns[1 - group].count;
  const product = (kind, group, block, order) =>
    engine.start({
      unit: 'tensor',
      owner: group,
      kind,
      block,
      order,
      work: kind === 'QK' ? durations.qk : durations.pv,
    });
  const softmax = (group, block) =>
    engine.start({
      unit: 'softmax',
      owner: group,
      kind: 'softmax',
      block,
      order: 0,
      work: durations.softmax,
    });
  /** What waits for a tile: first for the copy to begin, then for its end. */
  function* arrival(which, block) {
    yield tiles[which][block].started;
    yield tiles[which][block].full;
  }

  function* producer() {
    for (let block = 0; block <= blocks; ++block) {
      if (block < blocks) {
        if (block >= stages) yield tiles.K[block - stages].empty;
        load('K', block);
      }
      if (block > 0) {
        if (block > stages) yield tiles.V[block - 1 - stages].empty;
        load('V', block - 1);
      }
    }
  }

  // v1: all threads meet at the head of the loop, and then the next tiles are copied.
  const meetings = Array.from({ length: blocks }, () => ({
    came: 0,
    all: new Signal(),
  }));
  function* meet(block) {
    if (++meetings[block].came === GROUPS) meetings[block].all.isSet = true;
    yield meetings[block].all;
  }

  /** v1 and v2: one thing after the other. */
  function* inOrder(group) {
    if (schedule === 'v1' && group === 0) {
      load('K', 0);
      load('V', 0);
    }
    for (let block = 0; block < blocks; ++block) {
      if (schedule === 'v1') {
        yield* meet(block);
        if (group === 0 && block + 1 < blocks) {
          load('K', block + 1);
          load('V', block + 1);
        }
      }
      yield* arrival('K', block);
      yield product('QK', group, block, engine.time);
      release('K', block);
      yield softmax(group, block);
      yield* arrival('V', block);
      yield product('PV', group, block, engine.time);
      release('V', block);
    }
  }

  /**
   * v3 and v4: a step is the scores of this block and the output of the one before; in
   * v3 a turn, too.
   */
  function* inSteps(group) {
    const inTurns = isInTurns(schedule);
    const order = () => (inTurns ? turnNumber : engine.time);
    function* turn() {
      if (inTurns) yield turns[group];
      ++turnNumber;
    }
    yield* arrival('K', 0);
    yield* turn();
    const scores = product('QK', group, 0, order());
    pass(group);
    yield scores;
    release('K', 0);
    yield softmax(group, 0);
    for (let block = 1; block < blocks; ++block) {
      yield* arrival('K', block);
      yield* arrival('V', block - 1);
      yield* turn();
      const qk = product('QK', group, block, order());
      const pv = product('PV', group, block - 1, order());
      pass(group);
      yield qk;
      if (schedule === 'v3') yield pv;
      release('K', block);
      if (schedule === 'v3') release('V', block - 1);
      yield softmax(group, block);
      if (schedule === 'v4') {
        yield pv;
        release('V', block - 1);
      }
    }
    yield* arrival('V', blocks - 1);
    ++turnNumber;
    yield product('PV', group, blocks - 1, order());
    release('V', blocks - 1);
  }

  const steps = schedule === 'v3' || schedule === 'v4';
  function* consume(group) {
    if (group === 1 && apart > 0)
      yield engine.start({ unit: 'nothing', owner: 1, order: 0, work: apart });
    yield* (steps ? inSteps : inOrder)(group);
  }
  const producers = schedule === 'v1' ? [] : [producer()];
  engine.run(...producers, ...Array.from({ length: GROUPS }, (_, g) => consume(g)));
  const bars = engine.bars.filter(({ unit }) => unit !== 'nothing');
  return { bars, total: engine.time };
}

/** Cycles that all products take, one after the other. */
export const productCycles = (blocks, { qk, pv }) => GROUPS * blocks * (qk + pv);

/** The share of the time in which the tensor cores have work. */
export function tensorShare(schedule, blocks, durations, stages = 2) {
  const { total } = timeline(schedule, blocks, durations, stages);
  return productCycles(blocks, durations) / total;
}

/** What no schedule can beat: all products, all softmaxes, or all copies. */
export function bound(blocks, durations) {
  return Math.max(
    productCycles(blocks, durations),
    (GROUPS * blocks * durations.softmax * (durations.together ?? 2)) / 2,
    2 * blocks * durations.load,
  );
}
