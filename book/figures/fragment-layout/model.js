/**
 * fragment-layout/model.js: which element each lane holds in mma.m16n8k16, and where
 * the rows of a tile lie in shared memory when ldmatrix reads a column of chunks.
 *
 * C (16 x 8, floats) += A (16 x 16) B (16 x 8). A register holds two neighbours of 16
 * bits of A or B, the first one in its low half, or one float of C.
 */

/** Rows and columns of the three matrices. */
export const SIZES = { a: [16, 16], b: [16, 8], c: [16, 8] };

/**
 * Who holds an element.
 * @param {'a'|'b'|'c'} matrix
 * @returns {{ lane: number, register: number, half: number }} half: 0 low, 1 high; of C
 *   always 0
 */
export function holder(matrix, row, col) {
  // In B, pairs are neighbours in a column: its rows are what A's columns are.
  const [along, across] = matrix === 'b' ? [row, col] : [col, row];
  const lane = (across % 8) * 4 + Math.floor((along % 8) / 2);
  if (matrix === 'a') {
    const register = Math.floor(row / 8) + 2 * Math.floor(col / 8);
    return { lane, register, half: col % 2 };
  }
  if (matrix === 'b') return { lane, register: Math.floor(row / 8), half: row % 2 };
  return { lane, register: 2 * Math.floor(row / 8) + (col % 2), half: 0 };
}

/**
 * What a lane holds of a matrix, in the order of its registers, low halves first.
 * @returns {[number, number][]} rows and columns: 8 of A, 4 of B, 4 of C
 */
export function elementsOf(matrix, lane) {
  const [rows, cols] = SIZES[matrix];
  const elements = [];
  for (let row = 0; row < rows; ++row) {
    for (let col = 0; col < cols; ++col) {
      const at = holder(matrix, row, col);
      if (at.lane !== lane) continue;
      elements.push({ place: 2 * at.register + at.half, row, col });
    }
  }
  return elements.sort((x, y) => x.place - y.place).map(({ row, col }) => [row, col]);
}

/** Bytes that one pass (a wavefront) takes from the 32 banks. */
export const LINE_BYTES = 128;

/** Bytes of a chunk: a row of an 8 x 8 matrix of 16-bit numbers. */
export const CHUNK_BYTES = 16;

/** Rows of 64 numbers of 16 bits: eight chunks. */
export const LAYOUTS = {
  plain: (row, chunk) => row * 128 + chunk * CHUNK_BYTES,
  padded: (row, chunk) => row * 144 + chunk * CHUNK_BYTES,
  // wb::ptx::swizzle_128b
  swizzled: (row, chunk) => row * 128 + (chunk ^ row % 8) * CHUNK_BYTES,
};

/**
 * Where a chunk of a row lies.
 * @param {'plain'|'padded'|'swizzled'} layout
 * @returns {{ offset: number, line: number, group: number }} byte from the tile's
 *   start; its line of 128 bytes; and which eighth of the line, which is also its group
 *   of four banks
 */
export function chunkAt(layout, row, chunk) {
  const offset = LAYOUTS[layout](row, chunk);
  return {
    offset,
    line: Math.floor(offset / LINE_BYTES),
    group: (offset % LINE_BYTES) / CHUNK_BYTES,
  };
}

/**
 * Passes that ldmatrix needs for one matrix: the same chunk of eight rows. Chunks in
 * the same four banks come one after the other.
 */
export function wavefronts(layout, chunk) {
  const counts = Array(8).fill(0);
  for (let row = 0; row < 8; ++row) ++counts[chunkAt(layout, row, chunk).group];
  return Math.max(...counts);
}
