// A recorded trace of one block (simt's checker/trace), to be looked at step by step.
// Pure: the book, the page of ./learn xray --trace and the tests use it alike.

const DOINGS = [
  'at', 'load', 'store', 'atomic', 'copy', 'landed', 'release', 'acquire', 'tile',
  'tile_landed', 'barrier', 'warp_op', 'product', 'folded',
];
const SPACES = ['global', 'shared', 'constant'];
const BLOCK = -1; // the warp of steps that are the block's
const FLIGHT = -1; // who owns a word of a tile that is being copied
const LANDED = -2; // and of one that TMA has written
const SNAPSHOTS = 48;

/** The lanes of a pattern with the distances of their addresses. */
function lanesOf([mask, ...distances]) {
  const lanes = [];
  const first = mask === 0 ? 0 : 31 - Math.clz32(mask & -mask);
  const isAffine = distances.length === 1;
  for (let lane = 0; lane < 32; ++lane) {
    if (((mask >>> lane) & 1) === 0) continue;
    const distance = isAffine ? (lane - first) * distances[0] : distances[lanes.length];
    lanes.push({ lane, distance });
  }
  return lanes;
}

/** "0-15, 20" */
function showLanes(mask) {
  const parts = [];
  for (let lane = 0; lane < 32; ++lane) {
    if (((mask >>> lane) & 1) === 0) continue;
    let last = lane;
    while (last < 31 && ((mask >>> (last + 1)) & 1) === 1) ++last;
    parts.push(last === lane ? `${lane}` : `${lane}-${last}`);
    lane = last;
  }
  return parts.length > 6 ? `${parts.slice(0, 6).join(', ')} ...` : parts.join(', ');
}

const plural = (count, word) => `${count} ${word}${count === 1 ? '' : 's'}`;

/** The tiles of TMA from the step that starts them to the one at which they are there,
 *  each in a row where no other is on its way. */
function flightsOf(steps) {
  const flights = [];
  const ends = []; // of the last flight in each row
  const open = new Map();
  steps.forEach(({ base, shape }, i) => {
    if (shape.doing === 'tile') {
      const flight = { begin: i, end: steps.length, row: 0, base, bytes: shape.bytes };
      while ((ends[flight.row]?.end ?? -1) >= i) ++flight.row;
      ends[flight.row] = flight;
      open.set(base, flight);
      flights.push(flight);
    } else if (shape.doing === 'tile_landed' && open.has(base)) {
      open.get(base).end = i;
      open.delete(base);
    }
  });
  return flights;
}

/** The trace with its steps written out, and what does not depend on the time. */
function decode(trace) {
  const count = trace.steps.length / 3;
  const threads = trace.block[0] * trace.block[1] * trace.block[2];
  const numWarps = Math.ceil(threads / 32);
  const patterns = trace.patterns.map((pattern) => ({
    mask: pattern[0] >>> 0,
    lanes: lanesOf(pattern),
  }));
  const shapes = trace.shapes.map(
    ([doing, place, space, bytes, pattern, cost, ideal, object]) => ({
      doing: DOINGS[doing], place, space: SPACES[space], bytes, cost, ideal, object,
      ...patterns[pattern],
    }),
  );
  const steps = Array.from({ length: count }, (_, i) => ({
    warp: trace.steps[3 * i],
    base: trace.steps[3 * i + 2],
    shape: shapes[trace.steps[3 * i + 1]],
    finding: null,
  }));
  for (let i = 0; i < trace.found.length; i += 2) {
    steps[trace.found[i]].finding = trace.findings[trace.found[i + 1]];
  }
  // The steps of each warp, and the next barrier from each step on.
  const own = Array.from({ length: numWarps }, () => []);
  steps.forEach(({ warp }, i) => warp !== BLOCK && own[warp].push(i));
  const barrier = new Int32Array(count + 1).fill(count);
  for (let i = count - 1; i >= 0; --i) {
    barrier[i] = steps[i].shape.doing === 'barrier' ? i : barrier[i + 1];
  }
  let words = 0;
  const variables = trace.variables.map((variable) => {
    const start = words;
    const size = Math.ceil(variable.bytes / 4);
    words += size;
    return { ...variable, name: variable.name || 'dynamic', start, words: size };
  });
  const kindOf = ({ finding, shape }) => {
    if (finding) return 'finding';
    return shape.space === 'shared' && shape.cost > shape.ideal ? 'conflict' : null;
  };
  const marks = steps
    .map((step, i) => ({ step: i + 1, kind: kindOf(step) }))
    .filter(({ kind }) => kind !== null);
  const flights = flightsOf(steps);
  return {
    trace, steps, count, numWarps, flights, own, barrier, variables, words, marks, patterns,
  };
}

/** In the shared memory of another block of the cluster? */
const isElsewhere = ({ space, object }) => space === 'shared' && object > 0;

/** The variable that has an offset in shared memory, or undefined. */
function variableAt({ variables }, offset) {
  return variables.find(
    ({ begin, bytes }) => offset >= begin && offset < begin + bytes,
  );
}

/** Calls visit(word, lane) for each word of shared memory that lanes touch. */
function touch(decoded, { lanes }, base, bytes, visit) {
  for (const { lane, distance } of lanes) {
    const offset = base + distance;
    const variable = variableAt(decoded, offset);
    if (!variable) continue;
    const begin = offset - variable.begin;
    const last = Math.min((begin + Math.max(bytes, 1) - 1) >> 2, variable.words - 1);
    for (let word = begin >> 2; word <= last; ++word) visit(variable.start + word, lane);
  }
}

/**
 * What is known of the block at a time; go(n) moves to the time after n steps.
 *   at       steps that have been made
 *   last     each warp's last step, -1: none
 *   owner    of each word of shared memory: 0 nobody, else 1 + 32 * warp + lane, FLIGHT
 *            or LANDED
 *   written  the step that did it
 */
function player(decoded) {
  const { steps, count, numWarps, words } = decoded;
  const state = {
    at: 0,
    last: new Int32Array(numWarps).fill(-1),
    owner: new Int32Array(words),
    written: new Int32Array(words).fill(-1),
  };
  const every = Math.max(64, Math.ceil(count / SNAPSHOTS));
  const copy = ({ at, last, owner, written }) => ({
    at, last: last.slice(), owner: owner.slice(), written: written.slice(),
  });
  const snapshots = [copy(state)];

  /** What a warp writes, or copies that nobody has waited for yet. */
  function put(i, warp, shape, base, bytes) {
    if (isElsewhere(shape)) return;
    touch(decoded, shape, base, bytes, (word, lane) => {
      state.owner[word] = warp === BLOCK ? FLIGHT : 1 + 32 * warp + lane;
      state.written[word] = i;
    });
  }
  function fill(i, base, bytes, owner) {
    const one = { lanes: [{ lane: 0, distance: 0 }] };
    touch(decoded, one, base, bytes, (word) => {
      state.owner[word] = owner;
      state.written[word] = i;
    });
  }
  function step(i) {
    const { warp, shape, base } = steps[i];
    if (warp !== BLOCK) state.last[warp] = i;
    switch (shape.doing) {
      case 'store':
      case 'atomic':
      case 'landed':
        if (shape.space === 'shared') put(i, warp, shape, base, shape.bytes);
        break;
      case 'copy':
        if (shape.space === 'shared') put(i, BLOCK, shape, base, shape.bytes);
        break;
      case 'tile':
        if (!isElsewhere(shape)) fill(i, base, shape.bytes, FLIGHT);
        break;
      case 'tile_landed':
        if (!isElsewhere(shape)) fill(i, base, shape.bytes, LANDED);
        break;
      case 'barrier':
        for (let w = 0; w < numWarps; ++w) {
          if ((shape.mask >>> w) & 1) state.last[w] = i;
        }
        break;
      case 'folded': {
        const { writes } = decoded.trace.folds[base];
        for (let k = 0; k < writes.length; k += 4) {
          const [by, pattern, at, bytes] = writes.slice(k, k + 4);
          put(i, by, decoded.patterns[pattern], at, bytes);
        }
        break;
      }
    }
    state.at = i + 1;
  }
  function go(to) {
    const target = Math.max(0, Math.min(count, to));
    const near = snapshots.findLast(({ at }) => at <= target);
    if (target < state.at || near.at > state.at) {
      state.at = near.at;
      state.last.set(near.last);
      state.owner.set(near.owner);
      state.written.set(near.written);
    }
    while (state.at < target) {
      step(state.at);
      if (state.at === snapshots.at(-1).at + every) snapshots.push(copy(state));
    }
    return state;
  }
  return { state, go };
}

/** The first of a warp's steps from a time on; the number of all steps if there is none. */
function upcomingOf({ own, count }, warp, at) {
  const list = own[warp];
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < at) low = middle + 1;
    else high = middle;
  }
  return low < list.length ? list[low] : count;
}

/** What a warp is doing at a time: { status, line, file, step, text }. */
function warpAt(decoded, state, warp) {
  const { steps, barrier, count, trace } = decoded;
  const last = state.last[warp];
  const isBarrier = last >= 0 && steps[last].warp === BLOCK;
  const upcoming = upcomingOf(decoded, warp, state.at);
  const place = (i) => trace.places[steps[i].shape.place];
  const here = last < 0 ? ['', 0] : place(last);
  const result = { step: last, file: here[0], line: here[1], lanes: 0 };
  if (last >= 0) result.lanes = isBarrier ? 0xffffffff : steps[last].shape.mask;
  if (last < 0) return { ...result, status: 'start', text: 'has not started' };
  let wait = barrier[state.at];
  while (wait < count && ((steps[wait].shape.mask >>> warp) & 1) === 0) {
    wait = barrier[wait + 1];
  }
  if (wait < upcoming) {
    const [file, line] = place(wait);
    const text = `waits at the barrier in line ${line}`;
    return { ...result, file, line, status: 'wait', text };
  }
  if (upcoming >= count) {
    const text = trace.left_out > 0 ? 'is not recorded further' : 'has no more steps';
    return { ...result, status: 'end', text };
  }
  if (steps[upcoming].shape.doing === 'acquire') {
    const [file, line] = place(upcoming);
    return { ...result, file, line, status: 'wait', text: `waits in line ${line}` };
  }
  return { ...result, status: 'run', text: `is at line ${result.line}` };
}

/** An address in words: "s_sum, byte 128". */
function where(decoded, { shape, base }) {
  if (shape.space !== 'shared') {
    return shape.object > 0 ? `allocation ${shape.object}, byte ${base}` : '';
  }
  if (isElsewhere(shape)) return `block ${shape.object - 1} of the cluster, byte ${base}`;
  const variable = variableAt(decoded, base);
  if (!variable) return '';
  return `${variable.name}, byte ${base - variable.begin}`;
}

function cost({ doing, space, cost: count, ideal }) {
  if (doing === 'atomic') {
    return count > 1 ? `${count} operations one after another.` : '';
  }
  if (space === 'global') {
    const waste = count > ideal ? `; ${ideal} could hold them` : '';
    return `${plural(count, 'sector')} of 32 bytes${waste}.`;
  }
  if (space === 'shared') {
    if (count <= ideal) return 'No bank conflict.';
    return `Bank conflict: ${count} wavefronts, where ${ideal} would do.`;
  }
  return count > 1 ? `${count} different words, one after another.` : '';
}

const VERBS = {
  load: 'load', store: 'store', atomic: 'update atomically',
  copy: 'start a cp.async of', landed: 'have waited for',
};

function doingOf(decoded, step) {
  const { shape, base } = step;
  const lanes = `lanes ${showLanes(shape.mask)}`;
  const at = where(decoded, step);
  switch (shape.doing) {
    case 'at':
      return `${lanes} go on here.`;
    case 'landed':
      return `${lanes}: their copies have landed in ${at}.`;
    case 'release':
      return `${lanes} arrive${at ? ` at the mbarrier in ${at}` : ''}.`;
    case 'acquire':
      return `${lanes} have waited${at ? ` for the mbarrier in ${at}` : ''}, and go on.`;
    case 'tile':
      return `TMA begins to copy ${shape.bytes} bytes to ${at}.`;
    case 'tile_landed':
      return `A tile of ${shape.bytes} bytes has landed in ${at}.`;
    case 'barrier':
      return 'All warps have arrived at the barrier, and go on.';
    case 'warp_op':
      return `${lanes} exchange values, or wait for one another.`;
    case 'product':
      return `The tensor cores multiply: ${base} operations.`;
    case 'folded': {
      const { times, steps } = decoded.trace.folds[base];
      return `The loop goes round ${times} more times: ${plural(steps, 'step')} not shown.`;
    }
  }
  const from = at ? ` ${shape.doing === 'load' ? 'from' : 'in'} ${at} on` : '';
  const bytes = plural(shape.bytes, 'byte');
  const text = `${lanes} ${VERBS[shape.doing]} ${bytes} each of ${shape.space} memory`;
  const isTarget = shape.doing === 'copy' && shape.space === 'shared';
  return `${text}${from}. ${isTarget ? '' : cost(shape)}`.trim();
}

/** The time after n steps, in words. */
function say(decoded, at) {
  if (at === 0) return `Step 0 of ${decoded.count}: nothing has happened yet.`;
  const step = decoded.steps[at - 1];
  const [file, line] = decoded.trace.places[step.shape.place];
  const isOnly = new Set(decoded.trace.places.map(([name]) => name)).size <= 2;
  const place = isOnly ? `line ${line}` : `${file.split('/').at(-1)} line ${line}`;
  const who = step.warp === BLOCK ? 'the block' : `warp ${step.warp}`;
  let found = '';
  if (step.finding) {
    const { kind, what } = step.finding;
    found = ` ${[kind.replaceAll('_', ' '), what].filter(Boolean).join(', ')}!`;
  }
  const head = `Step ${at} of ${decoded.count}: ${who}, ${place}:${found.toUpperCase()}`;
  return `${head} ${doingOf(decoded, step)}`;
}

/** Where all warps are, in words. */
function sayAll(decoded, state) {
  return Array.from({ length: decoded.numWarps }, (_, warp) =>
    `warp ${warp} ${warpAt(decoded, state, warp).text}`,
  ).join('; ');
}

/** Who wrote a word of shared memory, in words. */
function sayWord(decoded, state, word) {
  const variable = decoded.variables.find(
    ({ start, words }) => word >= start && word < start + words,
  );
  if (!variable) return '';
  const index = word - variable.start;
  const bank = (variable.begin / 4 + index) % 32;
  const name = `${variable.name}, bytes ${4 * index} to ${4 * index + 3}, bank ${bank}`;
  const owner = state.owner[word];
  if (owner === 0) return `${name}: nobody has written it.`;
  const i = state.written[word];
  const line = decoded.trace.places[decoded.steps[i].shape.place][1];
  const by =
    owner === FLIGHT ? 'is being copied' :
    owner === LANDED ? 'was copied by TMA' :
    `was written by warp ${(owner - 1) >> 5}, lane ${(owner - 1) & 31}`;
  return `${name}: ${by}, step ${i + 1}, line ${line}.`;
}

/** The next mark behind a time, or before it; null if there is none. */
function nextMark({ marks }, at, direction) {
  const mark =
    direction > 0
      ? marks.find(({ step }) => step > at)
      : marks.findLast(({ step }) => step < at);
  return mark ?? null;
}

/** All steps as paths of a picture: those of each warp, and the barriers. */
function overview({ steps, numWarps }, width, row) {
  const height = numWarps * row;
  const columns = Array.from({ length: numWarps }, () => new Set());
  const barriers = new Set();
  steps.forEach(({ warp, shape }, i) => {
    const x = Math.floor((i / steps.length) * width);
    if (shape.doing === 'barrier') barriers.add(x);
    else if (warp !== BLOCK && shape.doing !== 'at') columns[warp].add(x);
  });
  const wide = Math.max(1, Math.floor(width / steps.length));
  return {
    height,
    warps: columns.map((set, warp) =>
      [...set].map((x) => `M${x} ${warp * row + row / 2}h${wide}`).join('')),
    barriers: [...barriers].map((x) => `M${x} 0V${height}`).join(''),
  };
}

/** What the trace does not show, in words; "" if it shows all. */
function leftOut({ trace }) {
  const folded = trace.folds.reduce((sum, { steps }) => sum + steps, 0);
  const parts = [];
  const others = (trace.cluster ?? 1) - 1;
  if (others > 0) {
    parts.push(`what the ${plural(others, 'other block')} of the cluster ${
      others === 1 ? 'does' : 'do'}, also to this block's shared memory`);
  }
  if (folded > 0) parts.push(`${plural(folded, 'step')} of loops are folded`);
  if (trace.left_out > 0) {
    const steps = plural(trace.left_out, 'step');
    parts.push(`${steps} at the end are beyond the limit and not recorded`);
  }
  if (trace.ended_early === 1) parts.push('a fault has ended the block early');
  if (trace.ended_early === 2) parts.push('the block had not ended after 500,000 steps');
  return parts.length === 0 ? '' : `Not shown: ${parts.join('; ')}.`;
}

export {
  BLOCK, FLIGHT, LANDED, decode, player, warpAt, say, sayAll, sayWord, nextMark, leftOut, overview,
  isElsewhere, showLanes, touch,
};
