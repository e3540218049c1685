/**
 * tile-order/model.js: in which order clusters take the tiles of C (day 4, chapter 04),
 * and which rows of A and columns of B those need that work at the same time. The order
 * is that of cluster_tile() in common/include/wb/hopper_gemm/plan.h, the number of
 * clusters that of launch() in kernel.h.
 */

const TILE = 256; // rows and columns of C of a cluster: two blocks of 128 x 256
const BYTES = 2; // of an element of A or B
export const MULTIPROCESSORS = 132;
const OF_CLUSTER = 2;
/** MB that the L2 cache of an H100 holds. */
export const CACHE_MB = 50;
export const SIZES = [2048, 4096, 6144, 8192];
export const BANDS = [1, 2, 4, 8, 16, 32];

const ceilDiv = (a, b) => Math.ceil(a / b);

/** Tile number `tile`: its row and column among all tiles. */
export function clusterTile(tile, down, across, band) {
  const number = Math.floor(tile / (band * across));
  const rest = tile - number * band * across;
  const first = number * band;
  const rows = Math.min(band, down - first);
  const along = Math.floor(rest / rows);
  return {
    down: first + (rest % rows),
    across: number % 2 === 0 ? along : across - 1 - along,
  };
}

/** M = N = K = size: tiles in each direction, clusters at work, rounds of them. */
export function launchOf(size) {
  const side = ceilDiv(size, TILE);
  const room = MULTIPROCESSORS / OF_CLUSTER;
  const rounds = ceilDiv(side * side, room);
  return { side, rounds, clusters: ceilDiv(side * side, rounds) };
}

/** Numbers of the tiles of a round, 0 <= round < rounds. */
export function tilesOf({ side, clusters }, round) {
  const first = round * clusters;
  const count = Math.min(clusters, side * side - first);
  return Array.from({ length: count }, (_, i) => first + i);
}

/**
 * What the tiles of a round need.
 * @returns {{rows: number[], columns: number[], kept: number, megabytes: number}}
 *   rows of tiles, so of A; columns, so of B; kept: how many of both the round before
 *   needed, too; megabytes: of all these strips of A and B, each counted once
 */
export function needsOf(size, band, round) {
  const launch = launchOf(size);
  const stripsOf = (which) => {
    const places = tilesOf(launch, which)
      .map((tile) => clusterTile(tile, launch.side, launch.side, band));
    return {
      rows: [...new Set(places.map(({ down }) => down))].sort((a, b) => a - b),
      columns: [...new Set(places.map(({ across }) => across))].sort((a, b) => a - b),
    };
  };
  const { rows, columns } = stripsOf(round);
  const before = round > 0 ? stripsOf(round - 1) : { rows: [], columns: [] };
  const kept = rows.filter((row) => before.rows.includes(row)).length +
    columns.filter((column) => before.columns.includes(column)).length;
  const megabytes = (rows.length + columns.length) * TILE * size * BYTES / 1e6;
  return { rows, columns, kept, megabytes };
}
