/**
 * hash-buckets/model.js: the table of day 3's chapter 08, with as many buckets and
 * places as wanted: hash, search and claim as in dynamic_embedding.h, claims.cuh and
 * v1. The threads of a call go on together, step by step: all of them look, then all
 * of them compare and swap, one after the other. On a GPU the order may be another one.
 */

const MASK = 0xffffffffffffffffn;

/** hash_of(): 64 bits. @param {bigint} key */
export function hashOf(key) {
  let hash = key ^ (key >> 33n);
  hash = (hash * 0xff51afd7ed558ccdn) & MASK;
  hash ^= hash >> 33n;
  hash = (hash * 0xc4ceb9fe1a85ec53n) & MASK;
  return hash ^ (hash >> 33n);
}

/** home_of(): the bucket of a key, from the upper half of its hash. */
export const homeOf = (key, buckets) =>
  Number(((hashOf(BigInt(key)) >> 32n) * BigInt(buckets)) >> 32n);

/** digest_of(): 0 to 254, from the lower half. */
export const digestOf = (key) => Number((hashOf(BigInt(key)) & 0xffffffffn) % 255n);

/** What may not leave is worth this. */
export const KEPT = Infinity;

/**
 * @typedef {object} Slot
 * @property {?number} key  null: the slot is free
 * @property {number} clock  the call that used it last; 0: free
 * @property {boolean} isNew  that call gave the slot to a new key
 * @property {number} count  uses, for lfu alone
 * @typedef {{buckets: number, places: number, window: number,
 *   policy: 'none' | 'lru' | 'lfu', clock: number, slots: Slot[]}} Table
 */

/** @returns {Table} an empty one */
export function emptyTable({ buckets, places, window, policy }) {
  const slots = Array.from({ length: buckets * places }, () =>
    ({ key: null, clock: 0, isNew: false, count: 0 }));
  return { buckets, places, window, policy, clock: 0, slots };
}

/** The slots of a key's window, in the order of the search. */
export function windowOf({ buckets, places, window }, key) {
  const home = homeOf(key, buckets);
  return Array.from({ length: window * places }, (_, i) =>
    ((home + Math.floor(i / places)) % buckets) * places + (i % places));
}

/** SearchV1: the slot of a key, or null, and the slots whose keys were read. */
export function search(table, key) {
  const reads = [];
  for (const slot of windowOf(table, key)) {
    reads.push(slot);
    if (table.slots[slot].key === key) return { slot, reads };
    if (table.slots[slot].key === null) break;
  }
  return { slot: null, reads };
}

/** Seen::worth(): the least leaves first. A free slot is worth 0. */
export function worthOf({ policy, clock: now }, { clock, count }) {
  if (clock === 0) return 0;
  if (policy === 'none' || clock >= now) return KEPT;
  return count * 2 ** 32 + clock;
}

/**
 * What a thread of claim_v1() sees: the slot that this call has given to its key, else
 * the one that it wants, of least worth and the first of equals, else none.
 * @returns {{twin: boolean, slot: ?number, reads: number[]}}
 */
export function choose(table, key) {
  const reads = [];
  let slot = null;
  let least = KEPT;
  for (const at of windowOf(table, key)) {
    const seen = table.slots[at];
    reads.push(at);
    if (seen.isNew && seen.clock === table.clock && seen.key === key)
      return { twin: true, slot: at, reads };
    const worth = worthOf(table, seen);
    if (worth >= least) continue;
    slot = at;
    least = worth;
    if (worth === 0) break;
  }
  return { twin: false, slot, reads };
}

/**
 * @typedef {object} Thread
 * @property {number} key
 * @property {?number} slot
 * @property {number[]} reads  slots that it has looked at in this step
 * @property {'found' | 'missing' | 'wants' | 'twin' | 'refused' | 'won' | 'lost' |
 *   'done'} doing
 * @property {?number} left  the key that had to leave for it
 * @typedef {{call: number, phase: 'start' | 'find' | 'look' | 'swap' | 'rows',
 *   threads: Thread[], table: Table}} Frame  after the step
 */

/**
 * table_insert_or_find() for the keys of a call. The table is changed.
 * @returns {Frame[]} a frame for each step
 */
export function insertOrFind(table, keys) {
  const frames = [];
  const countUse = (slot) => {
    if (table.policy === 'lfu') table.slots[slot].count += 1;
  };
  const threads = keys.map((key) => ({ key, slot: null, reads: [], left: null }));
  const remember = (phase) => frames.push({
    call: table.clock,
    phase,
    threads: threads.map((thread) => ({ ...thread })),
    table: { ...table, slots: table.slots.map((slot) => ({ ...slot })) },
  });

  // First launch: what is there is marked, so that nobody takes its slot.
  table.clock += 1;
  for (const thread of threads) Object.assign(thread, search(table, thread.key));
  for (const thread of threads) {
    thread.doing = thread.slot === null ? 'missing' : 'found';
    if (thread.slot === null) continue;
    const slot = table.slots[thread.slot];
    if (slot.clock !== table.clock)
      Object.assign(slot, { clock: table.clock, isNew: false });
    countUse(thread.slot);
  }
  remember('find');

  // Second launch: a thread without a slot looks for one, tries to claim it, and looks
  // again if it has lost.
  const pending = new Set(threads.filter(({ slot }) => slot === null));
  while (pending.size > 0) {
    for (const thread of threads) {
      thread.reads = [];
      thread.left = null;
      if (!pending.has(thread)) {
        thread.doing = thread.doing === 'refused' ? 'refused' : 'done';
        continue;
      }
      const { twin, slot, reads } = choose(table, thread.key);
      Object.assign(thread, { reads, slot });
      thread.doing = twin ? 'twin' : slot === null ? 'refused' : 'wants';
      if (twin) countUse(slot);
      if (twin || slot === null) pending.delete(thread);
    }
    remember('look');
    if (pending.size === 0) break;
    const seen = new Map([...pending].map((thread) =>
      [thread, { ...table.slots[thread.slot] }]));
    for (const thread of threads) {
      thread.reads = [];
      if (!pending.has(thread)) {
        if (thread.doing !== 'refused') thread.doing = 'done';
        continue;
      }
      const slot = table.slots[thread.slot];
      const before = seen.get(thread);
      if (slot.clock !== before.clock || slot.isNew !== before.isNew) {
        thread.doing = 'lost';
        continue;
      }
      thread.left = slot.key;
      const uses = table.policy === 'lfu' ? slot.count + 1 - before.count : 0;
      Object.assign(slot,
        { key: thread.key, clock: table.clock, isNew: true, count: uses });
      thread.doing = 'won';
      pending.delete(thread);
    }
    remember('swap');
  }
  for (const thread of threads) {
    thread.reads = [];
    if (thread.doing !== 'refused') thread.doing = 'done';
  }
  remember('rows');
  return frames;
}

/** The calls of the figure, for a table of four buckets of four places. */
export const CALLS = [
  [12, 14, 12, 21, 10],
  [20, 22, 11, 12, 20],
  [26, 13, 14, 28],
  [42, 12],
  [22, 20],
];
export const SHAPE = { buckets: 4, places: 4 };

/** All steps of the calls, from an empty table on. */
export function story(window, policy, calls = CALLS) {
  const table = emptyTable({ ...SHAPE, window, policy });
  const slots = table.slots.map((slot) => ({ ...slot }));
  const start = { call: 0, phase: 'start', threads: [], table: { ...table, slots } };
  return [start, ...calls.flatMap((keys) => insertOrFind(table, keys))];
}
