// The measured numbers of the book: book/data/*.json, looked up by name.
//
// A name is a path of a file and what is in it, with slashes between:
//   day06/flash_attention/v4/B4 H16 N4096 D64/tflops   file/exercise/rung/size/field
//   day06/ceilings/fp32                                a measured ceiling
//   mixed_precision_errors/storage=fp16 n=1024 …/error the one row with these fields
//   mixed_precision_errors/demonstrations/exp(12)/fp16 the one entry named "exp(12)"
//   xray_truth/compared                                anything else: a path of members
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

import { closest } from './near.mjs'

/** Units of the fields of a benchmark's row. */
export const UNITS = {
  tflops: 'TFLOP/s', gbps: 'GB/s', median_us: 'µs', min_us: 'µs', max_us: 'µs',
  p10_us: 'µs', p90_us: 'µs', us_a_kernel: 'µs', percent: '%', spread: '%',
  tokens_per_s: 'tokens/s',
}

const HOT = ' hot'

/** A name that the data lack. Its message says which part, and what is like it. */
export class MissingNumber extends Error {}

/**
 * Reads all JSON files of a folder.
 * @param {string} folder  book/data
 * @returns {Record<string, object>} content by file name without ".json"
 */
export function loadData(folder) {
  if (!existsSync(folder)) throw new Error(`there is no folder ${folder}`)
  const data = {}
  for (const file of readdirSync(folder).sort()) {
    if (!file.endsWith('.json')) continue
    const name = basename(file, '.json')
    try {
      data[name] = oneCall(withSummary(name, JSON.parse(readFileSync(join(folder, file)))))
    } catch (error) {
      throw new Error(`${join(folder, file)}: ${error.message}`)
    }
  }
  return data
}

/** Ceilings that each row has for itself: what a model predicts of it. */
const OF_EACH_ROW = ['the predicted speed']

/** How far apart two ceilings of one name may be and still be one measurement. */
const SAME = 1.002

/**
 * One yardstick a table: rows of an exercise and a size that name the same ceiling must
 * have its value from one call. A file may say in "other_calls" for an exercise why its
 * libraries were measured in another call; then these have a rate, and no share of a
 * ceiling.
 * @throws where calls are mixed without a word, and where a share is of another ceiling
 */
export function oneCall(content) {
  if (!isLadderFile(content)) return content
  const found = new Map()
  const rows = content.rows.map((row) => {
    if (!Number.isFinite(row.percent) || OF_EACH_ROW.includes(row.ceiling)) return row
    const why = content.other_calls?.[row.exercise]
    if (why && isLibrary(row)) {
      const { percent, ceiling_value: value, ...rest } = row
      return { ...rest, other_call: why }
    }
    const rate = row.tflops ?? row.gbps
    const where = `${row.exercise}, ${row.size}, ${row.rung}`
    if (Math.abs((100 * rate) / row.ceiling_value - row.percent) > 0.05 * row.percent) {
      throw new Error(`${where}: ${row.percent} % is not of ${row.ceiling_value}`)
    }
    const key = [row.exercise, row.size, row.ceiling].join(', ')
    const first = found.get(key) ?? row.ceiling_value
    found.set(key, first)
    const [low, high] = [first, row.ceiling_value].sort((a, b) => a - b)
    if (high > SAME * low) {
      throw new Error(`${where}: measured in another call than the rows beside it: ` +
        `the ceiling "${row.ceiling}" is ${row.ceiling_value} here and ${first} there`)
    }
    return row
  })
  return { ...content, rows }
}

/** Adds to a file of rows with a `ratio` what the text says about all of them. */
function withSummary(name, content) {
  const ratios = (content.rows ?? []).map((row) => row.ratio).filter(Number.isFinite)
  if (ratios.length === 0) return content
  ratios.sort((a, b) => a - b)
  const middle = ratios.length >> 1
  const median = ratios.length % 2 === 1
    ? ratios[middle] : (ratios[middle - 1] + ratios[middle]) / 2
  const summary = {
    rows: ratios.length,
    median_ratio: median,
    within_15_percent: ratios.filter((ratio) => Math.abs(ratio - 1) <= 0.15).length,
    smallest_ratio: ratios[0],
    largest_ratio: ratios.at(-1),
  }
  return { ...content, summary }
}

/** True for a file that a benchmark wrote: rows with exercise, rung and size. */
export function isLadderFile(content) {
  return Array.isArray(content.rows) && content.ceilings !== undefined
}

/** "flash_attention_v4" is "v4" for short. */
export function shortRung(rung) {
  return /_(v\d+)$/.exec(rung)?.[1] ?? rung
}

/** A rung of our ladder, and not a library beside it. */
export function isOurs(row) {
  return /_v\d+\w*$/.test(row.rung) || row.rung === row.exercise
}

// What ours are compared with and is no library's: a kernel that only reads, what a
// search has to find, and a product without the epilogue that the others have.
const REFERENCES = [
  'plain read', 'exhaustive', 'model alone', 'best of the first size',
  'product alone, as in v5', 'cublasLt, product alone',
]

/** A library's implementation of the same. */
export function isLibrary(row) {
  return !isOurs(row) && !REFERENCES.includes(row.rung)
}

/** One implementation over hundreds of shapes: a map, and no ladder. */
export function isGrid(exercise) {
  return exercise.startsWith('attention_grid')
}

/**
 * The rows of an exercise, in the order of the file.
 * @returns {{name: string, content: object, rows: object[]}} and the file they are in
 */
export function ladderOf(data, exercise) {
  for (const [name, content] of Object.entries(data)) {
    if (!isLadderFile(content)) continue
    const rows = content.rows.filter((row) => row.exercise === exercise)
    if (rows.length > 0) return { name, content, rows }
  }
  throw missing('exercise', exercise, exercises(data), 'the benchmarks')
}

/** All exercises with a ladder that was measured, in the order of the files. */
export function exercises(data) {
  const files = Object.values(data).filter(isLadderFile)
  const names = files.flatMap((file) => file.rows.map((row) => row.exercise))
  return [...new Set(names)].filter((name) => !isGrid(name))
}

/**
 * Finds a value by its name.
 * @param {Record<string, object>} data  from loadData
 * @param {string} name  see the head of this file
 * @returns {{value: number|string, unit: string, row: object|null, content: object}}
 */
export function lookUp(data, name) {
  const parts = name.split('/')
  const content = member(data, parts[0], 'file', 'book/data')
  const inRows = Array.isArray(content.rows)
  if (inRows && content.rows.some((row) => row.exercise === parts[1])) {
    return inLadder(content, parts)
  }
  if (inRows && parts.length === 3 && parts[1].includes('=')) {
    return inSelectedRow(content, parts)
  }
  if (isLadderFile(content) && content[parts[1]] === undefined) {
    const known = content.rows.map((row) => row.exercise)
    throw missing('exercise', parts[1], known, `${parts[0]}.json`)
  }
  return inMembers(content, parts)
}

function inLadder(content, [file, exercise, rung, ...rest]) {
  const field = rest.pop()
  const size = rest.join('/')
  const where = `${file}.json, ${exercise}`
  const ofExercise = content.rows.filter((row) => row.exercise === exercise)
  const ofRung = ofExercise.filter(
    (row) => row.rung === rung || shortRung(row.rung) === rung)
  if (ofRung.length === 0) {
    throw missing('rung', rung, ofExercise.map((row) => shortRung(row.rung)), where)
  }
  const row = rowOfSize(ofRung, size)
  if (row === undefined) {
    throw missing('size', size, ofRung.map((each) => each.size), `${where}, ${rung}`)
  }
  const value = field === 'spread' ? spread(row) : row[field]
  if (value === undefined) {
    throw missing('field', field, [...Object.keys(row), 'spread'], `${where}, ${rung}`)
  }
  return { value, unit: UNITS[field] ?? '', row, content }
}

/** "… hot" is the row measured with a hot cache, whether its size says so or not. */
function rowOfSize(rows, size) {
  const exact = rows.find((row) => row.size === size)
  if (exact !== undefined || !size.endsWith(HOT)) return exact
  const bare = size.slice(0, -HOT.length)
  return rows.find((row) => row.size === bare && row.cache === 'hot')
}

/** Width of the middle 80 % of the samples, in % of the median. */
export function spread(row) {
  return ((row.p90_us - row.p10_us) / row.median_us) * 100
}

function inSelectedRow(content, [file, selector, field]) {
  const wanted = selector.split(' ').map((pair) => pair.split('='))
  const fits = (row) => wanted.every(([key, value]) => String(row[key]) === value)
  const rows = content.rows.filter(fits)
  if (rows.length !== 1) {
    const keys = wanted.map(([key]) => key)
    const known = content.rows.map(
      (row) => keys.map((key) => `${key}=${row[key]}`).join(' '))
    if (rows.length === 0) throw missing('row', selector, known, `${file}.json`)
    throw new MissingNumber(
      `${rows.length} rows of ${file}.json have ${selector}: name more fields`)
  }
  const value = member(rows[0], field, 'field', `${file}.json, ${selector}`)
  return { value, unit: UNITS[field] ?? '', row: rows[0], content }
}

function inMembers(content, parts) {
  let value = content
  for (let i = 1; i < parts.length; ++i) {
    const where = parts.slice(0, i).join('/')
    if (Array.isArray(value)) {
      const named = Object.fromEntries(value.map((entry) => [entry.what, entry]))
      value = member(named, parts[i], 'entry', where)
    } else {
      value = member(value, parts[i], 'member', where)
    }
  }
  if (value?.unit !== undefined) return { ...value, row: null, content }
  if (value !== null && typeof value === 'object') {
    const known = Object.keys(value).join(', ')
    throw new MissingNumber(`${parts.join('/')} is not one number; it has: ${known}`)
  }
  return { value, unit: UNITS[parts.at(-1)] ?? '', row: null, content }
}

function member(object, key, what, where) {
  if (object !== null && typeof object === 'object' && Object.hasOwn(object, key)) {
    return object[key]
  }
  throw missing(what, key, Object.keys(object ?? {}), where)
}

function missing(what, wanted, known, where) {
  const near = closest(wanted, [...new Set(known)], 5)
  const meant = near.map((each) => `\n    ${each}`).join('')
  return new MissingNumber(
    `no ${what} "${wanted}" in ${where}${near.length > 0 ? `; nearest:${meant}` : ''}`)
}
