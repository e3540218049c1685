/**
 * Sparse attention patterns, as wb/sparse_builders.h makes them: rows of keys (CSR) and
 * lists of full and partial blocks. Query i stands at the position
 * p = i + keys - queries; indices come out ascending.
 */
import { splitMix64, uniform } from './random.js';

/** Queries and keys of a block in the kernels: wb::BlockPattern::kRows and kKeys. */
export const KERNEL_BLOCK = { rows: 128, keys: 64 };

/**
 * @typedef {{queries: number, keys: number, offsets: number[], indices: number[]}} Csr
 * @typedef {{offsets: number[], blocks: number[]}} BlockList
 */

/** A pattern whose row i is what addRow(p) gives. */
function build(queries, keys, addRow) {
  const pattern = { queries, keys, offsets: [0], indices: [] };
  for (let i = 0; i < queries; ++i) {
    for (const key of addRow(i + keys - queries)) pattern.indices.push(key);
    pattern.offsets.push(pattern.indices.length);
  }
  return pattern;
}

/** The keys of [first, last] that exist. */
function range(first, last, keys) {
  const row = [];
  for (let j = Math.max(first, 0); j <= Math.min(last, keys - 1); ++j) row.push(j);
  return row;
}

/** Every key; causal: those up to p. */
export function densePattern(queries, keys, causal) {
  return build(queries, keys, (p) => range(0, causal ? p : keys - 1, keys));
}

/** The keys from p - left to p + right. */
export function localPattern(queries, keys, left, right) {
  return build(queries, keys, (p) => range(p - left, p + right, keys));
}

/** A causal window of `window` keys, and the first `sinks` keys. */
export function windowWithSinks(queries, keys, window, sinks) {
  return build(queries, keys, (p) => {
    const first = p - window + 1;
    return [
      ...range(0, Math.min(sinks, first) - 1, keys),
      ...range(first, p, keys),
    ];
  });
}

/** Causal: the last `stride` keys, and every stride-th before them. */
export function stridedPattern(queries, keys, stride) {
  return build(queries, keys, (p) => {
    const row = [];
    for (let j = p < 0 ? 0 : p % stride; j <= p - stride; j += stride) row.push(j);
    return [...row, ...range(p - stride + 1, p, keys)];
  });
}

/** `count` different keys for each query (Knuth, volume 2, algorithm S). */
export function randomPattern(queries, keys, count, seed) {
  const next = splitMix64(seed);
  return build(queries, keys, () => {
    const row = [];
    let wanted = Math.min(count, keys);
    for (let j = 0; wanted > 0; ++j) {
      if (uniform(next) * (keys - j) >= wanted) continue;
      row.push(j);
      --wanted;
    }
    return row;
  });
}

/** Causal, coarser with distance: all of the last `near` keys, of the 2 * near before
 * them every 2nd, of the 4 * near before these every 4th, ... */
export function hierarchicalPattern(queries, keys, near) {
  return build(queries, keys, (p) => {
    const row = [];
    for (let j = 0; j <= p; ++j) {
      let step = 1;
      while (p - j >= near * (2 * step - 1)) step *= 2;
      if (j % step === 0) row.push(j);
    }
    return row;
  });
}

/** Random blocks, each with the probability `density`. */
export function blockSparsePattern(queries, keys, density, seed, block = KERNEL_BLOCK) {
  const next = splitMix64(seed);
  let query = 0;
  let chosen = [];
  return build(queries, keys, () => {
    if (query++ % block.rows === 0) {
      chosen = [];
      for (let first = 0; first < keys; first += block.keys) {
        if (uniform(next) < density) chosen.push(first);
      }
    }
    return chosen.flatMap((first) => range(first, first + block.keys - 1, keys));
  });
}

/** The keys of query i. */
export function rowOf(pattern, i) {
  return pattern.indices.slice(pattern.offsets[i], pattern.offsets[i + 1]);
}

/** One block's bits, a word for each of its rows; key block by key block. */
function masksOfRow(pattern, firstRow, block) {
  const blocks = new Map();
  const end = Math.min(firstRow + block.rows, pattern.queries);
  for (let i = firstRow; i < end; ++i) {
    for (const key of rowOf(pattern, i)) {
      const at = Math.floor(key / block.keys);
      if (!blocks.has(at)) blocks.set(at, new Array(block.rows).fill(0n));
      blocks.get(at)[i - firstRow] |= 1n << BigInt(key % block.keys);
    }
  }
  return [...blocks].sort((a, b) => a[0] - b[0]);
}

/** The bits of a block in which every pair that exists is seen. */
function isFull(masks, rows, keys, block) {
  const all = (1n << BigInt(Math.min(keys, block.keys))) - 1n;
  return masks.every((mask, r) => mask === (r < rows ? all : 0n));
}

/**
 * The same pattern in blocks: full where all pairs that exist are in it.
 * @param {Csr} pattern  no key listed twice
 * @returns {{full: BlockList, partial: BlockList, masks: bigint[], order: number[]}}
 *   masks: a word for each row of each partial block; order: most blocks first
 */
export function toBlocks(pattern, block = KERNEL_BLOCK) {
  const result = {
    full: { offsets: [0], blocks: [] },
    partial: { offsets: [0], blocks: [] },
    masks: [],
    order: [],
  };
  const work = [];
  for (let first = 0; first < pattern.queries; first += block.rows) {
    const blocks = masksOfRow(pattern, first, block);
    for (const [at, masks] of blocks) {
      const rows = pattern.queries - first;
      const full = isFull(masks, rows, pattern.keys - at * block.keys, block);
      (full ? result.full : result.partial).blocks.push(at);
      if (!full) result.masks.push(...masks);
    }
    result.full.offsets.push(result.full.blocks.length);
    result.partial.offsets.push(result.partial.blocks.length);
    work.push(blocks.length);
  }
  // Array.prototype.sort is stable, like std::stable_sort.
  result.order = work.map((_, row) => row).sort((a, b) => work[b] - work[a]);
  return result;
}

/**
 * What a pattern costs in either form: pairs that count, pairs that a kernel on blocks
 * computes, and bytes of the lists (offsets 8, indices and blocks 4, masks 8 each).
 */
export function costs(pattern, blocks, block = KERNEL_BLOCK) {
  const listed = blocks.full.blocks.length + blocks.partial.blocks.length;
  const blockRows = Math.ceil(pattern.queries / block.rows);
  const allBlocks = blockRows * Math.ceil(pattern.keys / block.keys);
  const pairs = pattern.indices.length;
  return {
    pairs,
    density: pairs / (pattern.queries * pattern.keys),
    full: blocks.full.blocks.length,
    partial: blocks.partial.blocks.length,
    allBlocks,
    computed: listed * block.rows * block.keys,
    csrBytes: 8 * (pattern.queries + 1) + 4 * pairs,
    blockBytes: 16 * (blockRows + 1) + 4 * listed + 8 * blocks.masks.length,
  };
}

/** The patterns by name: which sliders they have, and how they are built. */
export const PATTERNS = [
  {
    name: 'window',
    title: 'window with sinks',
    sliders: [
      { name: 'window', min: 1, max: 32, value: 12 },
      { name: 'sinks', min: 0, max: 8, value: 4 },
    ],
    build: (n, s) => windowWithSinks(n, n, s.window, s.sinks),
  },
  {
    name: 'local',
    title: 'local',
    sliders: [
      { name: 'left', min: 0, max: 31, value: 3 },
      { name: 'right', min: 0, max: 31, value: 2 },
    ],
    build: (n, s) => localPattern(n, n, s.left, s.right),
  },
  {
    name: 'strided',
    title: 'strided',
    sliders: [{ name: 'stride', min: 1, max: 16, value: 4 }],
    build: (n, s) => stridedPattern(n, n, s.stride),
  },
  {
    name: 'random',
    title: 'random',
    sliders: [
      { name: 'count', min: 1, max: 32, value: 4 },
      { name: 'seed', min: 1, max: 99, value: 1 },
    ],
    build: (n, s) => randomPattern(n, n, s.count, s.seed),
  },
  {
    name: 'hierarchical',
    title: 'hierarchical',
    sliders: [{ name: 'near', min: 1, max: 8, value: 2 }],
    build: (n, s) => hierarchicalPattern(n, n, s.near),
  },
  {
    name: 'block-sparse',
    title: 'random blocks',
    sliders: [
      { name: 'percent', min: 0, max: 100, value: 40 },
      { name: 'seed', min: 1, max: 99, value: 1 },
    ],
    build: (n, s, block) => blockSparsePattern(n, n, s.percent / 100, s.seed, block),
  },
  {
    name: 'causal',
    title: 'all keys so far (causal)',
    sliders: [],
    build: (n) => densePattern(n, n, true),
  },
];
