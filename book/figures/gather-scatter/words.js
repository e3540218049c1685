// words.js: what the status line of the figure says, for each way and step.
import { SHARE, longestOf } from './model.js';

const many = (count, what) => `${count} ${what}${count === 1 ? '' : 's'}`;
const listed = (rows) => (rows.length === 0 ? 'none' : rows.join(', '));

function gather({ queues, done }) {
  const rowsWith = (test) => queues.flatMap((queue, row) => (test(queue) ? [row] : []));
  const often = rowsWith(({ length }) => length > 1);
  const nobody = rowsWith(({ length }) => length === 0);
  return `${done === 0 ? 'Nothing is read yet' : 'All reads may be made at once'}. ` +
    `Rows that are read more than once: ${listed(often)}; rows that are not read: ` +
    `${listed(nobody)}. Nothing is added, and no read waits for another one.`;
}

function atomics({ queues, done }) {
  const longest = longestOf(queues);
  const popular = queues.findIndex(({ length }) => length === longest);
  const now = queues.filter(({ length }) => length >= done).length;
  const wait = queues.reduce((sum, { length }) => sum + Math.max(0, length - done), 0);
  const begin = done === 0 ? 'The table is zero'
    : `Addition ${done} of ${longest} to the most popular row: ` +
      `${many(now, 'row')} at work`;
  return `${begin}; ${many(wait, 'gradient')} ${wait === 1 ? 'waits' : 'wait'}. ` +
    `${longest} queue up at row ${popular}.`;
}

function shares({ levels, done }) {
  if (done === 0) return 'The indices as they come, each with its gradient.';
  if (done === 1)
    return 'Sorted: equal indices are neighbours. They are cut into ' +
      `${many(levels[0].summands.length / SHARE, 'share')} of ${SHARE} summands, and ` +
      'no share waits for another one.';
  const { runs, longest } = levels[done - 2];
  if (runs.length === 0) return `Level ${done - 1}: nothing is left to add.`;
  const whole = runs.filter(({ to }) => to === 'table').map(({ row }) => row);
  return `Level ${done - 1}: ${many(runs.length, 'run')}, the longest of ` +
    `${many(longest, 'summand')}. Complete, to the table: ` +
    `${whole.length === 1 ? 'row' : 'rows'} ${listed(whole)}. ` +
    `Cut at an edge, to partial sums: ${runs.length - whole.length}.`;
}

/** The sentence for each way, of { queues, levels, done }. */
export const WORDS = { gather, atomics, shares };
