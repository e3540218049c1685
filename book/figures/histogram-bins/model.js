/**
 * histogram-bins/model.js: which additions of a histogram wait for each other. The
 * versions are those of day 3's chapter 06; what they cost is counted in passes, in
 * each of which a bank of shared memory serves one word.
 */

/** The block that is drawn: fewer lanes, banks and bins than a real one. */
export const SMALL = { warps: 4, lanes: 8, banks: 8, bins: 16 };
/** The block of the chapter: 256 threads and 256 bins. */
export const REAL = { warps: 8, lanes: 32, banks: 32, bins: 256 };

export const WAYS = [
  { id: 'v1', name: 'v1: counts in global memory' },
  { id: 'v2', name: 'v2: bins in shared memory' },
  { id: 'v3', name: 'v3: a copy a warp' },
  { id: 'v6', name: 'v6: a copy a lane' },
];
export const KINDS = ['uniform', 'skewed', 'constant'];

/** xorshift32: numbers in [0, 1), the same each time. */
function* randoms(seed) {
  let x = seed;
  for (;;) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    yield (x >>> 0) / 2 ** 32;
  }
}

/** `count` values in [0, bins), drawn as in the chapter's tests and benchmark. */
export function valuesOf(kind, count, bins, seed = 2463534242) {
  const random = randoms(seed);
  return Array.from({ length: count }, () => {
    const u = random.next().value;
    if (kind === 'constant') return 3;
    if (kind === 'uniform') return Math.floor(u * bins);
    // Bin b has a share of nearly 1 / ((b + 1) log(bins)).
    return Math.min(Math.floor((bins + 1) ** u - 1), bins - 1);
  });
}

/** The word that a lane of a warp adds to, as a number: words follow each other. */
export function wordOf(way, { lanes, bins }, warp, lane, bin) {
  if (way === 'v3') return warp * bins + bin;
  if (way === 'v6') return bin * lanes + lane;
  return bin;
}

/** How many words of counts a block has. */
export function wordsOf(way, { warps, lanes, bins }) {
  return { v1: bins, v2: bins, v3: warps * bins, v6: lanes * bins }[way];
}

/**
 * In which pass of its warp each lane is served: the words of a bank follow each other
 * in the order of the first lane that wants them. Lanes that want the same word are
 * served together if `atOnce`, else one by one.
 * @param {number[]} words  of the lanes
 * @returns {number[]} from 0 on
 */
export function passesOf(words, banks, atOnce) {
  const free = Array(banks).fill(0); // the next pass of each bank
  const served = new Map();
  return words.map((word) => {
    if (atOnce && served.has(word)) return served.get(word);
    const pass = free[word % banks]++;
    served.set(word, pass);
    return pass;
  });
}

/**
 * The passes of a block. In global memory all warps add at once, and each count takes
 * one addition a pass; in shared memory warps take turns.
 * @param {number[]} values  of the block, those of warp 0 first
 * @returns {{ pass: number[], passes: number, perWarp: number[], globalAdds: number }}
 *   pass: for each value, from 1 on; globalAdds: those of the block to global memory
 */
export function run(way, shape, values, atOnce) {
  const { warps, lanes, banks, bins } = shape;
  const used = new Set(values).size;
  if (way === 'v1') {
    const queued = Array(bins).fill(0);
    const pass = values.map((bin) => ++queued[bin]);
    const passes = Math.max(...queued);
    return { pass, passes, perWarp: [], globalAdds: values.length };
  }
  const pass = [];
  const perWarp = [];
  let before = 0;
  for (let warp = 0; warp < warps; ++warp) {
    const words = values.slice(warp * lanes, (warp + 1) * lanes)
      .map((bin, lane) => wordOf(way, shape, warp, lane, bin));
    const own = passesOf(words, banks, atOnce);
    pass.push(...own.map((p) => before + p + 1));
    perWarp.push(Math.max(...own) + 1);
    before += perWarp.at(-1);
  }
  return { pass, passes: before, perWarp, globalAdds: used };
}

/** The counts of all words after some passes. */
export function countsAfter(way, shape, values, pass, done) {
  const counts = Array(wordsOf(way, shape)).fill(0);
  values.forEach((bin, i) => {
    if (pass[i] > done) return;
    const warp = Math.floor(i / shape.lanes);
    counts[wordOf(way, shape, warp, i % shape.lanes, bin)] += 1;
  });
  return counts;
}

/**
 * The block of the chapter, on average over many blocks: how many additions the most
 * wanted count gets in v1, how many passes a warp takes in the others.
 * @returns {number}
 */
export function average(way, kind, atOnce, blocks = 200) {
  const { warps, lanes, bins } = REAL;
  const count = warps * lanes;
  const values = valuesOf(kind, blocks * count, bins);
  let sum = 0;
  for (let b = 0; b < blocks; ++b) {
    const block = values.slice(b * count, (b + 1) * count);
    const { passes } = run(way, REAL, block, atOnce);
    sum += way === 'v1' ? passes : passes / warps;
  }
  return sum / blocks;
}

/** average() of each row for KINDS, rounded; the tests compute it again. */
export const AVERAGES = [
  { ways: ['v1'], atOnce: null, means: [4.6, 32, 256] },
  { ways: ['v2', 'v3'], atOnce: true, means: [3.2, 2.5, 1] },
  { ways: ['v2', 'v3'], atOnce: false, means: [3.5, 5.2, 32] },
  { ways: ['v6'], atOnce: null, means: [1, 1, 1] },
];
