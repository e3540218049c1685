/**
 * counter-tree/model.js: which counter to look at next. The questions of day 7,
 * profiling, in their order; the first that is answered with yes is where to stop.
 */

/**
 * What was counted of a kernel.
 * @typedef {object} Counters
 * @property {number} busy  percent of the time in which the GPU computes
 * @property {number} sectors  of global memory that a request moves
 * @property {number} ideal  sectors that would hold what it wants
 * @property {number} passes  through shared memory that a request takes
 * @property {number} threads  active in an instruction, of 32
 * @property {number} occupancy  percent of the places for warps that can be taken
 * @property {string} limit  of the occupancy: 'registers', 'shared' or 'other'
 * @property {number} roof  percent that the busiest unit reaches of its peak
 */

/** What is still called healthy. */
export const BOUNDS = {
  busy: 80, moved: 1.25, passes: 1.5, threads: 24, occupancy: 30, roof: 80,
}

/** A number without needless digits. */
const short = (value) => String(Number(value.toFixed(1)))

/** The questions. `asks`: what must be known; `yes`: does it stop here, and why? */
export const QUESTIONS = [
  {
    id: 'launches',
    asks: 'Is the GPU idle between kernels?',
    look: 'timeline: time in kernels, of the time from the first to the last',
    yes: ({ busy }) => busy < BOUNDS.busy &&
      `the GPU computes ${short(busy)} % of the time: too many launches, too small, ` +
      'or waiting for copies',
  },
  {
    id: 'uncoalesced',
    asks: 'Do accesses to global memory move more sectors than needed?',
    look: 'sectors a request',
    yes: ({ sectors, ideal }) => sectors > BOUNDS.moved * ideal &&
      `${short(sectors)} sectors where ${short(ideal)} would do: not coalesced`,
  },
  {
    id: 'bank_conflicts',
    asks: 'Does shared memory take more passes than requests?',
    look: 'wavefronts, or passes, over requests',
    yes: ({ passes }) => passes > BOUNDS.passes &&
      `${short(passes)} passes where one would do: bank conflicts`,
  },
  {
    id: 'divergence',
    asks: 'Are lanes idle?',
    look: 'threads an instruction',
    yes: ({ threads }) => threads < BOUNDS.threads &&
      `${short(threads)} of 32 threads: lanes diverge, or blocks are too small`,
  },
  {
    id: 'registers',
    asks: 'Few warps at a time, by registers?',
    look: 'theoretical occupancy, and the smallest block limit',
    yes: ({ occupancy, limit }) =>
      occupancy < BOUNDS.occupancy && limit === 'registers' &&
      `${short(occupancy)} % of the places: too many registers a thread`,
  },
  {
    id: 'shared_memory',
    asks: 'Few warps at a time, by shared memory?',
    look: 'theoretical occupancy, and the smallest block limit',
    yes: ({ occupancy, limit }) =>
      occupancy < BOUNDS.occupancy && limit === 'shared' &&
      `${short(occupancy)} % of the places: too much shared memory a block`,
  },
  {
    id: 'roof',
    asks: 'Is it near a roof?',
    look: 'Speed of Light',
    yes: ({ roof }) => roof >= BOUNDS.roof &&
      `${short(roof)} % of a roof: healthy. Do less, or use narrower types`,
  },
]

/** What remains if every question was answered with no. */
export const REST =
  'latency: enough warps, and each of them waits. Give a thread more to do at a time'

/**
 * Goes through the questions.
 * @param {Counters} counters
 * @returns {{stop: number, id: string, why: string}}  the question that stops, or
 *   QUESTIONS.length; its id, or 'latency'; what it says
 */
export function examine(counters) {
  for (const [stop, { id, yes }] of QUESTIONS.entries()) {
    const why = yes(counters)
    if (why) return { stop, id, why }
  }
  return { stop: QUESTIONS.length, id: 'latency', why: REST }
}

/** To begin with: sectors and passes are those of transposes, the rest is assumed. */
export const EXAMPLES = [
  { name: 'a naive transpose', counters: {
    busy: 100, sectors: 32, ideal: 4, passes: 1, threads: 32, occupancy: 100,
    limit: 'other', roof: 50 } },
  { name: 'a transpose with a tile', counters: {
    busy: 100, sectors: 4, ideal: 4, passes: 32, threads: 32, occupancy: 100,
    limit: 'other', roof: 86 } },
  { name: 'a healthy copy', counters: {
    busy: 100, sectors: 4, ideal: 4, passes: 1, threads: 32, occupancy: 100,
    limit: 'other', roof: 92 } },
]
