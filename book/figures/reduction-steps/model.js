/**
 * reduction-steps/model.js: how a warp or a block adds its numbers up, step by step.
 * The kernels are those of book/truth/reduction-steps.cu.
 */
import { wavefrontsOf } from '../memory-access/model.js';

export const WARP_SIZE = 32;

const DIGITS = [
  3, 1, 7, 0, 4, 1, 6, 3, 5, 9, 2, 6, 8, 0, 7, 4,
  1, 8, 3, 9, 5, 2, 0, 6, 4, 7, 9, 1, 2, 8, 5, 0,
];

/** What the threads begin with: first the numbers of the lesson's picture. */
export const inputs = (n) => Array.from({ length: n }, (_, t) => {
  const warp = Math.floor(t / WARP_SIZE);
  return DIGITS[(t + 5 * warp) % 32] + warp;
});

const TREES = [8, 16, 32, 64, 128, 256];

/**
 * The ways, and for which numbers of threads they are shown. `code`: what a thread does
 * in a step.
 */
export const WAYS = [
  { id: 'interleaved', name: 'tree, interleaved threads', threads: TREES,
    code: 'if (t % (2 * step) == 0) s[t] += s[t + step];' },
  { id: 'compact', name: 'tree, interleaved addresses', threads: TREES,
    code: 'i = 2 * step * t; if (i < n) s[i] += s[i + step];' },
  { id: 'sequential', name: 'tree, sequential addresses', threads: TREES,
    code: 'if (t < step) s[t] += s[t + step];' },
  { id: 'shuffle-down', name: 'warp, shuffle down', threads: [8, 16, 32],
    code: 'sum += __shfl_down_sync(mask, sum, step, n);' },
  { id: 'shuffle-xor', name: 'warp, shuffle xor', threads: [8, 16, 32],
    code: 'sum += __shfl_xor_sync(mask, sum, step, n);' },
  { id: 'two-level', name: 'block, warps first', threads: [64, 128, 256],
    code: 'sum += __shfl_down_sync(~0u, sum, step);' },
];

/** Powers of two below n: 1, 2, 4, … */
const rising = (n) => (n <= 1 ? [] : [...rising(n / 2), n / 2]);
const falling = (n) => rising(n).reverse();

/**
 * What happens in one step.
 * @typedef {object} Step
 * @property {string} kind  'tree', 'shuffle', or 'exchange' through shared memory
 * @property {number} step  how far apart the two numbers are
 * @property {(number | null)[]} from  whose number a thread adds, or takes over; null:
 *   it does nothing
 * @property {(number | null)[]} to  the place where the sum goes; null as above
 * @property {boolean[]} useful  the sum is needed later on, or is the result
 * @property {(number | null)[]} values  what each place or thread holds afterwards;
 *   null: the thread has left
 * @property {number} barriers
 * @property {Access[]} loads  of shared memory
 * @property {Access[]} stores
 *
 * @typedef {{requests: number, wavefronts: number, ways: number}} Cost
 * @typedef {(number | null)[]} Access  the word that each thread wants
 */

/** Each thread's place in a tree, null where it has none. */
const PLACES = {
  interleaved: (t, step) => (t % (2 * step) === 0 ? t : null),
  compact: (t, step, n) => (2 * step * t < n ? 2 * step * t : null),
  sequential: (t, step) => (t < step ? t : null),
};

function treeStep(before, step, placeOf) {
  const n = before.length;
  const to = before.map((_, t) => placeOf(t, step, n));
  const from = to.map((i) => (i === null ? null : i + step));
  const values = [...before];
  for (const i of to) if (i !== null) values[i] = before[i] + before[i + step];
  return {
    kind: 'tree', step, to, from, values, barriers: 1,
    useful: to.map((i) => i !== null), loads: [to, from], stores: [to],
  };
}

/** A shuffle in groups of `width` lanes; `needed`: is a lane's sum used later? */
function shuffleStep(before, step, { width, xor, needed, most = before.length }) {
  const source = (t) => {
    if (xor) return t ^ step;
    return (t % width) + step < width ? t + step : t;
  };
  const from = before.map((_, t) => (t >= most ? null : source(t)));
  const values = before.map((value, t) => (
    from[t] === null ? value : value + before[from[t]]));
  return {
    kind: 'shuffle', step, from, values, barriers: 0,
    to: from.map((s, t) => (s === null ? null : t)),
    useful: from.map((s, t) => s !== null && needed(t)), loads: [], stores: [],
  };
}

/** The warps' sums go through shared memory to the first warp; the others leave. */
function exchangeStep(before) {
  const warps = before.length / WARP_SIZE;
  const values = before.map((_, t) => {
    if (t >= WARP_SIZE) return null;
    return t < warps ? before[t * WARP_SIZE] : 0;
  });
  const from = before.map((_, t) => (t < warps ? t * WARP_SIZE : null));
  return {
    kind: 'exchange', step: 0, from, values, barriers: 1,
    to: from.map((s, t) => (s === null ? null : t)),
    useful: from.map((s) => s !== null),
    loads: [before.map((_, t) => (t < warps ? t : null))],
    stores: [before.map((_, t) => (t % WARP_SIZE === 0 ? t / WARP_SIZE : null))],
  };
}

/** What accesses to shared memory cost, warp by warp. */
export function costOf(accesses) {
  const cost = { requests: 0, wavefronts: 0, ways: 0 };
  for (const words of accesses)
    for (let first = 0; first < words.length; first += WARP_SIZE) {
      const address = Array.from({ length: WARP_SIZE }, (_, lane) => {
        const word = words[first + lane] ?? null;
        return word === null ? null : 4 * word;
      });
      if (address.every((a) => a === null)) continue;
      const waves = wavefrontsOf({ bytes: 4, address });
      cost.requests += 1;
      cost.wavefronts += waves.count;
      cost.ways = Math.max(cost.ways, waves.ways);
    }
  return cost;
}

function stepsOf(way, values) {
  const n = values.length;
  const steps = [];
  const last = () => steps.at(-1)?.values ?? values;
  if (way in PLACES) {
    for (const step of way === 'sequential' ? falling(n) : rising(n))
      steps.push(treeStep(last(), step, PLACES[way]));
  } else if (way === 'two-level') {
    for (const step of falling(WARP_SIZE))
      steps.push(shuffleStep(last(), step, {
        width: WARP_SIZE, needed: (t) => t % WARP_SIZE < step,
      }));
    steps.push(exchangeStep(last()));
    for (const step of falling(n / WARP_SIZE))
      steps.push(shuffleStep(last(), step, {
        width: WARP_SIZE, needed: (t) => t < step, most: WARP_SIZE,
      }));
  } else {
    const xor = way === 'shuffle-xor';
    for (const step of falling(n))
      steps.push(shuffleStep(last(), step, {
        width: n, xor, needed: (t) => xor || t < step,
      }));
  }
  return steps;
}

/**
 * A whole reduction.
 * @param {string} way  the id of one of WAYS
 * @param {number[]} values  what the threads begin with: a power of two of them
 * @returns {{way: string, threads: number, input: number[], steps: Step[],
 *   result: number, barriers: number, loads: Cost, stores: Cost}}
 */
export function reduce(way, values) {
  const steps = stepsOf(way, values);
  const all = values.map((_, t) => t);
  const first = values.map((_, t) => (t === 0 ? 0 : null));
  const tree = way in PLACES;
  const before = tree ? [all] : [];
  return {
    way,
    threads: values.length,
    input: values,
    steps,
    result: steps.at(-1).values[0],
    barriers: before.length + steps.reduce((sum, { barriers }) => sum + barriers, 0),
    loads: costOf([...steps.flatMap(({ loads }) => loads), ...(tree ? [first] : [])]),
    stores: costOf([...before, ...steps.flatMap(({ stores }) => stores)]),
  };
}

/** How many threads do something in a step, and in how many warps. */
export function atWork({ to }) {
  const warps = new Set();
  to.forEach((place, t) => {
    if (place !== null) warps.add(Math.floor(t / WARP_SIZE));
  });
  return { threads: to.filter((place) => place !== null).length, warps: warps.size };
}

/** What a step's accesses cost: 1 way is no conflict, 0 no access. */
export const waysOf = ({ loads, stores }) => costOf([...loads, ...stores]).ways;

/** Which place a thread's number is in, before or after a step. */
export const placeOf = ({ to }, t) => to[t] ?? t;

/** One sentence about what a thread does in a step. */
export function sentence(reduction, number, t) {
  const step = reduction.steps[number];
  const before = number === 0 ? reduction.input : reduction.steps[number - 1].values;
  const to = step.to[t];
  const from = step.from[t];
  if (to === null)
    return before[t] === null
      ? `thread ${t} has left`
      : `thread ${t} ${step.kind === 'exchange' ? 'has no sum to take' : 'waits'}`;
  if (step.kind === 'exchange')
    return `thread ${t} takes ${step.values[t]}, the sum of warp ${t}`;
  const sum = `${before[to]} + ${before[from]} = ${step.values[to]}`;
  if (step.kind === 'tree') return `thread ${t}: s[${to}] + s[${from}] = ${sum}`;
  const spare = step.useful[t] ? '' : ', which nobody needs';
  const whose = from === t ? 'its own again' : `that of lane ${from % WARP_SIZE}`;
  return `lane ${t % WARP_SIZE} adds ${whose}: ${sum}${spare}`;
}
