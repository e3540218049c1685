/**
 * online-softmax/model.js: the arithmetic of wb::OnlineSoftmax in JavaScript, one
 * number rounded to a float after the other, as common/include/wb/online_softmax.h
 * computes it for a row with one column of values.
 *
 * A state is { max, sum, o }: the largest score so far, the sum of the weights below
 * it, and the sum of the weighted values.
 */

const f = Math.fround;

/** @param {number} x @returns {number} e^x as a float */
const expf = (x) => f(Math.exp(x));

/** The state of a row that has seen no key: (-inf, 0, 0). */
export const EMPTY = Object.freeze({ max: -Infinity, sum: 0, o: 0 });

/**
 * wb::softmax_rescale: what a weight below `max` is worth below `newMax`.
 * Without any key, max is -inf: then 0, and not the NaN of -inf - -inf.
 *
 * @param {number} max
 * @param {number} newMax  the same, or a larger one
 * @param {boolean} guarded  false: forget that exception, as a known-wrong kernel does
 */
export function rescale(max, newMax, guarded = true) {
  if (guarded && max === -Infinity) return 0;
  return expf(f(max - newMax));
}

/**
 * OnlineSoftmax::add: one more key.
 *
 * @returns {{ state: object, factor: number, weight: number }} the new state, what the
 *   old sums were multiplied by, and the weight of the key
 */
export function add(state, score, value) {
  const max = Math.max(state.max, score);
  const factor = rescale(state.max, max);
  const weight = expf(f(score - max));
  return {
    state: {
      max,
      sum: f(f(state.sum * factor) + weight),
      o: f(f(state.o * factor) + f(weight * value)),
    },
    factor,
    weight,
  };
}

/**
 * OnlineSoftmax::merge: other keys of the same row, that somebody else has summed up.
 *
 * @returns {{ state: object, mine: number, its: number }} the new state, and what the
 *   sums of the two were multiplied by
 */
export function merge(a, b, guarded = true) {
  const max = Math.max(a.max, b.max);
  const mine = rescale(a.max, max, guarded);
  const its = rescale(b.max, max, guarded);
  return {
    state: {
      max,
      sum: f(f(a.sum * mine) + f(b.sum * its)),
      o: f(f(a.o * mine) + f(b.o * its)),
    },
    mine,
    its,
  };
}

/** The output of a state: o / sum, and 0 if there was no key. */
export function output(state) {
  if (Number.isNaN(state.sum)) return NaN;
  return state.sum > 0 ? f(state.o * f(1 / state.sum)) : 0;
}

/** max + log(sum); -inf if there was no key. */
export function logSumExp(state) {
  if (Number.isNaN(state.sum)) return NaN;
  return state.sum > 0 ? f(state.max + f(Math.log(state.sum))) : -Infinity;
}

/**
 * One key after the other. A masked key is not added: its score counts as -inf, and it
 * leaves the state alone.
 *
 * @param {{ score: number, value: number, masked: boolean }[]} keys
 * @returns {object[]} a step for each key: { key, masked, before, state, factor,
 *   weight, newMax }; newMax says that it raised a maximum that was a number before
 */
export function walk(keys) {
  let before = EMPTY;
  return keys.map(({ score, value, masked }, key) => {
    if (masked) {
      const unchanged = { before, state: before, factor: 1, weight: 0 };
      return { key, masked, ...unchanged, newMax: false };
    }
    const step = add(before, f(score), f(value));
    const newMax = step.state.max > before.max && before.max !== -Infinity;
    const result = { key, masked: false, before, ...step, newMax };
    before = step.state;
    return result;
  });
}

/**
 * What each key's weight is worth after some steps of the walk: e^(score - max).
 *
 * @param {object[]} keys  as for walk()
 * @param {number} steps  keys that have been looked at, 0 <= steps <= keys.length
 * @returns {({ now: number, before: number|null }|null)[]} by key; null for keys that
 *   are masked or still to come; before: the weight before the last step, where it has
 *   shrunk since
 */
export function weightsAt(keys, steps) {
  const last = steps > 0 ? walk(keys)[steps - 1] : null;
  return keys.map(({ score, masked }, key) => {
    if (key >= steps || masked) return null;
    const now = expf(f(f(score) - last.state.max));
    const shrunk = last.newMax && key < steps - 1;
    return { now, before: shrunk ? expf(f(f(score) - last.before.max)) : null };
  });
}

/**
 * Parts of a row that different workers sum up, and how they are merged, two neighbours
 * at a time, until one is left.
 *
 * @param {object[]} keys  as for walk()
 * @param {number} partSize  keys of a part
 * @param {boolean} guarded  false: merge without the exception of rescale()
 * @returns {object[][]} levels, the parts first. A node is { first, end, state,
 *   children, mine, its }: keys [first, end), the two places of the level before that
 *   it was merged from (one, where a neighbour is missing), and their factors
 */
export function mergeTree(keys, partSize, guarded = true) {
  const parts = [];
  for (let first = 0; first < keys.length; first += partSize) {
    const part = keys.slice(first, first + partSize);
    const steps = walk(part);
    parts.push({
      first,
      end: first + part.length,
      state: steps[steps.length - 1].state,
      children: [],
    });
  }
  const levels = [parts];
  while (levels[levels.length - 1].length > 1) {
    const below = levels[levels.length - 1];
    const level = [];
    for (let i = 0; i < below.length; i += 2) {
      const a = below[i];
      const b = below[i + 1];
      level.push(
        b
          ? {
              first: a.first,
              end: b.end,
              ...merge(a.state, b.state, guarded),
              children: [i, i + 1],
            }
          : { ...a, children: [i] },
      );
    }
    levels.push(level);
  }
  return levels;
}

/** A number as the figure and its texts print it: four digits after the point. */
export function show(number) {
  if (Number.isNaN(number)) return 'NaN';
  if (number === -Infinity) return '−∞';
  if (number === Infinity) return '∞';
  const large = Math.abs(number) >= 1e5;
  const text = large ? number.toExponential(2) : number.toFixed(4);
  const short = large ? text : text.replace(/\.?0+$/, '');
  return short === '-0' ? '0' : short.replace('-', '−');
}
