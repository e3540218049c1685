// The roofline: how many operations a second each benchmarked rung does, over how many
// operations its contract has for each byte that must move. Everything is measured, but
// for the operations and bytes of a contract, which are counted here.
//
// A rung's bytes are those that the *contract* must move, each tensor once. A kernel
// that moves more stands at the same place, only lower.

/** "B4 Hq32 Hkv8 Nq1 Nk4096 D128, …": the numbers by their letters. */
export function shapeOf(size) {
  const field = (name) => {
    const found = new RegExp(`(?:^| )${name}(\\d+)(?=[ ,]|$)`).exec(size)
    return found === null ? undefined : Number(found[1])
  }
  const [heads, length] = [field('H'), field('N')]
  return {
    batch: field('B') ?? 1,
    queryHeads: field('Hq') ?? heads,
    kvHeads: field('Hkv') ?? heads,
    queries: field('Nq') ?? length,
    keys: field('Nk') ?? length,
    headDim: field('D'),
  }
}

/** Operations for each byte of the contract, where the shape does not matter. */
const PER_BYTE = {
  hello_gpu: 0,             // stores numbers
  append_kv: 0,             // copies numbers
  vector_add: 1 / 12,       // an addition; two floats read, one written
  saxpy_grid_stride: 2 / 12, // a multiplication and an addition
  add_bias_nchw: 1 / 8,     // an addition; one float read, one written
  dot_product: 2 / 8,       // a multiplication and an addition; two floats read
}

const HALF = /fp16|bf16|paged|tensor_core|hopper/

/** Bytes of q, k, v and o, each once. */
function attentionBytes({ exercise, ceiling }, shape) {
  const { batch, queryHeads, kvHeads, queries, keys, headDim } = shape
  const numbers = 2 * batch * headDim * (queryHeads * queries + kvHeads * keys)
  return numbers * (HALF.test(exercise) || HALF.test(ceiling) ? 2 : 4)
}

/**
 * Operations and bytes of a row's contract.
 * @param {object} row  of a benchmark
 * @returns {{flop: number, bytes: number}|null}  null if they are not known
 */
export function workOf(row) {
  const perByte = PER_BYTE[row.exercise]
  if (perByte !== undefined) return { flop: row.bytes * perByte, bytes: row.bytes }
  const shape = shapeOf(row.size)
  const { batch, queryHeads, keys, headDim } = shape
  if ([headDim, keys, queryHeads].includes(undefined)) return null
  // A paged cache is asked by one query a sequence.
  const queries = row.exercise.includes('paged') ? 1 : shape.queries
  const flop = row.flop ?? 4 * batch * queryHeads * queries * keys * headDim
  const bytes = row.bytes ?? attentionBytes(row, { ...shape, queries })
  return { flop, bytes }
}

/** A rung of our ladder ends with its number, or has the name of the exercise. */
const isOurs = ({ rung, exercise }) => /_v\d+\w*$/.test(rung) || rung === exercise

/** One implementation over hundreds of shapes is a map, and no ladder. */
const isGrid = (exercise) => exercise.startsWith('attention_grid')

/**
 * A point for each measured row that does arithmetic.
 * @param {Record<string, {rows: object[]}>} files  the ladders of all days
 */
export function pointsOf(files) {
  return Object.values(files).flatMap(({ rows }) => rows).flatMap((row) => {
    const work = isGrid(row.exercise) ? null : workOf(row)
    if (work === null || work.flop === 0 || row.rung === 'plain read') return []
    if (!Number.isFinite(row.percent)) return [] // timed on the host, say
    return [{
      exercise: row.exercise,
      rung: /_(v\d+)$/.exec(row.rung)?.[1] ?? row.rung,
      size: row.size,
      ours: isOurs(row),
      intensity: work.flop / work.bytes,
      tflops: work.flop / row.median_us / 1e6,
      percent: row.percent,
      ceiling: row.ceiling,
    }]
  })
}

/** The points without repetitions, for a page: by exercise and size. */
export function packPoints(points) {
  const short = (value) => Number(value.toPrecision(4))
  const packed = {}
  for (const { exercise, size, ceiling, intensity, ...point } of points) {
    const sizes = packed[exercise] ??= {}
    const rungs = sizes[size] ??= { ceiling, intensity: short(intensity), rungs: [] }
    const { rung, ours, tflops, percent } = point
    rungs.rungs.push([rung, ours ? 1 : 0, short(tflops), short(percent)])
  }
  return packed
}

/** What packPoints packed. */
export function unpackPoints(packed) {
  return Object.entries(packed).flatMap(([exercise, sizes]) =>
    Object.entries(sizes).flatMap(([size, { ceiling, intensity, rungs }]) =>
      rungs.map(([rung, ours, tflops, percent]) => ({
        exercise, rung, size, ours: ours === 1, intensity, tflops, percent, ceiling
      }))))
}

/** Ladders that were measured and have no point: no arithmetic, or none known here. */
export function withoutPoint(files, points) {
  const drawn = new Set(points.map(({ exercise }) => exercise))
  const all = Object.values(files).flatMap(
    ({ rows }) => rows.map((row) => row.exercise))
  return [...new Set(all)].filter((name) => !drawn.has(name) && !isGrid(name))
}

/**
 * The files that were measured on one GPU, that of the first file, which is day 1's:
 * points of another one do not belong under these roofs.
 * @param {Record<string, {machine: {gpu: string}}>} files  the ladders of all days
 */
export function ofOneGpu(files) {
  const { gpu } = Object.values(files)[0].machine
  return Object.fromEntries(
    Object.entries(files).filter(([, { machine }]) => machine.gpu === gpu))
}

/** The measured ceilings: one for memory, and one for each kind of arithmetic. */
export function roofsOf(files) {
  const highest = (wanted) => {
    const found = {}
    for (const { ceilings } of Object.values(files)) {
      for (const [name, { unit, value }] of Object.entries(ceilings)) {
        if (unit === wanted) found[name] = Math.max(found[name] ?? 0, value)
      }
    }
    return found
  }
  const kinds = Object.entries(highest('TFLOP/s')).filter(([, value]) => value > 0)
  return {
    gbps: highest('GB/s').read,
    kinds: kinds.map(([name, tflops]) => ({ name, tflops })),
  }
}

/** Flat roofs less than a tenth apart get one label; the highest roof comes first. */
export function labelsOf(kinds) {
  const labels = []
  for (const kind of [...kinds].sort((a, b) => b.tflops - a.tflops)) {
    const above = labels.at(-1)
    if (above !== undefined && kind.tflops > 0.9 * above[0].tflops) above.push(kind)
    else labels.push([kind])
  }
  return labels
}

/** TFLOP/s that memory allows at an intensity, in FLOP for each byte. */
export function memoryRoof({ gbps }, intensity) {
  return (gbps * intensity) / 1e3
}

/** The intensity at which a kind of arithmetic becomes the limit in place of memory. */
export function ridge({ gbps }, { tflops }) {
  return (tflops * 1e3) / gbps
}

/** Of each rung, the size at which it comes nearest to its ceiling. */
export function bestOfEachRung(points) {
  const best = new Map()
  for (const point of points) {
    const name = `${point.exercise} ${point.rung}`
    if (!(best.get(name)?.percent >= point.percent)) best.set(name, point)
  }
  return [...best.values()]
}

/**
 * The points that are drawn, from the left to the right.
 * @param {{exercise: string, everySize: boolean, libraries: boolean}} choice
 *   exercise: its name, or "" for all
 */
export function shownPoints(points, { exercise, everySize, libraries }) {
  const wanted = points.filter((point) =>
    (exercise === '' || point.exercise === exercise) && (libraries || point.ours))
  return (everySize ? wanted : bestOfEachRung(wanted))
    .sort((a, b) => a.intensity - b.intensity || a.tflops - b.tflops)
}

/** The powers of ten from below the smallest value to above the largest one. */
export function decades(values) {
  const lowest = Math.floor(Math.log10(Math.min(...values)))
  const highest = Math.ceil(Math.log10(Math.max(...values)))
  return Array.from({ length: highest - lowest + 1 }, (_, i) => lowest + i)
}

/** A place on a logarithmic axis. @param {number[]} powers  from decades */
export function place(value, powers, from, to) {
  const share = (Math.log10(value) - powers[0]) / (powers.at(-1) - powers[0])
  return from + share * (to - from)
}
