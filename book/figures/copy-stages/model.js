/**
 * copy-stages/model.js: when one block of day 2's chapter 06 copies its tiles to shared
 * memory, waits for them and uses them, with a ring of `stages` tiles.
 *
 * It is a model, and its durations are the reader's:
 *  - a copy takes `latency` ns, and memory delivers to this block one tile in `gap` ns:
 *    copies land one after the other;
 *  - using a tile takes `use` ns; barriers take no time.
 */

/** Bytes of a tile with its halo. */
export const TILE_BYTES = 4128;

/** Rings to choose from: v1, v3, three stages as the wrong kernels have, v4. */
export const STAGES = [1, 2, 3, 4, 6];

/** Nanoseconds in which 3,190 bytes a ns, 132 multiprocessors and `blocks` on each of
 * them bring a tile to one block. */
export const gapOf = (blocks) => (TILE_BYTES * 132 * blocks) / 3190;

/** Which tile is started in round k, if there is one: with one stage, the round's own. */
export const startedIn = (round, stages) => round + stages - 1;

/**
 * @param {number} tiles   of the block, >= 1
 * @param {number} stages  1: nothing is under way while the block uses a tile; 2: the
 *   next tile's copy starts before the wait for this one; more: it starts behind the
 *   wait, in the stage that was used in the round before
 * @param {{latency: number, use: number, gap: number}} durations
 * @returns {{tiles: {stage, start, landed, begin, end}[], total: number,
 *   underWay: number}} times in ns: the copy starts and lands, the use begins and ends;
 *   underWay: tiles under way on average
 */
export function timeline(tiles, stages, { latency, use, gap }) {
  const all = [];
  let landed = 0; // the copy before
  const start = (tile, time) => {
    if (tile >= tiles) return;
    // The first tile takes the latency; those behind it also wait for their turn.
    landed = tile === 0 ? time + latency : Math.max(time + latency, landed + gap);
    all[tile] = { stage: tile % stages, start: time, landed };
  };
  for (let tile = 0; tile < stages - 1; ++tile) start(tile, 0);
  let now = 0;
  for (let round = 0; round < tiles; ++round) {
    if (stages <= 2) start(startedIn(round, stages), now);
    const tile = all[round];
    tile.begin = Math.max(now, tile.landed);
    if (stages > 2) start(startedIn(round, stages), tile.begin);
    now = tile.end = tile.begin + use;
  }
  const copying = all.reduce((sum, tile) => sum + tile.landed - tile.start, 0);
  return { tiles: all, total: now, underWay: copying / now };
}

/** Bytes a ns that a block with very many tiles reaches. */
export function rate(stages, durations) {
  const few = timeline(200, stages, durations);
  const many = timeline(400, stages, durations);
  return (200 * TILE_BYTES) / (many.total - few.total);
}

/** The most that memory delivers to the block, in bytes a ns. */
export const most = ({ gap }) => TILE_BYTES / gap;

/** What the block does at a time: 'uses tile 3', 'waits for tile 4', or 'is done'. */
export function doing({ tiles }, time) {
  const tile = tiles.findIndex(({ end }) => time < end);
  if (tile < 0) return 'is done';
  return time < tiles[tile].begin ? `waits for tile ${tile}` : `uses tile ${tile}`;
}

/** The tiles that are under way at a time. */
export const copied = ({ tiles }, time) =>
  tiles.flatMap(({ start, landed }, tile) =>
    (start <= time && time < landed ? [tile] : []));
