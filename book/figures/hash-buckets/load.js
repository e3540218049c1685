/**
 * hash-buckets/load.js: what a search costs while a table fills up: buckets of 14
 * places as in the chapter, keys 1, 2, 3, ... one after the other, none of which has to
 * leave.
 */
import { homeOf } from './model.js';

export const PLACES = 14;
export const BUCKETS = 1024;
const SLOTS = BUCKETS * PLACES;

let homes = null;
/** The home buckets of as many keys as there are slots; hashed once. */
function allHomes() {
  homes ??= Uint16Array.from({ length: SLOTS }, (_, i) => homeOf(i + 1, BUCKETS));
  return homes;
}

/**
 * @typedef {object} Cost
 * @property {number} keys  that were read, on average, by v1
 * @property {number} buckets  that were looked into: lines of 128 bytes
 * @typedef {object} Load
 * @property {number} load  keys that came, for each slot
 * @property {Cost} hit   a key that is there
 * @property {Cost} miss  a key that is not there: any home is equally likely
 * @property {number} full  the share of buckets that are full
 * @property {number} without  the share of the keys that found no place
 */

/** Reads of a search that finds nothing, from bucket `home` on. */
function miss(filled, home, window) {
  for (let step = 0; step < window; ++step) {
    const keys = filled[(home + step) % BUCKETS];
    if (keys < PLACES) return { keys: step * PLACES + keys + 1, buckets: step + 1 };
  }
  return { keys: window * PLACES, buckets: window };
}

/**
 * The table at loads of 0 to 100 %, in steps of 5.
 * @param {number} window
 * @returns {Load[]} 21 of them; without a key, a hit costs nothing
 */
export function loads(window) {
  const filled = new Uint8Array(BUCKETS);
  const all = [];
  let came = 0;
  let there = 0;
  let keys = 0;
  let buckets = 0;
  for (let percent = 0; percent <= 100; percent += 5) {
    for (; came < Math.round((SLOTS * percent) / 100); ++came) {
      const home = allHomes()[came];
      for (let step = 0; step < window; ++step) {
        const bucket = (home + step) % BUCKETS;
        if (filled[bucket] === PLACES) continue;
        filled[bucket] += 1;
        keys += step * PLACES + filled[bucket];
        buckets += step + 1;
        there += 1;
        break;
      }
    }
    const misses = Array.from(filled, (_, home) => miss(filled, home, window));
    const mean = (of) => misses.reduce((sum, each) => sum + of(each), 0) / BUCKETS;
    all.push({
      load: percent / 100,
      hit: { keys: there ? keys / there : 0, buckets: there ? buckets / there : 0 },
      miss: { keys: mean((m) => m.keys), buckets: mean((m) => m.buckets) },
      full: filled.filter((n) => n === PLACES).length / BUCKETS,
      without: came ? 1 - there / came : 0,
    });
  }
  return all;
}
