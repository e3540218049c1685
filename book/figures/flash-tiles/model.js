/**
 * flash-tiles/model.js: how flash attention walks over Q and K/V, and how many bytes it
 * and naive attention move between memory and the multiprocessors, for one head of
 * floats.
 *
 * What is counted are the bytes that the lanes of the kernels ask for:
 * flash_attention_v3 (day 6, chapter 02) with a tile of BM rows and BN keys, and
 * naive_attention_v2 (chapter 01) with its tiles of 64 x 64 results. Caches may serve
 * some of them.
 */

/** Bytes of a float. */
const FLOAT = 4;

/** Results of a block of naive_attention_v2, in either direction. */
export const NAIVE_TILE = 64;

/** Dynamic shared memory that a block may have, in bytes, by GPU. */
export const SHARED_LIMITS = [
  { name: 'without asking', bytes: 48 * 1024 },
  { name: 'sm_86, sm_89, sm_120', bytes: 99 * 1024 },
  { name: 'sm_80', bytes: 163 * 1024 },
  { name: 'sm_90, sm_100', bytes: 227 * 1024 },
];

const ceilDiv = (a, b) => Math.ceil(a / b);

/**
 * wb::visible_keys: how many keys, counted from the first, a query sees. Causal
 * attention is aligned to the last key.
 */
export function visibleKeys(queries, keys, causal, row) {
  if (!causal) return keys;
  return Math.max(0, row + 1 + keys - queries);
}

/**
 * The walk: for each block of rows, the tiles of keys that it loads.
 *
 * @param {{ N: number, M: number, BM: number, BN: number, causal: boolean }} shape
 *   N queries, M keys
 * @returns {{ firstRow: number, rows: number, steps: number, tiles: number }[]} by
 *   block: its rows, the tiles that it walks over, and how many there are in the row
 */
export function blocks({ N, M, BM, BN, causal }) {
  const result = [];
  for (let firstRow = 0; firstRow < N; firstRow += BM) {
    const rows = Math.min(BM, N - firstRow);
    const visible = visibleKeys(N, M, causal, firstRow + rows - 1);
    result.push({
      firstRow,
      rows,
      steps: ceilDiv(visible, BN),
      tiles: ceilDiv(M, BN),
    });
  }
  return result;
}

/**
 * What a tile of keys is to a block of rows.
 * @returns {'whole'|'masked'|'skipped'} all rows see all keys; some do; none does
 */
export function tileKind({ N, M, BM, BN, causal }, block, tile) {
  const firstRow = block * BM;
  const lastRow = Math.min(firstRow + BM, N) - 1;
  const end = Math.min((tile + 1) * BN, M);
  if (visibleKeys(N, M, causal, lastRow) <= tile * BN) return 'skipped';
  return visibleKeys(N, M, causal, firstRow) >= end ? 'whole' : 'masked';
}

/** Keys that exist in tiles [0, steps). */
const keysIn = (steps, { M, BN }) => Math.min(steps * BN, M);

/**
 * Bytes of one head that flash attention moves.
 * @returns {{ q: number, kv: number, o: number, read: number, written: number }}
 */
export function flashTraffic(shape) {
  const { N, D } = shape;
  const keys = blocks(shape).reduce((sum, b) => sum + keysIn(b.steps, shape), 0);
  const q = N * D * FLOAT;
  const kv = 2 * keys * D * FLOAT;
  return { q, kv, o: q, read: q + kv, written: q };
}

/**
 * Bytes of one head that naive attention moves, kernel by kernel.
 * @returns {{ scores: object, softmax: object, output: object, read: number,
 *   written: number, matrix: number }} of each kernel { read, written }; matrix is the
 *   size of the matrix of scores
 */
export function naiveTraffic({ N, M, D, causal }) {
  const tilesN = ceilDiv(N, NAIVE_TILE);
  const tilesM = ceilDiv(M, NAIVE_TILE);
  const tilesD = ceilDiv(D, NAIVE_TILE);
  let seen = 0;
  for (let row = 0; row < N; ++row) seen += visibleKeys(N, M, causal, row);
  const scores = {
    read: (N * D * tilesM + M * D * tilesN) * FLOAT,
    written: N * M * FLOAT,
  };
  const softmax = { read: 3 * seen * FLOAT, written: (seen + N * M) * FLOAT };
  const output = {
    read: (N * M * tilesD + M * D * tilesN) * FLOAT,
    written: N * D * FLOAT,
  };
  return {
    scores,
    softmax,
    output,
    read: scores.read + softmax.read + output.read,
    written: scores.written + softmax.written + output.written,
    matrix: N * M * FLOAT,
  };
}

/** Bytes of q, k, v and o, each of them once: what any kernel has to move. */
export const leastTraffic = ({ N, M, D }) => 2 * (N + M) * D * FLOAT;

/**
 * Shared memory of a block, as Tile::kBytes of chapter 02's tiles.cuh: rows
 * of q and of k with 4 floats of padding, v without, and the weights.
 * @returns {{ q: number, k: number, v: number, p: number, all: number }}
 */
export function sharedBytes({ D, BM, BN }) {
  const q = BM * (D + 4) * FLOAT;
  const k = BN * (D + 4) * FLOAT;
  const v = BN * D * FLOAT;
  const p = BM * (BN + 4) * FLOAT;
  return { q, k, v, p, all: q + k + v + p };
}

/** The smallest of SHARED_LIMITS that a block fits into, or null. */
export function sharedLimit(bytes) {
  return SHARED_LIMITS.find((limit) => bytes <= limit.bytes) ?? null;
}

/** wb::attention_flop of one head: half of it for a causal mask. */
export const flop = ({ N, M, D, causal }) => (4 * N * M * D) / (causal ? 2 : 1);

/** Positions of the walk: all tiles of all blocks, one block after the other. */
export const walkLength = (shape) =>
  blocks(shape).reduce((sum, block) => sum + block.steps, 0);

/**
 * Where the walk stands after `position` tiles.
 * @param {number} position  0 <= position <= walkLength(shape)
 * @returns {{ block: number, tile: number, read: number, written: number }} the tile
 *   that was used last (-1, -1 before the first), and what has been moved up to then: a
 *   block reads its rows of q with its first tile, and writes o with its last
 */
export function walkAt(shape, position) {
  const { D } = shape;
  const state = { block: -1, tile: -1, read: 0, written: 0 };
  let left = position;
  for (const [index, block] of blocks(shape).entries()) {
    if (left <= 0) break;
    const steps = Math.min(left, block.steps);
    if (steps === 0) continue;
    left -= steps;
    state.block = index;
    state.tile = steps - 1;
    state.read += (block.rows + 2 * keysIn(steps, shape)) * D * FLOAT;
    if (steps === block.steps) state.written += block.rows * D * FLOAT;
  }
  return state;
}

/** Bytes as a reader wants them: "16 KB", "4.29 GB"; powers of ten. */
export function showBytes(bytes) {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let unit = 0;
  let number = bytes;
  while (number >= 1000 && unit < units.length - 1) {
    number /= 1000;
    ++unit;
  }
  const digits = unit === 0 || number >= 100 ? 0 : number >= 10 ? 1 : 2;
  return `${number.toFixed(digits)} ${units[unit]}`;
}

/** Shared memory is bought in units of 1024 bytes: "101 KiB". */
export const showKiB = (bytes) => `${Math.ceil(bytes / 1024)} KiB`;
