/**
 * gather-scatter/model.js: a batch of indices into a small table, as day 2's chapter 04
 * looks them up, and three ways to add the gradients up again.
 *
 * A sum is told by the gradients in it: `from` has their positions in the batch, in the
 * order in which they are added.
 */

export const NUM_ROWS = 6;

/** Summands of a share. The chapter has 32, one for each lane. */
export const SHARE = 4;

export const BATCHES = [
  { id: 'uniform', name: 'uniform',
    indices: [2, 4, 0, 5, 2, 1, 3, 0, 4, 2, 5, 0, 1, 2, 4, 3] },
  { id: 'skewed', name: 'skewed',
    indices: [0, 2, 0, 1, 0, 0, 3, 0, 5, 1, 0, 2, 0, 3, 0, 1] },
  { id: 'one', name: 'one row', indices: Array(16).fill(3) },
];

/** For each row of the table, the positions at which the batch means it. */
export const queuesOf = (indices, numRows = NUM_ROWS) =>
  Array.from({ length: numRows }, (_, row) =>
    indices.flatMap((index, position) => (index === row ? [position] : [])));

/** Additions to the most popular row: with atomics they come one after the other. */
export const longestOf = (queues) => Math.max(...queues.map(({ length }) => length));

/** The gradients in the order of their rows; those of one row keep their order. */
export const sorted = (indices) =>
  indices
    .map((row, position) => ({ row, from: [position] }))
    .sort((a, b) => a.row - b.row);

/**
 * One level of sums, as sum_shares_v4: each share adds up its runs of equal rows.
 *
 * @param {{row: number?, from: number[]}[]} summands  in the order of their rows; row
 *   null: there is none
 * @returns {{runs: {share, begin, end, row, to, from}[], partials: object[],
 *   longest: number}} runs of summands [begin, end); to: 'table' if a run is complete,
 *   'first' or 'second' partial sum of the share, 'both': the sum first, zeros second;
 *   longest: summands of the longest run
 */
export function addShares(summands, share = SHARE) {
  const rowAt = (i) => summands[i]?.row ?? null;
  const runs = [];
  const partials = [];
  for (let first = 0; first < summands.length; first += share) {
    const behind = Math.min(first + share, summands.length);
    const places = [{ row: null, from: [] }, { row: null, from: [] }];
    for (let begin = first, end; begin < behind; begin = end) {
      const row = rowAt(begin);
      for (end = begin + 1; end < behind && rowAt(end) === row;) ++end;
      if (row === null) continue;
      const from = summands.slice(begin, end).flatMap((summand) => summand.from);
      const hasBegunBefore = begin === first && rowAt(first - 1) === row;
      const goesOn = end === behind && rowAt(behind) === row;
      if (hasBegunBefore) places[0] = { row, from };
      if (goesOn) places[1] = { row, from: hasBegunBefore ? [] : from };
      const edge = hasBegunBefore ? 'first' : 'second';
      const to = hasBegunBefore && goesOn ? 'both' : edge;
      runs.push({ share: first / share, begin, end, row, from,
        to: hasBegunBefore || goesOn ? to : 'table' });
    }
    partials.push(...places);
  }
  const longest = Math.max(0, ...runs.map(({ begin, end }) => end - begin));
  return { summands, runs, partials, longest };
}

/** All levels: the partial sums of one are the summands of the next, until one share
 * is left. */
export function levelsOf(indices, share = SHARE) {
  const levels = [];
  let summands = sorted(indices);
  for (;;) {
    levels.push(addShares(summands, share));
    if (summands.length <= share) return levels;
    summands = levels.at(-1).partials;
  }
}

/** What the first `done` levels have written to the table: for each row null or
 * {level, from}. */
export function tableAfter(levels, done, numRows = NUM_ROWS) {
  const table = Array(numRows).fill(null);
  levels.slice(0, done).forEach(({ runs }, level) => {
    for (const { row, to, from } of runs)
      if (to === 'table') table[row] = { level, from };
  });
  return table;
}

/** Additions one after another, for each way. A level waits for the one before. */
export function counts(indices) {
  const queue = longestOf(queuesOf(indices));
  const shares = levelsOf(indices).map(({ longest }) => longest);
  return { atomics: queue, rows: queue, levels: shares,
    shares: shares.reduce((sum, longest) => sum + longest, 0) };
}

/** How many summands and shares each level has, for any indices. */
export function sizesOf(count, share) {
  const sizes = [];
  for (let summands = count; ; summands = 2 * sizes.at(-1).shares) {
    sizes.push({ summands, shares: Math.ceil(summands / share) });
    if (sizes.at(-1).shares <= 1) return sizes;
  }
}

/** The most additions one after another that shares can need. */
export const mostOf = (count, share) => share * sizesOf(count, share).length;
