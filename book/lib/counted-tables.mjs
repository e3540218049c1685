// The Markdown tables of what was counted or computed, and not timed.
import { isLadderFile, lookUp, shortRung } from './data.mjs'
import { formatNumber, markdownTable } from './format.mjs'
import { rungsOf, unique } from './tables.mjs'

/** The columns of the table of errors: 64 to 16,384 keys, then larger scores. */
export const ERROR_COLUMNS = [
  { title: 'N = 64', n: 64, logit_scale: 1 },
  { title: 'N = 1024', n: 1024, logit_scale: 1 },
  { title: 'N = 16384', n: 16384, logit_scale: 1 },
  { title: 'logits 100', n: 1024, logit_scale: 100 },
  { title: 'logits 10000', n: 1024, logit_scale: 10000 },
]

export const ERROR_KEYS = ['storage', 'accumulate', 'softmax', 'weights']

/** <ErrorChart>: what is kept in 16 bits, and the error of the arithmetic. */
export function errorTable(data) {
  const { rows, rows_of_q: rowsOfQ } = data.mixed_precision_errors
  const name = (row) => ERROR_KEYS.map((key) => row[key])
  const choices = unique(rows.map((row) => name(row).join(' ')))
  const lines = choices.map((choice) => {
    const keys = choice.split(' ')
    const selector = ERROR_KEYS.map((key, i) => `${key}=${keys[i]}`).join(' ')
    return [...keys, ...ERROR_COLUMNS.map(({ n, logit_scale: scale }) => {
      const { row } = lookUp(data,
        `mixed_precision_errors/${selector} n=${n} logit_scale=${scale}/lost_rows`)
      if (row.lost_rows === rowsOfQ) return 'all lost'
      return row.lost_rows > 0
        ? `${row.lost_rows} of ${rowsOfQ} rows lost`
        : row.error_of_arithmetic.toExponential(1)
    })]
  })
  const head = ['stored', 'sums', 'softmax', 'weights',
    ...ERROR_COLUMNS.map(({ title }) => title)]
  return markdownTable([head, ...lines])
}

/** <!-- numbers: model-error -->: predicted beside measured, the largest sizes. */
export function modelErrorTable(data) {
  const { rows } = data.xray_model_error
  // The size of work is the time of the model; the largest of each kind stays.
  const kind = ({ rung, size }) =>
    `${rung} ${size.replace(/^n = \d+|^N C H W = \d+ \d+/, '')}`
  const largest = new Map()
  for (const row of rows) {
    const found = largest.get(kind(row))
    if (found === undefined || row.predicted_us > found.predicted_us) {
      largest.set(kind(row), row)
    }
  }
  const time = (us) => `${Math.round(us)} us`
  const lines = [...largest.values()].map((row) => [
    row.rung, row.size, time(row.measured_us), time(row.predicted_us),
    row.ratio.toFixed(2), row.bound,
  ])
  return markdownTable(
    [['version', 'size', 'measured', 'model', 'model / measured', 'bound'], ...lines])
}

/**
 * <!-- numbers: errors EXERCISE … -->: how far each version's result is from the exact
 * one, beside the library's, as common/bench/include/wb/bench/errors.h measures it.
 */
export function productErrorTable(data, { words: names }) {
  const rows = Object.values(data).filter(isLadderFile).flatMap((file) => file.rows)
  const measured = rows.filter(
    (row) => names.includes(row.exercise) && row.error_max !== undefined)
  if (names.length === 0) throw new Error('name the exercises: numbers: errors sgemm')
  if (measured.length === 0) return 'These errors were not measured yet.'
  // "mma_sync_bf16_v4" is v4 in the column of mma_sync_bf16.
  const lines = unique(rungsOf(measured).map(shortRung)).map((rung) => [
    rung, ...names.flatMap((exercise) => {
      const row = measured.find(
        (each) => each.exercise === exercise && shortRung(each.rung) === rung)
      if (row === undefined) return ['–', '–']
      return [row.error_max, row.error_rms].map(
        (error) => Number.isFinite(error) ? formatNumber(error) : 'NaN')
    }),
  ])
  const of = (exercise) => names.length > 1 ? `${exercise}: ` : ''
  const head = names.flatMap(
    (exercise) => [`${of(exercise)}largest`, `${of(exercise)}root mean square`])
  return markdownTable([['version', ...head], ...lines])
}

/** All comparisons of the counts: the objects that say how far the two differ. */
function comparedCounts({ lines, kernels }) {
  return [...lines, ...kernels].flatMap((entry) => [entry, ...Object.values(entry)]
    .filter((each) => Number.isFinite(each?.difference_percent))
    .map((each) => ({ program: entry.program, ...each })))
}

/** <!-- numbers: truth -->: the simulator's counts beside Nsight Compute's. */
export function truthTable(data) {
  const { tolerance_percent: tolerance, ...counted } = data.xray_truth
  const all = comparedCounts(counted).map((each) => ({
    program: each.program,
    equal: each.simulator === each.ncu,
    near: Math.abs(each.difference_percent) <= tolerance,
  }))
  const line = (name, counts) => {
    const equal = counts.filter((each) => each.equal).length
    const near = counts.filter((each) => each.near && !each.equal).length
    const numbers = [counts.length, equal, near, counts.length - equal - near]
    return [name, ...numbers.map((count) => count || '')]
  }
  const programs = unique(all.map(({ program }) => program))
  return markdownTable([
    ['program', 'numbers compared', 'equal', `within ${tolerance} %`,
      'different, explained'],
    ...programs.map(
      (name) => line(name, all.filter(({ program }) => program === name))),
    line('together', all),
  ])
}

/** <!-- numbers: mutation -->: how many mistakes by machine the tests of a chapter find. */
export function mutationTable(data) {
  const chapters = Object.entries(data.mutation.chapters)
  const columns =
    ['mutants', 'need_gpu', 'tried', 'killed', 'equivalent', 'survivors']
  const percent = ({ killed, survivors }) =>
    `${(100 * killed / (killed + survivors)).toFixed(1)} %`
  const line = (name, score) =>
    [name, ...columns.map((column) => score[column]), percent(score)]
  const sum = Object.fromEntries(columns.map((column) =>
    [column, chapters.reduce((total, [, score]) => total + score[column], 0)]))
  return markdownTable([
    ['chapter', 'mutants', 'need a GPU', 'tried', 'killed', 'equivalent', 'alive', 'score'],
    ...chapters.map(([path, score]) =>
      line(path.replace(/^(day\d+)-[^/]+/, '$1'), score)),
    line('together', sum),
  ])
}
