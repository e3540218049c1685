/**
 * look-back/model.js: the scan in one pass of day 3's chapter 02, round by round. In a
 * round, each block that has begun does one thing: it loads, or it asks the words of the
 * tiles before its own. All of them see the words as they were before the round.
 */

/** What the elements of each tile add up to: the first four are those of the lesson. */
export const TOTALS = [6, 10, 5, 7, 4, 9, 3, 8];
export const TILES = TOTALS.length;

/** Rounds until a tile is in registers and summed. One is slow. */
const LOADS = [2, 2, 4, 2, 2, 2, 2, 2];

/** In which order blocks begin. */
export const ORDERS = {
  first: [0, 1, 2, 3, 4, 5, 6, 7],
  last: [7, 6, 5, 4, 3, 2, 1, 0],
  mixed: [2, 0, 5, 1, 7, 3, 6, 4],
};

/**
 * @typedef {{kind: 'empty' | 'total' | 'prefix', value: number}} Word
 * @typedef {object} Block
 * @property {number} block  blockIdx.x
 * @property {number} tile
 * @property {'load' | 'add' | 'wait' | 'end'} doing  it loads; the words that it asked
 *   were there, and it goes on before them; one was empty; it knows its prefix
 * @property {number} sum  of the words that it has added
 * @property {number} at   the nearest tile that it has not added
 * @property {number[]} asked  tiles, in this round
 * @typedef {{words: Word[], blocks: Block[]}} Round  after it
 */

const EMPTY = { kind: 'empty', value: 0 };
const wordBefore = { kind: 'prefix', value: 0 }; // of all tiles below 0

/**
 * What the words `at`, `at` - 1, ... of a window say: the nearest prefix ends the
 * look-back, and empty words behind it are not waited for.
 * @returns {{added: number, kind: 'add' | 'wait' | 'end'}}
 */
export function ask(words, at, lanes) {
  let added = 0;
  for (let lane = 0; lane < lanes; ++lane) {
    const word = at - lane < 0 ? wordBefore : words[at - lane];
    if (word.kind === 'empty') return { added: 0, kind: 'wait' };
    added += word.value;
    if (word.kind === 'prefix') return { added, kind: 'end' };
  }
  return { added, kind: 'add' };
}

/**
 * @param {{room: number, ticket: boolean, order: keyof ORDERS, lanes: number}} options
 *   room: for so many blocks at a time; ticket: a tile's number is a ticket, else
 *   blockIdx.x; lanes: so many words are asked at a time
 * @returns {{rounds: Round[], stuck: boolean, asked: number}} asked: words, in all
 */
export function run({ room, ticket, order, lanes }) {
  const waiting = [...ORDERS[order]];
  let words = Array(TILES).fill(EMPTY);
  let resident = [];
  let tickets = 0;
  let asked = 0;
  const rounds = [{ words, blocks: [] }];
  while (waiting.length > 0 || resident.length > 0) {
    let moved = false;
    while (resident.length < room && waiting.length > 0) {
      const block = waiting.shift();
      const tile = ticket ? tickets++ : block;
      resident.push({ block, tile, left: LOADS[tile], sum: 0, at: tile - 1 });
    }
    const after = [...words];
    for (const b of resident) {
      b.asked = [];
      if (b.left > 0) {
        b.doing = 'load';
        moved = true;
        if (--b.left > 0) continue;
        after[b.tile] = { kind: b.tile === 0 ? 'prefix' : 'total', value: TOTALS[b.tile] };
        if (b.tile === 0) b.doing = 'end';
        continue;
      }
      for (let i = b.at; i >= 0 && i > b.at - lanes; --i) b.asked.push(i);
      asked += b.asked.length;
      const { added, kind } = ask(words, b.at, lanes);
      b.doing = kind;
      b.sum += added;
      if (kind === 'wait') continue;
      moved = true;
      if (kind === 'add') b.at -= lanes;
      else after[b.tile] = { kind: 'prefix', value: b.sum + TOTALS[b.tile] };
    }
    words = after;
    rounds.push({ words, blocks: resident.map((b) => ({ ...b })) });
    if (!moved) return { rounds, stuck: true, asked };
    resident = resident.filter(({ doing }) => doing !== 'end');
  }
  return { rounds, stuck: false, asked };
}

/** What a block does in a round, in words. */
export function inWords({ tile, doing, asked, at, sum }, words) {
  if (doing === 'load') return `tile ${tile} loads`;
  if (doing === 'end') return `tile ${tile} has its prefix`;
  if (doing === 'add') return `tile ${tile} has added ${sum} and goes on`;
  const empty = asked.find((i) => words[i].kind === 'empty') ?? at;
  return `tile ${tile} waits for tile ${empty}`;
}
