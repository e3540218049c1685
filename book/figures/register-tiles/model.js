/**
 * register-tiles/model.js: what a warp reads from shared memory for one k of a matrix
 * product, if each of its lanes has TM x TN sums (day 4, chapter 01). Turns are counted
 * as the simulator counts them, which was compared with a GPU's counters:
 * common/simt/checker/count/request.cpp.
 */

const LANES = 32;
const BANKS = 32;
const VECTOR = 4;
/** Warps that multiply in one clock, on one multiprocessor. */
export const SCHEDULERS = 4;

/**
 * @typedef {object} Shape
 * @property {number} lanesM   rows of lanes in a warp; lanesM * lanesN = 32
 * @property {number} lanesN   columns of lanes
 * @property {number} tm       rows of a lane's sums
 * @property {number} tn       columns of a lane's sums
 * @property {boolean} vectors four floats a load, groups of four that lie apart; an
 *   operand of which a lane wants fewer than four is read one by one all the same
 */

/** The versions of the chapter, as a warp sees them. */
export const VERSIONS = [
  { id: 'v3', name: 'v3: one sum', lanes: '1 x 32', tm: 1, tn: 1, vectors: false },
  { id: 'v4', name: 'v4: eight sums', lanes: '1 x 32', tm: 8, tn: 1, vectors: false },
  { id: 'v5', name: 'v5: 8 x 8 sums', lanes: '2 x 16', tm: 8, tn: 8, vectors: false },
  { id: 'v6', name: 'v6: vectors', lanes: '2 x 16', tm: 8, tn: 8, vectors: true },
  { id: 'v7', name: 'v7: a square warp', lanes: '4 x 8', tm: 8, tn: 8, vectors: true },
  { id: 'v9', name: 'v9: 8 x 16 sums', lanes: '4 x 8', tm: 8, tn: 16, vectors: true },
];
export const LANE_SHAPES = ['1 x 32', '2 x 16', '4 x 8', '8 x 4', '16 x 2', '32 x 1'];
export const COUNTS = [1, 2, 4, 8, 16];

/** @param {{lanes: string}} choice  of VERSIONS, or made of the controls */
export function shapeOf({ lanes, tm, tn, vectors }) {
  const [lanesM, lanesN] = lanes.split(' x ').map(Number);
  return { lanesM, lanesN, tm, tn, vectors };
}

/**
 * Which row and which column of lanes this lane is in. 4 x 8 lanes stand as v7 puts
 * them, so that neighbours share their rows or their columns; all others row by row.
 */
export function placeOf({ lanesM, lanesN }, lane) {
  if (lanesM === 4)
    return { m: Math.floor(lane / 16) * 2 + (lane % 2), n: Math.floor(lane / 2) % 8 };
  return { m: Math.floor(lane / lanesN), n: lane % lanesN };
}

const isWide = (shape, count) => shape.vectors && count % VECTOR === 0;

/** The rows (or columns) of a lane, as they lie in the warp's tile. */
function indices(shape, count, lanes, at) {
  return Array.from({ length: count }, (_, i) => {
    if (!isWide(shape, count)) return at * count + i;
    return Math.floor(i / VECTOR) * lanes * VECTOR + at * VECTOR + (i % VECTOR);
  });
}

/** Rows and columns of the sums of a lane. */
export function sumsOf(shape, lane) {
  const { m, n } = placeOf(shape, lane);
  return {
    rows: indices(shape, shape.tm, shape.lanesM, m),
    columns: indices(shape, shape.tn, shape.lanesN, n),
  };
}

/**
 * The turns of one load of a warp: how often shared memory must be asked, since a bank
 * gives one word a turn, to all lanes that want it.
 * @param {number[]} words  of each lane, the first one
 * @param {number} width    words that a lane reads: 1 or 4
 * @returns {{turns: number, banks: number[]}}  banks: different words that the first
 *   lanes, those which are served together, want from each
 */
export function turnsOf(words, width) {
  const share = (apart) => words.every((word, lane) => word === words[lane ^ apart]);
  let group = width === 1 ? LANES : LANES / 4;
  if (group < LANES && (share(1) || share(2))) group *= 2;
  let turns = 0;
  let banks;
  for (let first = 0; first < LANES; first += group) {
    const wanted = Array.from({ length: BANKS }, () => new Set());
    for (let lane = first; lane < first + group; ++lane)
      for (let i = 0; i < width; ++i)
        wanted[(words[lane] + i) % BANKS].add(words[lane] + i);
    const counts = wanted.map((set) => set.size);
    turns += Math.max(...counts);
    banks ??= counts;
  }
  return { turns, banks };
}

/** All loads of an operand for one k; key: 'rows' of A, 'columns' of B. */
function loadsOf(shape, key, count) {
  const width = isWide(shape, count) ? VECTOR : 1;
  const lanes = Array.from({ length: LANES }, (_, lane) => sumsOf(shape, lane)[key]);
  const loads = Array.from({ length: count / width }, (_, i) =>
    turnsOf(lanes.map((own) => own[i * width]), width));
  return {
    width,
    loads: loads.length,
    turns: loads.reduce((sum, load) => sum + load.turns, 0),
    banks: loads[0].banks,
    floats: new Set(lanes.flat()).size,
  };
}

/**
 * What a warp does for one k.
 * @param {Shape} shape
 * @returns {{a: object, b: object, products: number, turns: number, share: number,
 *   registers: number}}  products: of a lane; share: of the multiprocessor's products
 *   that its shared memory can feed, at most 1; registers: for sums and factors alone
 */
export function countsOf(shape) {
  const a = loadsOf(shape, 'rows', shape.tm);
  const b = loadsOf(shape, 'columns', shape.tn);
  const products = shape.tm * shape.tn;
  const turns = a.turns + b.turns;
  return {
    a, b, products, turns,
    share: Math.min(1, products / (SCHEDULERS * turns)),
    registers: products + shape.tm + shape.tn,
  };
}

/** Rectangles of a lane's sums: runs of neighbouring rows and columns. */
export function patchesOf(shape, lane) {
  const { rows, columns } = sumsOf(shape, lane);
  const runs = (list) => {
    const found = [];
    for (const i of list) {
      const last = found.at(-1);
      if (last && last.first + last.count === i) last.count += 1;
      else found.push({ first: i, count: 1 });
    }
    return found;
  };
  return runs(rows).flatMap((row) =>
    runs(columns).map((col) => ({
      row: row.first, rows: row.count, col: col.first, cols: col.count,
    })));
}
