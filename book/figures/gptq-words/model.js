// Which bits of which word a number of 4 bits is: as GPTQ stores W [K, N], and after
// gptq_repack() of day05-quantization/02-gptq-int4, whose layout.h this follows.

export const K = 64;
export const N = 32;
export const GROUP = 32; // rows of W that share a scale and a zero, without g_idx
export const GROUPS = K / GROUP;
export const TILE = 32; // rows, and columns, of a packed tile

/** The two ways in which rows belong to groups: g_idx of each. */
export const ORDERS = [
  { id: 'none', name: 'no g_idx', groupOf: (k) => Math.floor(k / GROUP) },
  { id: 'order', name: 'g_idx: even rows, odd rows', groupOf: (k) => k % GROUPS },
];
export const orderOf = (id) => ORDERS.find((order) => order.id === id);

/** Where W[k, n] is in qweight [K / 8, N]. */
export const wordOf = (k, n) => ({ row: k >> 3, column: n, nibble: k % 8 });

/** Where the zero of a group and a column is in qzeros [groups, N / 8]. */
export const zeroOf = (group, n) => ({ row: group, column: n >> 3, nibble: n % 8 });

/** Which nibble of a packed word is row i of its eight: place_of_row() of layout.h. */
export const placeOfRow = (i) => (i >> 1) + (i % 2) * 4;

/**
 * The rows of W in the order of the packed tiles: groups one behind the other, each from
 * the beginning of a tile on.
 * @returns {number[]} the row in each place; -1: none
 */
export function sortedRows(groupOf) {
  const rows = [];
  for (let g = 0; g < GROUPS; ++g) {
    for (let k = 0; k < K; ++k) if (groupOf(k) === g) rows.push(k);
    while (rows.length % TILE !== 0) rows.push(-1);
  }
  return rows;
}

/** Where W[k, n] is in the packed tiles. @param {number[]} rows  of sortedRows() */
export function packedOf(k, n, rows) {
  const place = rows.indexOf(k);
  return {
    tile: Math.floor(place / TILE),
    lane: ((n % TILE) >> 2) * 4 + ((place % TILE) >> 3),
    word: n % 4,
    nibble: placeOfRow(place % 8),
  };
}

/** What the eight nibbles of a packed word are, nibble 0 first: rows of W. */
export function rowsOfPacked({ tile, lane }, rows) {
  const first = tile * TILE + (lane % 4) * 8;
  const result = [];
  for (let i = 0; i < 8; ++i) result[placeOfRow(i)] = rows[first + i];
  return result;
}

/** The four masks that take a packed word apart: two nibbles each. */
export const MASKS = [0, 1, 2, 3].map((i) => ({
  shift: i < 2 ? 0 : 8,
  mask: i % 2 === 0 ? '0x000F000F' : '0x00F000F0',
  nibbles: [i, i + 4],
}));
