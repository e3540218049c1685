/**
 * jagged-rows/model.js: where the words of a jagged tensor are, and two ways to share
 * them out among blocks, as day 2's chapter 05 does. A word is an entry here: dim is
 * one word. All blocks run at the same time; a round takes the same time in each.
 */

/** Threads of a block: words that it copies in a round. */
export const THREADS = 2;

/** Words of a tile: THREADS times what a thread loads (kLoads in the chapter). */
export const TILE = 4;

/** Words that there may be, in all rows together. */
export const MOST = 24;

export const PRESETS = [
  { id: 'short', name: 'short rows', lengths: [3, 2, 4, 1, 2, 4, 3, 2] },
  { id: 'long', name: 'one long row', lengths: [1, 15, 0, 1, 1, 0, 2, 1] },
  { id: 'empty', name: 'empty rows', lengths: [0, 0, 3, 0, 0, 9, 4, 0] },
  { id: 'none', name: 'all empty', lengths: [0, 0, 0, 0, 0, 0, 0, 0] },
];

/** The longest that row r may be when the others stay as they are. */
export const longestOf = (lengths, r) =>
  MOST - lengths.reduce((sum, length, i) => (i === r ? sum : sum + length), 0);

/** One offset more than there are rows; the last one is the total. */
export function offsetsOf(lengths) {
  const offsets = [0];
  for (const length of lengths) offsets.push(offsets.at(-1) + length);
  return offsets;
}

/**
 * row_of() of the chapter, step by step: the last row in [low, high) that begins at or
 * before the word.
 * @param {number[]} offsets  offsets[low] <= word < offsets[high]
 * @returns {{low, high, middle?, begins?}[]} what is left before each step, where the
 *   step looks and whether that row begins at or before the word; the last element has
 *   only what is left in the end, and its low is the row
 */
export function search(offsets, low, high, word) {
  const steps = [];
  while (high - low > 1) {
    const middle = low + Math.floor((high - low) / 2);
    const begins = offsets[middle] <= word;
    steps.push({ low, high, middle, begins });
    if (begins) low = middle;
    else high = middle;
  }
  steps.push({ low, high });
  return steps;
}

/** The row of a word, and its place there: dense[row][place]. */
export function placeOf(offsets, word) {
  const row = search(offsets, 0, offsets.length - 1, word).at(-1).low;
  return { row, place: word - offsets[row] };
}

/** The padded tensor: its columns, and how many of its words are padding. */
export function denseOf(lengths) {
  const columns = Math.max(...lengths);
  const words = columns * lengths.length;
  return { columns, words, padding: words - offsetsOf(lengths).at(-1) };
}

/** A block with the words [first, end), THREADS of them in a round. */
const block = (first, end) =>
  ({ first, end, rounds: Math.ceil((end - first) / THREADS) });

/** Block r has row r. */
export function rowBlocks(lengths) {
  const offsets = offsetsOf(lengths);
  return lengths.map((length, r) => block(offsets[r], offsets[r] + length));
}

/** Each block has a tile; the last one may have less. */
export function tileBlocks(lengths) {
  const total = offsetsOf(lengths).at(-1);
  return Array.from({ length: Math.ceil(total / TILE) }, (_, b) =>
    block(b * TILE, Math.min((b + 1) * TILE, total)));
}

/** Rounds of the slowest block: so long it takes until all are done. */
export const slowest = (blocks) => Math.max(0, ...blocks.map(({ rounds }) => rounds));

/** Blocks that have nothing to do. */
export const idle = (blocks) => blocks.filter(({ rounds }) => rounds === 0).length;
