// words.js: what the status line of the figure says about a step, and about a thread.
const many = (count, what) => `${count} ${what}${count === 1 ? '' : 's'}`;
const bucketOf = ({ places }, slot) => Math.floor(slot / places);
const place = (table, slot) =>
  `place ${slot % table.places} of bucket ${bucketOf(table, slot)}`;
const count = (threads, doing) => threads.filter((t) => t.doing === doing).length;

/** What the threads of a step did, all together. */
export function aboutStep({ call, phase, threads }) {
  if (phase === 'start') return 'The table is empty.';
  const launch = `Call ${call}, `;
  if (phase === 'find')
    return `${launch}first launch: ${many(count(threads, 'found'), 'key')} found, and ` +
      `marked as used in this call; ${count(threads, 'missing')} not there.`;
  if (phase === 'rows')
    return `${launch}third launch: the rows of new keys are written.`;
  if (phase === 'swap')
    return `${launch}second launch, compare-and-swap: ` +
      `${many(count(threads, 'won'), 'slot')} claimed, ${count(threads, 'lost')} lost.`;
  const refused = count(threads, 'refused');
  const twins = count(threads, 'twin');
  return `${launch}second launch, look: ${many(count(threads, 'wants'), 'thread')} ` +
    `${count(threads, 'wants') === 1 ? 'wants' : 'want'} a slot` +
    (twins ? `, ${many(twins, 'thread')} found its key claimed in this call` : '') +
    (refused ? `, ${many(refused, 'key')} refused` : '') + '.';
}

/** What one thread did, in a few words. */
export function aboutThread({ slot, doing, left }, table) {
  const at = slot === null ? '' : place(table, slot);
  return {
    found: `found, ${at}`,
    missing: 'not there',
    wants: `wants ${at}`,
    twin: `its twin has ${at}`,
    refused: 'refused: no slot may be taken',
    won: `claims ${at}` + (left === null ? '' : `; key ${left} leaves`),
    lost: 'lost: another thread was faster',
    done: `has ${at}`,
  }[doing];
}
