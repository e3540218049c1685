// The Markdown tables of benchmarks. Each function gets the data and the attributes of
// a tag and returns what stands between the tag and its end.
import {
  exercises, isGrid, isLadderFile, isLibrary, isOurs, ladderOf, shortRung,
} from './data.mjs'
import { formatNumber, formatShare, markdownTable, wrap } from './format.mjs'

const NONE = '–'

/** The rate of a row, with its unit. */
export function rateOf(row) {
  return row.tflops !== undefined
    ? { rate: row.tflops, unit: 'TFLOP/s' }
    : { rate: row.gbps, unit: 'GB/s' }
}

export const unique = (values) => [...new Set(values)]

/** The sizes of a ladder; where `wanted` is given, just these, in that order. */
export function sizesOf(rows, wanted, exercise) {
  const known = unique(rows.map((row) => row.size))
  if (wanted === undefined) return known
  const sizes = wanted.split(';').map((size) => size.trim())
  for (const size of sizes) {
    if (!known.includes(size)) {
      throw new Error(`${exercise} was not measured for size "${size}"; it was for:\n` +
        known.map((each) => `    ${each}`).join('\n'))
    }
  }
  return sizes
}

/** Our rungs in the order of the ladder, then the others as they come. */
export function rungsOf(rows) {
  const ours = unique(rows.filter(isOurs).map((row) => row.rung))
  ours.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  return [...ours, ...unique(rows.filter((row) => !isOurs(row)).map((row) => row.rung))]
}

/** "NVIDIA H100 80GB HBM3 (CUDA 13.0, driver …, 1980 MHz)" */
export function machineName({ gpu, cuda, driver, sm_clock: clock }) {
  return `${gpu} (CUDA ${cuda}, driver ${driver}, ${clock})`
}

/** "H100" */
const shortGpu = ({ gpu }) => gpu.replace(/^NVIDIA /, '').split(' ')[0]

/** "2026-11-21", or "2026-11-20 to 2026-11-21" */
export function dates(rows) {
  const sorted = unique(rows.map((row) => row.date)).sort()
  return sorted.length === 1 ? sorted[0] : `${sorted[0]} to ${sorted.at(-1)}`
}

/** Size, with the state of the cache where the size does not say it already. */
export function sizeLabel(row) {
  const said = row.cache !== 'hot' || / hot\b/.test(row.size)
  return said ? row.size : `${row.size}, L2 hot`
}

/** Where there is no ceiling, as for time on the host, a row is about its time. */
export function isTimed(row, show) {
  return show === 'time' || (!Number.isFinite(row.percent) && !row.other_call)
}

/** "fp32, 51.6 TFLOP/s" */
function ceilingOf(row) {
  if (isTimed(row)) return 'none: times'
  return `${row.ceiling}, ${formatNumber(row.ceiling_value)} ${rateOf(row).unit}`
}

/** "41.8 (81 %)"; of its own ceiling where that is not the one of the size. */
function cellOf(row, first, show) {
  if (row === undefined) return NONE
  if (isTimed(row, show)) return `${formatNumber(row.median_us)} µs`
  if (row.other_call) return formatNumber(rateOf(row).rate)
  const share = `${formatShare(row.percent)} %`
  const other = row.ceiling === first.ceiling ? '' : ` of ${row.ceiling}`
  return `${formatNumber(rateOf(row).rate)} (${share}${other})`
}

/** "v1: one thread a row; v2: …; torch sdpa math, torch sdpa flash: PyTorch 2.11" */
function ideas(rows, rungs) {
  const named = new Map()
  for (const rung of rungs) {
    const { idea } = rows.find((row) => row.rung === rung)
    named.set(idea, [...(named.get(idea) ?? []), shortRung(rung)])
  }
  const code = (idea) => idea.replace(/<<<.*?>>>/g, '`$&`')
  return [...named]
    .map(([idea, names]) => `${names.join(', ')}: ${code(idea)}`).join('; ')
}

/**
 * <LadderTable exercise="…" [sizes="a; b"] [show="time"]>: sizes down, rungs across.
 */
export function ladderTable(data, { exercise, sizes, show }) {
  if (show !== undefined && show !== 'time') {
    throw new Error(`show="${show}": only show="time" is known`)
  }
  const { content, rows: all } = ladderOf(data, exercise)
  const wanted = sizesOf(all, sizes, exercise)
  const rows = all.filter((row) => wanted.includes(row.size))
  const rungs = rungsOf(rows)
  const cached = rows.every((row) => row.cache === 'hot')
    ? 'the L2 cache is not flushed'
    : 'the L2 cache is flushed before each, unless the size says hot'
  const firsts = wanted.map((size) => rows.find((row) => row.size === size))
  const ceilings = unique(firsts.map(ceilingOf))
  const timed = rows.every((row) => isTimed(row, show))
  const named = !timed && ceilings.length > 1
  const written = timed
    ? 'Median time of at least 20 samples'
    : 'Median rate of at least 20 samples and, in brackets, its share of the ceiling' +
      (named ? '' : ` (${ceilings[0]})`)
  const other = rows.find((row) => row.other_call)?.other_call
  const lead = `Measured ${dates(rows)} on one ${machineName(content.machine)}. ` +
    `${written}; ${cached}.${other ? ` ${other}` : ''}`
  const head = ['size', ...(named ? ['ceiling'] : []), ...rungs.map(shortRung)]
  const lines = firsts.map((first) => {
    const ofSize = rows.filter((row) => row.size === first.size)
    const cell = (rung) => cellOf(ofSize.find((row) => row.rung === rung), first, show)
    return [sizeLabel(first), ...(named ? [ceilingOf(first)] : []), ...rungs.map(cell)]
  })
  return [wrap(lead), markdownTable([head, ...lines]), wrap(ideas(rows, rungs))]
    .join('\n\n')
}

/** The row with the least time. */
const fastest = (rows) =>
  rows.reduce((best, row) => (row.median_us < best.median_us ? row : best))

/** Our best beside the best library, for each size of these rows that has both. */
function comparedBySize(rows) {
  return unique(rows.map((row) => row.size)).flatMap((size) => {
    const ofSize = rows.filter((row) => row.size === size)
    const [ours, libraries] = [ofSize.filter(isOurs), ofSize.filter(isLibrary)]
    if (ours.length === 0 || libraries.length === 0) return []
    const [our, library] = [fastest(ours), fastest(libraries)]
    return [{ size, our, library, ratio: library.median_us / our.median_us }]
  })
}

/**
 * Our best beside the best library, for each exercise and size that both were measured
 * for. A library has no pages: those rows of ours that have them in order are left out.
 */
export function comparisons(data) {
  return exercises(data).flatMap((exercise) => {
    const rows = ladderOf(data, exercise).rows.filter(
      ({ size }) => !size.includes('in order'))
    return comparedBySize(rows).map((each) => ({ exercise, ...each }))
  })
}

/** Less than 1 % apart is no difference. */
export function verdict(ratio) {
  if (Math.abs(ratio - 1) < 0.01) return 'even'
  return ratio < 1 ? 'lost' : 'won'
}

/** So many lines of a long table stand open; the others are in a fold. */
const SHOWN = 12

/** <!-- numbers: comparisons -->: lost, even and won, the worst for us first. */
export function comparisonTables(data) {
  const time = (row) => `${shortRung(row.rung)}, ${formatNumber(row.median_us)} µs`
  const all = comparisons(data).sort((a, b) => a.ratio - b.ratio)
  const head = ['our speed / theirs', 'exercise', 'size', 'our fastest',
    'the fastest library', 'GPU']
  const part = (wanted) => all
    .filter(({ ratio }) => verdict(ratio) === wanted)
    .map(({ exercise, our, library, ratio }) => [
      formatNumber(ratio), exercise.replaceAll('_', ' '), sizeLabel(our), time(our),
      time(library) + (library.other_call ? ', in another call' : ''),
      shortGpu(ladderOf(data, exercise).content.machine)])
  return ['Lost', 'Even', 'Won'].flatMap((title) => {
    const lines = part(title.toLowerCase())
    if (lines.length === 0) return []
    const heading = `### ${title}: ${lines.length} of ${all.length}`
    const compact = (some) =>
      `<div class="wb-compact">\n\n${markdownTable([head, ...some])}\n\n</div>`
    const [shown, rest] = [lines.slice(0, SHOWN), lines.slice(SHOWN)]
    const fold = rest.length === 0 ? []
      : [`::: details ${title}: the other ${rest.length}\n\n${compact(rest)}\n\n:::`]
    return [[heading, compact(shown), ...fold].join('\n\n')]
  }).join('\n\n')
}

/** <!-- numbers: machines -->: each machine, and which files' ladders it measured. */
export function machineTable(data) {
  const files = new Map()
  for (const [name, content] of Object.entries(data)) {
    if (!isLadderFile(content)) continue
    const machine = machineName(content.machine)
    const title = name.replace(/^day0?/, 'day ').replace('_', ': ').replaceAll('_', ' ')
    files.set(machine, [...(files.get(machine) ?? []), title])
  }
  const lines = [...files].map(([machine, titles]) => [machine, titles.join(', ')])
  return markdownTable([['machine', 'ladders of'], ...lines])
}

/** "0.93 to 1.27", or one number if there is one. */
function range(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)].map(
    (value) => formatNumber(value))
  return low === high ? low : `${low} to ${high}`
}

/**
 * <!-- numbers: grids -->: one rung over many shapes beside the fastest library: heads
 * and their dimension down, tokens across, in a cell the ratios over all batches.
 */
export function gridTables(data) {
  const files = Object.values(data).filter(isLadderFile)
  const rows = files.flatMap((file) => file.rows).filter(
    (row) => isGrid(row.exercise))
  return unique(rows.map((row) => row.exercise)).map((exercise) => {
    const compared = comparedBySize(rows.filter((row) => row.exercise === exercise))
    const cells = compared.map(({ size, our, ratio }) => {
      const [, batch, heads, tokens, dim] = /^B(\d+) (H\d+) N(\d+) (D\d+)/.exec(size)
      return { batch: Number(batch), model: `${heads} ${dim}`, tokens: Number(tokens),
        ratio, rung: shortRung(our.rung) }
    })
    const tokens = unique(cells.map((cell) => cell.tokens)).sort((a, b) => a - b)
    const batches = unique(cells.map((cell) => cell.batch)).sort((a, b) => a - b)
    const lines = unique(cells.map((cell) => cell.model)).map((model) => [
      model, ...tokens.map((length) => {
        const here = cells.filter(
          (cell) => cell.model === model && cell.tokens === length)
        return here.length === 0 ? NONE : range(here.map((cell) => cell.ratio))
      })])
    const won = compared.filter(({ ratio }) => verdict(ratio) === 'won').length
    const lost = compared.filter(({ ratio }) => verdict(ratio) === 'lost').length
    const ours = unique(cells.map((cell) => cell.rung)).join(', ')
    const lead = `${exercise}: ${compared.length} shapes, of which ${won} are won and
      ${lost} lost. Our speed (${ours}) over that of the fastest library, from the lowest
      to the highest over batches of ${batches.join(', ')}.`
    const head = ['heads', ...tokens.map((length) => `${length} tokens`)]
    return `${wrap(lead)}\n\n${markdownTable([head, ...lines])}`
  }).join('\n\n')
}
