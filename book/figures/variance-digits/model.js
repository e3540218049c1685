/**
 * variance-digits/model.js: the variance of a row in floats, by the ways of day 3's
 * chapter 04. Each operation is rounded to a float; a GPU keeps a product inside of a
 * sum unrounded (fma), so that its last digits may differ.
 */
import { splitMix64, uniform } from '../sparse-masks/random.js';

const f = Math.fround;
const WARP = 32;
/** Threads of a block: kThreads of the chapter's v1 and v2. */
export const THREADS = 256;

export const WAYS = [
  { id: 'passes', name: 'two passes (v1)' },
  { id: 'squares', name: 'mean of squares minus square of mean' },
  { id: 'welford', name: 'Welford (v2)' },
  { id: 'merged', name: 'two passes a warp, merged (v4)' },
];
export const ROWS = [
  { id: 'noise', name: '2048 elements, variance 0.25' },
  { id: 'four', name: 'm, m + 1, m + 2, m + 3' },
];

/** Distances from the mean, before they are added to it. */
const DISTANCES = {
  four: [0, 1, 2, 3],
  noise: (() => {
    const next = splitMix64(4);
    // The sum of three uniform numbers has the variance 3 / 12: nearly a bell.
    const one = () => uniform(next) + uniform(next) + uniform(next) - 1.5;
    return Array.from({ length: 2048 }, one);
  })(),
};

/** The elements of a row, as floats. @param {number} mean  what is added to all */
export const rowOf = (id, mean) => DISTANCES[id].map((d) => f(mean + d));

/** Mean and variance in double precision, in two passes: the truth. */
export function exactly(row) {
  const mean = row.reduce((sum, x) => sum + x, 0) / row.length;
  const squares = row.reduce((sum, x) => sum + (x - mean) ** 2, 0);
  return { mean, variance: squares / row.length };
}

/** warp_sum(): the sum of 32 floats, by exchanges. */
export function warpSum(lanes) {
  let values = lanes;
  for (let step = WARP / 2; step > 0; step >>= 1)
    values = values.map((value, lane) => f(value + values[lane ^ step]));
  return values[0];
}

const partsOf = (list, size) =>
  Array.from({ length: list.length / size }, (_, i) =>
    list.slice(i * size, (i + 1) * size));
const padded = (list) => [...list, ...Array(WARP - list.length).fill(0)];

/** block_sum(): the sum of the threads' floats. */
const blockSum = (values) => warpSum(padded(partsOf(values, WARP).map(warpSum)));

/** What each thread gets from its elements t, t + THREADS, ... */
function perThread(row, begin, next) {
  const known = Array(THREADS).fill(begin);
  row.forEach((x, col) => {
    known[col % THREADS] = next(known[col % THREADS], x);
  });
  return known;
}

const sumOf = (row, of) => blockSum(perThread(row, 0, (sum, x) => f(sum + of(x))));

/** v1's measure_row(). */
function twoPasses(row) {
  const mean = f(sumOf(row, (x) => x) / row.length);
  const squares = sumOf(row, (x) => f(f(x - mean) * f(x - mean)));
  return { mean, variance: f(squares / row.length) };
}

/** The known-wrong way: also the two large numbers. */
function differenceOfSquares(row) {
  const mean = f(sumOf(row, (x) => x) / row.length);
  const ofSquares = f(sumOf(row, (x) => f(x * x)) / row.length);
  const ofMean = f(mean * mean);
  return { mean, ofSquares, ofMean, variance: f(ofSquares - ofMean) };
}

/** @typedef {{count: number, mean: number, squares: number}} Moments */
const NOTHING = Object.freeze({ count: 0, mean: 0, squares: 0 });

/** with_element(): Welford's step. @param {Moments} known */
export function withElement(known, x) {
  const count = known.count + 1;
  const distance = f(x - known.mean);
  const mean = f(known.mean + f(distance / count));
  return { count, mean, squares: f(known.squares + f(distance * f(x - mean))) };
}

/** wb::merged(): what is known of two sets of elements. */
export function merged(a, b) {
  if (b.count === 0) return a;
  const count = a.count + b.count;
  const distance = f(b.mean - a.mean);
  const share = f(b.count / count);
  const between = f(f(a.count * distance) * f(share * distance));
  return {
    count,
    mean: f(a.mean + f(distance * share)),
    squares: f(f(a.squares + b.squares) + between),
  };
}

/** wb::merge_warps(): with sums, in the same order in every lane. */
function mergeWarps(warps, columns) {
  const all = [...warps, ...Array(WARP - warps.length).fill(NOTHING)];
  const mean = f(warpSum(all.map((w) => f(w.count * w.mean))) / columns);
  const squares = warpSum(all.map((w) => {
    const distance = f(w.mean - mean);
    return f(w.squares + f(f(w.count * distance) * distance));
  }));
  return { mean, variance: f(squares / columns) };
}

/** v2: each thread by Welford, lanes merged by shuffles down, then the warps. */
function welford(row) {
  const threads = perThread(row, NOTHING, withElement);
  const warps = partsOf(threads, WARP).map((lanes) => {
    let values = lanes;
    // A lane without a partner gets its own value; lane 0 needs none of those sums.
    for (let step = 1; step < WARP; step *= 2)
      values = values.map((v, lane) =>
        merged(v, lane + step < WARP ? values[lane + step] : v));
    return values[0];
  });
  return mergeWarps(warps, row.length);
}

/** v4: each warp measures its own elements in two passes, then the warps are merged. */
function mergedWarps(row) {
  const columns = Array.from({ length: THREADS }, () => []);
  row.forEach((x, col) => columns[col % THREADS].push(x));
  const warps = partsOf(columns, WARP).map((lanes) => {
    const count = lanes.reduce((sum, own) => sum + own.length, 0);
    if (count === 0) return NOTHING;
    const sum = (of) =>
      warpSum(lanes.map((own) => own.reduce((total, x) => f(total + of(x)), 0)));
    const mean = f(sum((x) => x) / count);
    return { count, mean, squares: sum((x) => f(f(x - mean) * f(x - mean))) };
  });
  return mergeWarps(warps, row.length);
}

const BY = {
  passes: twoPasses, squares: differenceOfSquares, welford, merged: mergedWarps,
};

/**
 * A row by one of WAYS.
 * @returns {{mean: number, variance: number, error: number}} error: of the variance,
 *   relative to the exact one of the same floats
 */
export function measure(way, row) {
  const result = BY[way](row);
  const exact = exactly(row).variance;
  return { ...result, error: Math.abs(result.variance - exact) / exact };
}

/** How far apart floats are near x. */
export const spacing = (x) => 2 ** (Math.floor(Math.log2(Math.abs(x))) - 23);

/** The means of the chart: 1 to 10^6, four a decade. */
export const MEANS = Array.from({ length: 25 }, (_, k) =>
  Number((10 ** (k / 4)).toPrecision(3)));
