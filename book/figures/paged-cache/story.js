/**
 * What the figure does and says: operations on the model, each with one sentence about
 * what happened, and a story of a server that runs out of pages.
 */
import * as model from './model.js';

/** Pages, tokens of a page, sequences, pages of a sequence. */
export const SIZES = [8, 4, 3, 5];

/**
 * @typedef {{do: 'add' | 'fork' | 'append' | 'release', sequence?: number,
 *   tokens?: number}} Operation
 */

/** @type {Operation[]} */
export const STORY = [
  { do: 'add' },
  { do: 'append', sequence: 0, tokens: 6 },
  { do: 'fork', sequence: 0 },
  { do: 'append', sequence: 1, tokens: 1 },
  { do: 'append', sequence: 0, tokens: 4 },
  { do: 'fork', sequence: 0 },
  { do: 'append', sequence: 2, tokens: 7 },
  { do: 'append', sequence: 1, tokens: 8 },
  { do: 'append', sequence: 0, tokens: 8 },
  { do: 'release', sequence: 2 },
  { do: 'append', sequence: 0, tokens: 8 },
];

const list = (numbers) => numbers.join(', ');
const plural = (count, word) => `${count} ${word}${count === 1 ? '' : 's'}`;

function appendMessage({ sequence, tokens }, before, { copies, taken }) {
  const what = `Sequence ${sequence} appends ${plural(tokens, 'token')}.`;
  const [copy] = copies;
  if (copy) {
    const owners = before.owners[copy.from];
    const rest = taken.length > 1 ? ` It also takes page ${list(taken.slice(1))}.` : '';
    return (
      `${what} Its last page, ${copy.from}, is not full and has ${owners} owners, so ` +
      `it is copied to page ${copy.to} first: copy on write.${rest}`
    );
  }
  if (taken.length === 0) return `${what} They fit into its last page.`;
  return `${what} It takes ${taken.length === 1 ? 'page' : 'pages'} ${list(taken)}.`;
}

/**
 * Does an operation and says what happened.
 * @param {model.State} before
 * @param {Operation} operation
 * @returns {{state: model.State, message: string, touched: number[], failed: boolean}}
 *   touched: pages that were taken, shared, copied or freed
 */
export function tell(before, operation) {
  const { do: name, sequence, tokens } = operation;
  const done = (result, message, touched) => ({
    state: result.state, message, touched, failed: false,
  });
  try {
    if (name === 'add') {
      const result = model.add(before);
      const row = result.sequence;
      return done(result, `Sequence ${row} begins, with no page yet.`, []);
    }
    if (name === 'fork') {
      const result = model.fork(before, sequence);
      const pages = result.state.table[result.sequence].filter((page) => page >= 0);
      return done(
        result,
        `Sequence ${result.sequence} is a fork of ${sequence}: it shares ` +
          `${plural(result.shared, 'page')}, and nothing is copied.`,
        pages,
      );
    }
    if (name === 'append') {
      const result = model.append(before, sequence, tokens);
      return done(result, appendMessage(operation, before, result), result.taken);
    }
    const result = model.release(before, sequence);
    const freed = result.freed.length
      ? `Free again: page ${list(result.freed)}.`
      : 'All its pages have other owners.';
    return done(result, `Sequence ${sequence} ends. ${freed}`, result.freed);
  } catch (error) {
    if (!(error instanceof model.CacheError)) throw error;
    const head = error.kind === 'out of pages' ? 'Out of pages' : 'Refused';
    const message = `${head}: ${error.message}; nothing has been changed.`;
    return { state: before, message, touched: [], failed: true };
  }
}

/** The cache after the first `steps` operations of the story. */
export function playStory(steps) {
  let now = {
    state: model.emptyCache(...SIZES),
    message: `All ${SIZES[0]} pages are free.`,
    touched: [],
    failed: false,
  };
  for (const operation of STORY.slice(0, steps)) now = tell(now.state, operation);
  return now;
}
