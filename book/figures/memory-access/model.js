/**
 * memory-access/model.js: what the memory system does for one load or store of a warp.
 *
 * Global memory moves sectors of 32 bytes, four of which are a cache line. Shared
 * memory works in wavefronts, in each of which every one of 32 banks gives one 4-byte
 * word to all lanes that want it. The same rules, and the same words for them, as in
 * the simulator's checker: common/simt/checker/count/request.h.
 */
import { compile, ExpressionError } from './expression.js';

export const LANES = 32;
export const BANKS = 32;
export const SECTOR = 32;
export const LINE = 128;
export const SIZES = [1, 2, 4, 8, 16];
/** What an expression may name. A block has rows of 32: threadIdx.x is the lane. */
export const NAMES = ['lane', 'threadIdx.x', 'threadIdx.y'];
/** The largest index that the figure takes. */
const MOST_INDEX = 2 ** 24;

/**
 * One access of a warp.
 * @typedef {{bytes: number, address: (number | null)[]}} Request
 *   bytes of an element; the lanes' addresses from a cache line's beginning, null for a
 *   lane that does not take part
 */

/**
 * Evaluates an index, and a condition for taking part, in each lane.
 * @param {{index: string, active?: string, bytes: number, row?: number,
 *   offset?: number}} access
 *   row: the value of threadIdx.y; offset: the byte of a cache line at which the array
 *   begins
 * @returns {{request: Request, indices: (number | null)[]} | {error: string,
 *   at: number, where: 'index' | 'active' | 'offset'}}
 */
export function requestOf({ index, active = '', bytes, row = 0, offset = 0 }) {
  if (offset % bytes !== 0) {
    return { where: 'offset', at: 0,
      error: `byte ${offset} is no multiple of ${bytes}, and a GPU ends the kernel ` +
        'with "misaligned address"' };
  }
  let where = 'active';
  try {
    const takesPart = active.trim() === '' ? () => 1 : compile(active, NAMES);
    where = 'index';
    const indexOf = compile(index, NAMES);
    const indices = Array.from({ length: LANES }, (_, lane) => {
      const values = { lane, 'threadIdx.x': lane, 'threadIdx.y': row };
      where = 'active';
      if (takesPart(values) === 0) return null;
      where = 'index';
      const value = indexOf(values);
      if (value < 0) throw new ExpressionError(`lane ${lane} has index ${value}`, 0);
      if (value > MOST_INDEX)
        throw new ExpressionError(
          `lane ${lane} has index ${value}, the array ends at ${MOST_INDEX}`, 0);
      return value;
    });
    const address = indices.map((i) => (i === null ? null : offset + i * bytes));
    return { request: { bytes, address }, indices };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return { error: error.message, at: error.at, where };
  }
}

const taking = (request) => request.address.filter((a) => a !== null);
const numbers = (first, last) =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i);
const unitsOf = (address, bytes, unit) =>
  numbers(Math.floor(address / unit), Math.floor((address + bytes - 1) / unit));
const ascending = (set) => [...set].sort((a, b) => a - b);

/**
 * The sectors that a request to global memory touches.
 * @param {Request} request
 * @returns {{sectors: number[], lines: number[], ideal: number, wanted: number,
 *   moved: number, efficiency: number}}
 *   numbers of sectors and cache lines, ascending; the fewest sectors that could hold
 *   the bytes wanted; bytes wanted, each once, and bytes moved
 */
export function sectorsOf(request) {
  const sectors = new Set();
  const wanted = new Set();
  for (const address of taking(request)) {
    for (const s of unitsOf(address, request.bytes, SECTOR)) sectors.add(s);
    for (const byte of unitsOf(address, request.bytes, 1)) wanted.add(byte);
  }
  const ideal = Math.ceil(wanted.size / SECTOR);
  return {
    sectors: ascending(sectors),
    lines: ascending(new Set([...sectors].map((s) => Math.floor((s * SECTOR) / LINE)))),
    ideal,
    wanted: wanted.size,
    moved: sectors.size * SECTOR,
    efficiency: sectors.size ? wanted.size / (sectors.size * SECTOR) : 1,
  };
}

/** Does each lane want what the lane wants that is so far apart? */
function pairsShare({ address }, apart) {
  return address.every((a, lane) => a === null || a === address[lane ^ apart]);
}

/** How many lanes shared memory serves together. */
export function groupSize(request) {
  const group = request.bytes <= 4 ? 32 : request.bytes === 8 ? 16 : 8;
  if (group === LANES) return group;
  return pairsShare(request, 1) || pairsShare(request, 2) ? group * 2 : group;
}

/**
 * What a request to shared memory costs.
 * @param {Request} request
 * @returns {{count: number, ideal: number, ways: number, conflicts: number,
 *   groups: {first: number, lanes: number, banks: number[][], ways: number}[]}}
 *   wavefronts in all and without conflicts; the most words that one bank must give to
 *   one group of lanes; for each group the different words wanted from each bank
 */
export function wavefrontsOf(request) {
  const lanes = groupSize(request);
  const groups = [];
  for (let first = 0; first < LANES; first += lanes) {
    const banks = Array.from({ length: BANKS }, () => []);
    const address = request.address.slice(first, first + lanes);
    for (const begin of taking({ address }))
      for (const word of unitsOf(begin, request.bytes, 4))
        if (!banks[word % BANKS].includes(word)) banks[word % BANKS].push(word);
    const ways = Math.max(...banks.map((words) => words.length));
    groups.push({ first, lanes, banks, ways });
  }
  const sum = (of) => groups.reduce((total, group) => total + of(group), 0);
  const count = sum((group) => group.ways);
  const ideal = sum((group) => Math.ceil(group.banks.flat().length / BANKS));
  return {
    count,
    ideal,
    ways: Math.max(...groups.map((group) => group.ways)),
    conflicts: count - ideal,
    groups,
  };
}

/**
 * Which lanes want which words, in rows of 128 bytes: a cache line of global memory, or
 * one word of each bank of shared memory. Rows that no lane wants are left out.
 * @param {Request} request
 * @returns {{row: number, words: number[][]}[]}  for each of a row's 32 words its lanes
 */
export function rowsOf(request) {
  const rows = new Map();
  request.address.forEach((address, lane) => {
    if (address === null) return;
    for (const word of unitsOf(address, request.bytes, 4)) {
      const row = Math.floor(word / 32);
      if (!rows.has(row)) rows.set(row, Array.from({ length: 32 }, () => []));
      rows.get(row)[word % 32].push(lane);
    }
  });
  return ascending(rows.keys()).map((row) => ({ row, words: rows.get(row) }));
}

/** Lanes as a reader writes them: "0-3, 8". */
export function lanesText(lanes) {
  const parts = [];
  for (let i = 0; i < lanes.length; ++i) {
    const first = lanes[i];
    while (i + 1 < lanes.length && lanes[i + 1] === lanes[i] + 1) ++i;
    parts.push(lanes[i] === first ? `${first}` : `${first}-${lanes[i]}`);
  }
  return parts.join(', ');
}

const many = (count, what) => `${count} ${what}${count === 1 ? '' : 's'}`;

const article = (count) => ([8, 11, 18].includes(count) ? 'an' : 'a');

/** One sentence about the whole request. */
export function result(request, memory) {
  if (taking(request).length === 0) return 'No lane takes part: nothing is moved.';
  if (memory === 'global') {
    const s = sectorsOf(request);
    const where = `${many(s.sectors.length, 'sector')} in ` +
      many(s.lines.length, 'cache line');
    return `${where}: ${s.moved} bytes moved, ${s.wanted} wanted, ` +
      `${percent(s.efficiency)}. ${many(s.ideal, 'sector')} could hold them.`;
  }
  const w = wavefrontsOf(request);
  const conflict = w.conflicts === 0
    ? 'no bank conflicts'
    : `${article(w.ways)} ${w.ways}-way bank conflict, ${many(w.conflicts, 'wavefront')} too many`;
  return `${many(w.count, 'wavefront')}: ${conflict}.`;
}

/** A share as a whole number of percent, which is 100 only if nothing is missing. */
export const percent = (share) => `${Math.floor(share * 100)} %`;

/** One sentence about a lane. */
export function laneText(request, indices, lane, memory) {
  const address = request.address[lane];
  if (address === null) return `Lane ${lane} does not take part.`;
  const text = `Lane ${lane}: element ${indices[lane]}, byte ${address}`;
  if (memory === 'global')
    return `${text}, sector ${Math.floor(address / SECTOR)}, ` +
      `cache line ${Math.floor(address / LINE)}.`;
  const words = unitsOf(address, request.bytes, 4);
  const banks = lanesText(words.map((word) => word % BANKS));
  return words.length === 1
    ? `${text}, word ${words[0]}, bank ${banks}.`
    : `${text}, words ${words[0]}-${words.at(-1)}, banks ${banks}.`;
}
