// How many blocks fit a multiprocessor, and what keeps the next one out. What C++ says
// of the same (book/truth/occupancy-calculator.cpp) is in model.test.mjs.

/** The same on every architecture from Turing to Blackwell. */
export const REGISTERS = 65536
export const QUARTERS = 4
export const REGISTER_UNIT = 256
export const WARP = 32
const MOST_REGISTERS = 255

/** Multiprocessors, as in multiprocessor.h of the chapter. */
export const MULTIPROCESSORS = [
  ['T4', 75, 32, 16, 64, 256, 0],
  ['A100', 80, 64, 32, 164, 128, 1024],
  ['RTX 3090', 86, 48, 16, 100, 128, 1024],
  ['RTX 4090', 89, 48, 24, 100, 128, 1024],
  ['H100', 90, 64, 32, 228, 128, 1024],
  ['B200', 100, 64, 32, 228, 128, 1024],
  ['RTX 5090', 120, 48, 24, 100, 128, 1024],
].map(([name, arch, warps, blocks, kilobytes, sharedUnit, sharedReserved]) => ({
  name, arch, warps, blocks, sharedBytes: 1024 * kilobytes, sharedUnit, sharedReserved,
}))

const roundUp = (value, unit) => Math.ceil(value / unit) * unit
const roundDown = (value, unit) => Math.floor(value / unit) * unit

/** Whole warps of a block. */
export const warpsOf = (threads) => Math.ceil(threads / WARP)

/** Registers that a warp takes, of those of its quarter. */
export const registersOfWarp = (registers) => roundUp(WARP * registers, REGISTER_UNIT)

/** Bytes of shared memory that a block takes. */
export const sharedOfBlock = (sm, sharedBytes) =>
  roundUp(sharedBytes + sm.sharedReserved, sm.sharedUnit)

/**
 * How many blocks fit if only this one thing were scarce.
 * @param {object} sm  one of MULTIPROCESSORS
 * @param {{threads: number, registers: number, sharedBytes: number}} needs
 */
export function blockLimits(sm, { threads, registers, sharedBytes }) {
  const warps = warpsOf(threads)
  const inQuarter = Math.floor(REGISTERS / QUARTERS / registersOfWarp(registers))
  const shared = sharedOfBlock(sm, sharedBytes)
  return {
    warps: Math.floor(sm.warps / warps),
    slots: sm.blocks,
    registers: Math.floor((inQuarter * QUARTERS) / warps),
    shared: shared === 0 ? sm.blocks : Math.floor(sm.sharedBytes / shared),
  }
}

/** What a multiprocessor holds at once; of equal limits the first is named. */
export function occupancy(sm, needs) {
  const limits = blockLimits(sm, needs)
  const blocks = Math.min(...Object.values(limits))
  const limiter = Object.keys(limits).find((name) => limits[name] === blocks)
  const warps = blocks * warpsOf(needs.threads)
  return { limits, blocks, limiter, warps, percent: (100 * warps) / sm.warps }
}

/**
 * The most that a kernel may take so that so many blocks fit; null if they do not fit
 * in any case.
 */
export function budget(sm, threads, blocks) {
  const warps = blocks * warpsOf(threads)
  if (warps > sm.warps || blocks > sm.blocks) return null
  const fullest = Math.ceil(warps / QUARTERS)
  const ofWarp = roundDown(REGISTERS / QUARTERS / fullest, REGISTER_UNIT)
  return {
    registers: Math.min(ofWarp / WARP, MOST_REGISTERS),
    sharedBytes: roundDown(sm.sharedBytes / blocks, sm.sharedUnit) - sm.sharedReserved,
  }
}

/**
 * The places for warps, quarter by quarter: the number of the block whose warp is
 * there, or null. A warp goes to the quarter with most places left.
 */
export function placesOf(sm, needs) {
  const { warps } = occupancy(sm, needs)
  return Array.from({ length: QUARTERS }, (_, quarter) =>
    Array.from({ length: sm.warps / QUARTERS }, (_, i) => {
      const warp = i * QUARTERS + quarter
      return warp < warps ? Math.floor(warp / warpsOf(needs.threads)) : null
    }))
}
