// Threads, blocks and grids: which element belongs to which thread. Pure functions; a
// launch is { extent, block, grid, stride }, the first three [x, y, z], x runs fastest.
// With `stride`, each thread walks in a grid-stride loop along every axis.

export const WARP_SIZE = 32;
/// Of every GPU since compute capability 3.0.
export const LIMITS = {
  threads: 1024,
  block: [1024, 1024, 64],
  grid: [2 ** 31 - 1, 65535, 65535],
};
/// More cells are not drawn.
export const MOST_CELLS = 1280;
const AXES = ['x', 'y', 'z'];

const product = (d) => d[0] * d[1] * d[2];

/** The smallest integer that is not below a / b. */
export const ceilDiv = (a, b) => Math.floor((a + b - 1) / b);

/** The grid with just enough blocks along each axis. */
export const fittingGrid = (extent, block) =>
  extent.map((e, axis) => ceilDiv(e, block[axis]));

/** How many threads the grid has along each axis: the steps of a grid-stride loop. */
export const strides = ({ block, grid }) => grid.map((g, axis) => g * block[axis]);

/** The number of a place in a box: x runs fastest. */
export const number = ([x, y, z], box) => x + box[0] * (y + box[1] * z);

/** The place in a box that has a number. */
export const place = (i, box) => [
  i % box[0],
  Math.floor(i / box[0]) % box[1],
  Math.floor(i / (box[0] * box[1])),
];

const isInside = (at, box) => at.every((v, axis) => v < box[axis]);

/**
 * What a thread knows of itself.
 * @returns `at`: where it stands in the grid; `index`: of its first element, null if
 *   it has none; `tid`, `warp`, `lane`: in its block
 */
export function threadAt(launch, blockIdx, threadIdx) {
  const at = blockIdx.map((b, axis) => b * launch.block[axis] + threadIdx[axis]);
  const tid = number(threadIdx, launch.block);
  return {
    at,
    index: isInside(at, launch.extent) ? number(at, launch.extent) : null,
    tid,
    warp: Math.floor(tid / WARP_SIZE),
    lane: tid % WARP_SIZE,
  };
}

/** How many elements a thread visits. */
export function countVisits(launch, blockIdx, threadIdx) {
  const { at, index } = threadAt(launch, blockIdx, threadIdx);
  if (index === null) return 0;
  if (!launch.stride) return 1;
  const step = strides(launch);
  return product(at.map((v, axis) => ceilDiv(launch.extent[axis] - v, step[axis])));
}

/** The indices of the elements that a thread visits, in order, `most` at most. */
export function visits(launch, blockIdx, threadIdx, most = 64) {
  const { at, index } = threadAt(launch, blockIdx, threadIdx);
  if (index === null) return [];
  if (!launch.stride) return [index];
  const [sx, sy, sz] = strides(launch);
  const [nx, ny, nz] = launch.extent;
  const found = [];
  for (let z = at[2]; z < nz; z += sz)
    for (let y = at[1]; y < ny; y += sy)
      for (let x = at[0]; x < nx; x += sx) {
        if (found.length === most) return found;
        found.push(number([x, y, z], launch.extent));
      }
  return found;
}

/**
 * Who visits a place: an element, or a place beyond the array's end where an idle
 * thread stands. Null: nobody does.
 * @returns { blockIdx, threadIdx, trip: how often the loop has stepped on each axis }
 */
export function ownerOf(launch, at) {
  const step = strides(launch);
  const trip = at.map((v, axis) => Math.floor(v / step[axis]));
  const walks = launch.stride && isInside(at, launch.extent);
  if (!walks && trip.some((k) => k !== 0)) return null;
  const first = at.map((v, axis) => v % step[axis]);
  return {
    blockIdx: first.map((v, axis) => Math.floor(v / launch.block[axis])),
    threadIdx: first.map((v, axis) => v % launch.block[axis]),
    trip,
  };
}

/**
 * The launch in numbers.
 * @returns elements, blocks, threads; `active` threads have an element, `idle` ones
 *   have none; `missed` elements have no thread; `warps` of a block
 */
export function summary(launch) {
  const { extent, block, grid, stride } = launch;
  const threads = product(grid) * product(block);
  const both = strides(launch).map((s, axis) => Math.min(s, extent[axis]));
  const active = product(both);
  return {
    elements: product(extent),
    blocks: product(grid),
    threads,
    active,
    idle: threads - active,
    missed: stride ? 0 : product(extent) - active,
    warps: ceilDiv(product(block), WARP_SIZE),
  };
}

/** Why CUDA would refuse the launch; null if it would not. */
export function refusal({ block, grid }) {
  for (const [axis, name] of AXES.entries()) {
    if (block[axis] < 1 || grid[axis] < 1)
      return `a launch needs at least one block and one thread along ${name}`;
    if (block[axis] > LIMITS.block[axis])
      return `blockDim.${name} is at most ${LIMITS.block[axis]}`;
    if (grid[axis] > LIMITS.grid[axis])
      return `gridDim.${name} is at most ${LIMITS.grid[axis]}`;
  }
  if (product(block) > LIMITS.threads)
    return `a block has at most ${LIMITS.threads} threads, not ${product(block)}`;
  return null;
}

/** What 32 bits keep of an index: blockIdx.x * blockDim.x is such a product. */
export const in32Bits = (index) => index % 2 ** 32;

function cellAt(launch, at) {
  const owner = ownerOf(launch, at);
  const inside = isInside(at, launch.extent);
  if (!inside && !owner) return null;
  return {
    at,
    index: inside ? number(at, launch.extent) : null,
    owner,
    state: !inside ? 'idle' : owner ? 'active' : 'missed',
  };
}

/** The rows of a one-dimensional launch: a warp or less; a block begins a new row. */
function rows(launch) {
  const size = launch.block[0];
  const step = strides(launch)[0];
  const end = Math.max(launch.extent[0], step);
  const perBlock = ceilDiv(size, WARP_SIZE);
  const last = ceilDiv(end, size) * perBlock;
  const rowAt = (r) => {
    const before = Math.floor(r / perBlock) * size;
    const begin = before + (r % perBlock) * WARP_SIZE;
    const count = Math.min(WARP_SIZE, before + size - begin);
    const cells = Array.from({ length: count }, (_, i) =>
      cellAt(launch, [begin + i, 0, 0]));
    return {
      begin,
      block: Math.floor((before % step) / size),
      trip: Math.floor(before / step),
      warp: r % perBlock,
      cells: cells.filter((cell) => cell !== null),
    };
  };
  const width = Math.min(size, WARP_SIZE);
  const most = Math.max(4, Math.min(32, Math.floor(MOST_CELLS / width)));
  if (last <= most) {
    const all = Array.from({ length: last }, (_, r) => rowAt(r));
    return { rows: all.filter((row) => row.cells.length > 0), left: 0 };
  }
  const some = [];
  for (let r = 0; r < most; ++r)
    some.push(rowAt(r < most / 2 ? r : last - most + r));
  return { rows: some, left: last - most, gapAfter: Math.ceil(most / 2) - 1 };
}

/** The layers of a launch with two or three dimensions, cell by cell. */
function planes(launch) {
  const end = strides(launch).map((s, axis) => Math.max(s, launch.extent[axis]));
  if (product(end) > MOST_CELLS) return null;
  return Array.from({ length: end[2] }, (_, z) => ({
    z,
    rows: Array.from({ length: end[1] }, (_, y) =>
      Array.from({ length: end[0] }, (_, x) => cellAt(launch, [x, y, z]))),
  }));
}

/**
 * What there is to draw. One dimension: { rows, left: how many rows are left out,
 * gapAfter: after which row }. More: { planes }, null if there is too much to draw.
 */
export const picture = (launch, dimensions) =>
  dimensions === 1 ? rows(launch) : { planes: planes(launch) };

const sum = (b, d, t) => `${b} · ${d} + ${t} = ${b * d + t}`;

/** One sentence about a thread: how it finds its index, and what it does. */
export function sentence(launch, blockIdx, threadIdx, dimensions) {
  const { at, index } = threadAt(launch, blockIdx, threadIdx);
  const [nx, ny] = launch.extent;
  if (dimensions === 1) {
    const text = `i = ${sum(blockIdx[0], launch.block[0], threadIdx[0])}`;
    if (index === null) return `${text}: not below n = ${nx}, nothing to do`;
    if (!launch.stride) return text;
    const count = countVisits(launch, blockIdx, threadIdx);
    const some = visits(launch, blockIdx, threadIdx, 6).join(', ');
    return `${text}; visits ${some}${count > 6 ? ', …' : ''}: ${count} elements, ` +
      `${strides(launch)[0]} apart`;
  }
  const parts = AXES.slice(0, dimensions).map((name, a) =>
    `${name} = ${sum(blockIdx[a], launch.block[a], threadIdx[a])}`);
  if (index === null) return `${parts.join(', ')}: outside, nothing to do`;
  const formula = dimensions === 2
    ? `${at[1]} · ${nx} + ${at[0]}`
    : `(${at[2]} · ${ny} + ${at[1]}) · ${nx} + ${at[0]}`;
  const count = countVisits(launch, blockIdx, threadIdx);
  return `${parts.join(', ')}; index = ${formula} = ${index}` +
    (count > 1 ? `, the first of ${count} elements` : '');
}

/** Launches to begin with; `pick`: the block and the thread to look at. */
export const PRESETS = [
  { id: 'ten', name: '10 elements, blocks of 4', dimensions: 1,
    extent: [10, 1, 1], block: [4, 1, 1],
    pick: [[2, 0, 0], [1, 0, 0]] },
  { id: 'thousand', name: '1000 elements, blocks of 256', dimensions: 1,
    extent: [1000, 1, 1], block: [256, 1, 1],
    pick: [[2, 0, 0], [3, 0, 0]] },
  { id: 'rounded-down', name: '100 elements, a grid rounded down', dimensions: 1,
    extent: [100, 1, 1], block: [32, 1, 1], grid: [3, 1, 1],
    pick: [[2, 0, 0], [31, 0, 0]] },
  { id: 'stride', name: '20 elements, a grid-stride loop', dimensions: 1,
    extent: [20, 1, 1], block: [4, 1, 1], grid: [2, 1, 1], stride: true,
    pick: [[0, 0, 0], [1, 0, 0]] },
  { id: 'plane', name: '10 × 6 elements, blocks of 4 × 4', dimensions: 2,
    extent: [10, 6, 1], block: [4, 4, 1],
    pick: [[1, 1, 0], [2, 0, 0]] },
  { id: 'late', name: '7 × 7 elements, a block of 32 × 8', dimensions: 2,
    extent: [7, 7, 1], block: [32, 8, 1],
    pick: [[0, 0, 0], [3, 2, 0]] },
  { id: 'box', name: '5 × 3 × 3 elements, blocks of 4 × 2 × 2', dimensions: 3,
    extent: [5, 3, 3], block: [4, 2, 2],
    pick: [[1, 1, 1], [0, 0, 0]] },
  { id: 'planes', name: '4 × 2 × 6 elements, a loop over z', dimensions: 3,
    extent: [4, 2, 6], block: [4, 2, 1], grid: [1, 1, 4], stride: true,
    pick: [[0, 0, 1], [2, 1, 0]] },
];

/** The launch of a preset. */
export const launchOf = ({ extent, block, grid, stride = false }) =>
  ({ extent, block, grid: grid ?? fittingGrid(extent, block), stride });
