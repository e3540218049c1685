/**
 * halo-tile/model.js: what a block of day 2's chapter 03 brings into shared memory, and
 * which thread brings what: convolve_2d_v2 in stencil_halo.cu, with borders.h.
 *
 * A block has a thread for each element of its tile. The tile with its halo is counted
 * row by row; these are its places. Thread tid loads the places tid, tid + threads, and
 * so on: one in each round.
 */

/** Tiles to choose from; the last one is the chapter's. */
export const TILES = [
  { rows: 4, cols: 8 },
  { rows: 8, cols: 8 },
  { rows: 8, cols: 16 },
  { rows: 16, cols: 32 },
];
export const MOST_RADIUS = 4;
export const BORDERS = ['zero', 'clamp', 'wrap'];

const WARP = 32;
const FLOATS_OF_A_SECTOR = 8;

/** Two and a half tiles high and wide, with rows that begin at a sector. */
export const imageOf = ({ rows, cols }) => ({
  rows: 2.5 * rows,
  cols: 8 * Math.ceil((2.5 * cols) / 8),
});

/** How many tiles cover an image, down and across. */
export const tilesOf = (image, tile) => ({
  rows: Math.ceil(image.rows / tile.rows),
  cols: Math.ceil(image.cols / tile.cols),
});

/** The index in [0, n) that stands for i; null: a zero stands for it. */
export function indexInside(i, n, border) {
  if (i >= 0 && i < n) return i;
  if (border === 'zero') return null;
  if (border === 'clamp') return i < 0 ? 0 : n - 1;
  const rest = i % n; // of the sign of i
  return rest < 0 ? rest + n : rest;
}

/** The element whose value stands at a row and a column; null: none, but a zero. */
export function sourceOf({ rows, cols }, row, col, border) {
  const r = indexInside(row, rows, border);
  const c = indexInside(col, cols, border);
  return r === null || c === null ? null : { row: r, col: c };
}

export const isInside = ({ rows, cols }, { row, col }) =>
  row >= 0 && row < rows && col >= 0 && col < cols;

/** A tile with its halo: rows, columns, places, and places for each of its elements. */
export function haloed(tile, radius) {
  const rows = tile.rows + 2 * radius;
  const cols = tile.cols + 2 * radius;
  const threads = tile.rows * tile.cols;
  return {
    rows,
    cols,
    places: rows * cols,
    threads,
    rounds: Math.ceil((rows * cols) / threads),
    ratio: (rows * cols) / threads,
  };
}

/**
 * All places of a block, in their order.
 * @param {{rows, cols}} image
 * @param {{rows, cols}} tile
 * @param {{row, col}} at  the tile's place among the tiles
 * @param {number} radius
 * @param {string} border
 * @returns {{place, tid, round, row, col, inside: boolean, isHalo: boolean,
 *   source: {row, col} | null}[]}  row and col are those of the image
 */
export function loadsOf(image, tile, at, radius, border) {
  const { cols, places, threads } = haloed(tile, radius);
  return Array.from({ length: places }, (_, place) => {
    const y = Math.floor(place / cols) - radius;
    const x = (place % cols) - radius;
    const row = at.row * tile.rows + y;
    const col = at.col * tile.cols + x;
    return {
      place,
      tid: place % threads,
      round: Math.floor(place / threads),
      row,
      col,
      inside: isInside(image, { row, col }),
      isHalo: !isInside(tile, { row: y, col: x }),
      source: sourceOf(image, row, col, border),
    };
  });
}

/**
 * What the warps of a block load from memory: requests, and the sectors of each of them
 * added up, as `./learn xray` does. A warp for which only zeros stand loads nothing.
 */
export function requestsOf(image, loads) {
  const requests = new Map();
  for (const { place, source } of loads) {
    if (source === null) continue;
    const request = Math.floor(place / WARP); // threads are a multiple of a warp
    const element = source.row * image.cols + source.col;
    if (!requests.has(request)) requests.set(request, new Set());
    requests.get(request).add(Math.floor(element / FLOATS_OF_A_SECTOR));
  }
  const sectors = [...requests.values()].reduce((sum, set) => sum + set.size, 0);
  return { requests: requests.size, sectors };
}

/** The places of a thread's filter window: those that the sum of (row, col) needs. */
export const windowOf = (loads, radius, { row, col }) =>
  loads.filter((load) =>
    Math.abs(load.row - row) <= radius && Math.abs(load.col - col) <= radius);

/** What the block does, one step after the other. */
export function stepsOf(tile, radius) {
  const { rounds } = haloed(tile, radius);
  return [
    { kind: 'tile' },
    { kind: 'halo' },
    ...Array.from({ length: rounds }, (_, round) => ({ kind: 'load', round })),
    { kind: 'sum' },
  ];
}

const many = (count, what) => `${count} ${what}${count === 1 ? '' : 's'}`;
const named = ({ row, col }) => `row ${row}, column ${col}`;
const BEYOND = {
  zero: 'a zero stands there, and nothing is read',
  clamp: 'the nearest element of the image stands there',
  wrap: 'the image begins again there',
};

/** A sentence about one load of a thread. */
function loadText({ place, row, col, inside, source }) {
  const text = `place ${place}, ${named({ row, col })}`;
  if (inside) return `${text}.`;
  return source === null
    ? `${text}: outside of the image, so that it reads nothing and writes a zero.`
    : `${text}: outside of the image, so that it reads ${named(source)}.`;
}

/** What happens in a step, in words, and what a thread has to do with it. */
export function textOf({ image, tile, radius, border, loads, step, thread }) {
  const all = haloed(tile, radius);
  const { kind, round } = step;
  const own = {
    row: loads[0].row + radius + Math.floor(thread / tile.cols),
    col: loads[0].col + radius + (thread % tile.cols),
  };
  const tiles = tilesOf(image, tile);
  const number = Math.floor(own.row / tile.rows) * tiles.cols +
    Math.floor(own.col / tile.cols) + 1;
  if (kind === 'tile') {
    const has = isInside(image, own)
      ? `has the result of ${named(own)}`
      : 'has no result, as its element is outside of the image, but it will load, too';
    return `Tile ${number} of ${tiles.rows * tiles.cols} has ${tile.rows} × ` +
      `${tile.cols} elements, and its block as many threads. Thread ${thread} ${has}.`;
  }
  if (kind === 'halo') {
    const outside = loads.filter(({ inside }) => !inside).length;
    const beyond = outside === 0 ? 'All are inside of the image.'
      : `${outside} of them ${outside === 1 ? 'is' : 'are'} outside of the image: ` +
        `${BEYOND[border]}.`;
    return `Tile ${number} with its halo: ${all.rows} × ${all.cols} = ${all.places} ` +
      `places in shared memory, ${all.ratio.toFixed(2)} for each element of the ` +
      `tile. ${beyond}`;
  }
  if (kind === 'load') {
    const mine = loads[thread + round * all.threads];
    const index = round === 0 ? 'tid' : `tid + ${round * all.threads}`;
    return `Load ${round + 1} of ${all.rounds}: thread tid loads place ${index}. ` +
      (mine ? `Thread ${thread}: ${loadText(mine)}`
        : `Thread ${thread} has nothing left to load, and goes to the barrier.`);
  }
  if (!isInside(image, own))
    return `After the barrier, thread ${thread} has nothing to sum up, and returns.`;
  const needed = windowOf(loads, radius, own);
  const self = needed.filter(({ tid }) => tid === thread).length;
  const outside = needed.filter(({ inside }) => !inside).length;
  return `After the barrier, thread ${thread} sums up ` +
    `${many(needed.length, 'place')} around ${named(own)}. It has loaded ` +
    `${self === 0 ? 'none' : self} of them itself` +
    (outside === 0 ? '.' : `, and ${outside} of them ${outside === 1 ? 'is' : 'are'} ` +
      'outside of the image.');
}
