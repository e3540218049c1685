/**
 * A cache of keys and values in pages, and who owns them: what wb::PageAllocator
 * (wb/page_allocator.h) and wb::PagedCache (wb/paged_cache.h) do, with the tokens that
 * lie in the slots.
 */

/** The pool or the table cannot do what was asked. Nothing has been changed. */
export class CacheError extends Error {
  /** @param {'out of pages' | 'row full' | 'no row' | 'no sequence'} kind */
  constructor(kind, message) {
    super(message);
    this.kind = kind;
  }
}

/**
 * @typedef {object} State
 * @property {number} pageSize
 * @property {number} pagesPerSequence
 * @property {number[]} free      a stack: the page freed last is used first
 * @property {number[]} owners    [pages] how many sequences own it
 * @property {number[][]} table   [sequences][pagesPerSequence], -1 where no page is
 * @property {number[]} lengths   [sequences] tokens
 * @property {boolean[]} used     [sequences] rows that have a sequence
 * @property {number[][]} slots   [pages][pageSize] what lies there, -1 for nothing yet
 */

/** @returns {State} all pages free, no sequence */
export function emptyCache(pages, pageSize, sequences, pagesPerSequence) {
  const rows = (count, make) => Array.from({ length: count }, make);
  return {
    pageSize,
    pagesPerSequence,
    free: rows(pages, (_, i) => pages - 1 - i),
    owners: rows(pages, () => 0),
    table: rows(sequences, () => rows(pagesPerSequence, () => -1)),
    lengths: rows(sequences, () => 0),
    used: rows(sequences, () => false),
    slots: rows(pages, () => rows(pageSize, () => -1)),
  };
}

/** A copy that can be changed: states that were handed out stay as they are. */
function clone(state) {
  return structuredClone(state);
}

function pagesOf(state, tokens) {
  return Math.ceil(tokens / state.pageSize);
}

function check(state, sequence) {
  if (!state.used[sequence]) {
    throw new CacheError('no sequence', `there is no sequence ${sequence}`);
  }
}

function takePage(state) {
  const page = state.free.pop();
  state.owners[page] = 1;
  return page;
}

/** A new, empty sequence: the lowest row that has none. */
export function add(before) {
  const sequence = before.used.indexOf(false);
  if (sequence < 0) {
    throw new CacheError(
      'no row',
      `all ${before.used.length} rows of the block table have a sequence`,
    );
  }
  const state = clone(before);
  state.used[sequence] = true;
  return { state, sequence };
}

/** A new sequence with the same tokens, which shares all pages of `parent`. */
export function fork(before, parent) {
  check(before, parent);
  const { state, sequence } = add(before);
  const pages = pagesOf(state, state.lengths[parent]);
  for (let i = 0; i < pages; ++i) {
    const page = state.table[parent][i];
    state.table[sequence][i] = page;
    ++state.owners[page];
  }
  state.lengths[sequence] = state.lengths[parent];
  return { state, sequence, shared: pages };
}

/**
 * Appends tokens, numbered by `token(position)`: makes room, copies the last page if it
 * is shared and not full, and writes.
 * @returns {{state: State, copies: {from: number, to: number}[], taken: number[]}}
 */
export function append(before, sequence, tokens, token = (position) => position) {
  check(before, sequence);
  const length = before.lengths[sequence];
  const room = before.pagesPerSequence * before.pageSize - length;
  if (tokens > room) {
    throw new CacheError(
      'row full',
      `sequence ${sequence} has room for ${room} more tokens in its row, ` +
        `not for ${tokens}`,
    );
  }
  const state = clone(before);
  if (tokens === 0) return { state, copies: [], taken: [] };
  const oldPages = pagesOf(state, length);
  const newPages = pagesOf(state, length + tokens);
  const last = state.table[sequence][oldPages - 1];
  const copy = length % state.pageSize !== 0 && state.owners[last] > 1;
  const wanted = newPages - oldPages + (copy ? 1 : 0);
  if (wanted > state.free.length) {
    throw new CacheError(
      'out of pages',
      `sequence ${sequence} needs ${wanted} more pages, ${state.free.length} are free`,
    );
  }
  const copies = [];
  const taken = [];
  if (copy) {
    const own = takePage(state);
    copies.push({ from: last, to: own });
    taken.push(own);
    --state.owners[last];
    state.table[sequence][oldPages - 1] = own;
    state.slots[own] = [...state.slots[last]];
  }
  for (let i = oldPages; i < newPages; ++i) {
    const page = takePage(state);
    state.table[sequence][i] = page;
    taken.push(page);
  }
  state.lengths[sequence] = length + tokens;
  for (let position = length; position < length + tokens; ++position) {
    const { page, slot } = locate(state, sequence, position);
    state.slots[page][slot] = token(position);
  }
  return { state, copies, taken };
}

/** Ends a sequence. Its pages are free as soon as nobody shares them. */
export function release(before, sequence) {
  check(before, sequence);
  const state = clone(before);
  const freed = [];
  for (let i = 0; i < pagesOf(state, state.lengths[sequence]); ++i) {
    const page = state.table[sequence][i];
    if (--state.owners[page] === 0) {
      state.free.push(page);
      freed.push(page);
    }
    state.table[sequence][i] = -1;
  }
  state.lengths[sequence] = 0;
  state.used[sequence] = false;
  return { state, freed };
}

/** Where token t of a sequence lies: one look-up in the table. */
export function locate(state, sequence, t) {
  const index = Math.floor(t / state.pageSize);
  return { index, page: state.table[sequence][index], slot: t % state.pageSize };
}

/** Where a row of headDim numbers begins in k and in v: wb::PagedCache::row(). */
export function rowOffset(page, kvHead, slot, { kvHeads, pageSize, headDim }) {
  return ((page * kvHeads + kvHead) * pageSize + slot) * headDim;
}

/** The sequences that own a page. */
export function ownersOf(state, page) {
  return state.used.flatMap((used, s) =>
    used && state.table[s].includes(page) ? [s] : [],
  );
}

/** Whether a token lies in a slot, for at least one sequence. */
export function isAlive(state, page, slot) {
  return ownersOf(state, page).some((s) => {
    const index = state.table[s].indexOf(page);
    return index * state.pageSize + slot < state.lengths[s];
  });
}

/** Tokens as the sequences see them, slots that hold none, and what sharing saves. */
export function usage(state) {
  const seen = state.lengths.reduce((a, b) => a + b, 0);
  const inUse = state.owners.filter((n) => n > 0).length;
  const shared = state.owners.filter((n) => n > 1).length;
  let held = 0;
  for (let page = 0; page < state.owners.length; ++page) {
    for (let slot = 0; slot < state.pageSize; ++slot) {
      if (isAlive(state, page, slot)) ++held;
    }
  }
  const contiguous = state.used.filter(Boolean).length * state.pagesPerSequence;
  return {
    seen,
    held,
    inUse,
    shared,
    wasted: inUse * state.pageSize - held,
    contiguous,
  };
}
