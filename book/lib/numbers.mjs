// Writes measured numbers into the lessons, and checks that they are the measured ones.
//
//   npm run numbers              fills in what stands between the tags
//   npm run numbers -- --check   changes nothing; fails if anything would change
//
// <Measured of="NAME">41.8</Measured>      one number; NAME as in data.mjs
//   over="NAME"                            divided by another one
//   per="1048576"                          divided by a number that is no measurement
//   as="ns|ms|s|GB|percent|more|less"      in other units; of a ratio: in percent
//   digits="2"                             significant digits, otherwise 3
// <LadderTable exercise="NAME">…           the table of a ladder
//   sizes="a; b"                           only these sizes, in this order
//   show="time"                            times in place of rates
// <ErrorChart>…                            the errors of mixed precision
// <!-- numbers: KIND --> … <!-- /numbers -->   other tables, see BLOCKS
// <!-- table: KIND -->                     the same, made when the book is built: for
//                                          pages that nobody reads outside of the book
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

import { bibliographyTable } from './bibliography.mjs'
import { exercises, loadData, lookUp } from './data.mjs'
import { changelog, editionLine } from './edition.mjs'
import { formatMeasured } from './format.mjs'
import {
  errorTable, modelErrorTable, mutationTable, productErrorTable, truthTable,
} from './counted-tables.mjs'
import { comparisonTables, gridTables, ladderTable, machineTable } from './tables.mjs'
import { findComments, findElements, findTables, replaceElements } from './tags.mjs'

/** Tables that stand between comments, by their kind. */
const BLOCKS = {
  errors: productErrorTable,
  'model-error': modelErrorTable,
  truth: truthTable,
  mutation: mutationTable,
  comparisons: comparisonTables,
  grids: gridTables,
  machines: machineTable,
  ladders: allLadders,
  bibliography: bibliographyTable,
  changelog,
  edition: () => `${editionLine()}.`,
}

/** Folders of lessons and pages, and no others, relative to the repository. */
const PLACES = [/^day\d\d-[^/]+$/, /^docs$/, /^book$/, /^common$/]
const SKIPPED = new Set(['node_modules', 'dist', '.vitepress', 'build'])

/** Each exercise with its heading and table, and a link to its lesson if it has one. */
function allLadders(data, { lessons = new Map() }) {
  return exercises(data).map((exercise) => {
    const show = exercise === 'hello_gpu' ? 'time' : undefined
    const title = exercise.replaceAll('_', ' ')
    const lesson = lessons.get(exercise)
    const link = lesson === undefined ? '' : `[Its lesson](${lesson}).\n\n`
    const table = ladderTable(data, { exercise, show })
    const compact = `<div class="wb-compact">\n\n${table}\n\n</div>`
    const fold = `::: details All sizes of ${title}\n\n${compact}\n\n:::`
    return `### ${title} {#${exercise}}\n\n${link}${fold}`
  }).join('\n\n')
}

/**
 * The text with all numbers filled in.
 * @param {string} text  Markdown
 * @param {Record<string, object>} data  from loadData
 * @param {{lessons?: Map<string, string>, withTables?: boolean}} context  links to
 *   lessons by exercise; whether tables take the place of <!-- table: … -->
 * @returns {{text: string, problems: string[]}}  problems begin with "line N:", a line
 *   of the given text or, past a table that changed, near it
 */
export function fillIn(text, data, context = {}) {
  const problems = []
  const pass = (find, write) => {
    let elements
    try {
      elements = find(text)
    } catch (error) {
      problems.push(error.message)
      return
    }
    text = replaceElements(text, elements, (element) => {
      try {
        return write(element)
      } catch (error) {
        problems.push(`line ${element.line}: ${error.message}`)
        return element.open + (element.inner ?? '') + closeOf(element)
      }
    })
  }
  const closeOf = ({ open }) => {
    if (open.startsWith('<!-- table')) return ''
    return open.startsWith('<!--') ? '<!-- /numbers -->' : `</${/^<(\w+)/.exec(open)[1]}>`
  }
  const block = (make) => (element) =>
    `${element.open}\n\n${make(element)}\n\n${closeOf(element)}`

  const table = ({ attributes: { kind, words = [] } }) => {
    if (!Object.hasOwn(BLOCKS, kind)) {
      const known = Object.keys(BLOCKS).join(', ')
      throw new Error(`no table "${kind}"; there are: ${known}`)
    }
    return BLOCKS[kind](data, { ...context, words })
  }
  pass(findComments, block(table))
  pass(findTables, (element) => {
    const made = table(element)
    return context.withTables ? made : element.open
  })
  pass((source) => findElements(source, 'LadderTable'),
    block(({ attributes }) => ladderTable(data, required(attributes, 'exercise'))))
  pass((source) => findElements(source, 'ErrorChart'), block(() => errorTable(data)))
  pass((source) => findElements(source, 'Measured'), (element) =>
    element.open + measured(data, element.attributes) + closeOf(element))
  return { text, problems }
}

/** The text of one <Measured>. */
export function measured(data, attributes) {
  const { of, over, per } = required(attributes, 'of')
  const { value } = lookUp(data, of)
  if (over === undefined && per === undefined) return formatMeasured(value, attributes)
  const measuredDivisor = over === undefined ? 1 : lookUp(data, over).value
  const divisor = measuredDivisor * Number(per ?? 1)
  if (!(divisor > 0)) throw new Error(`cannot divide by ${[over, per].join(' ')}`)
  return formatMeasured(value / divisor, attributes)
}

function required(attributes, name) {
  if (attributes[name] === undefined) throw new Error(`${name}="…" is missing`)
  return attributes
}

/** All Markdown files of the lessons, of the documents and of the book. */
export function markdownFiles(root) {
  const walk = (folder) => readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !SKIPPED.has(name))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return walk(path)
      return entry.name.endsWith('.md') ? [path] : []
    })
  return readdirSync(root, { withFileTypes: true })
    .flatMap((entry) => {
      if (entry.isDirectory()) {
        const ours = PLACES.some((place) => place.test(entry.name))
        return ours ? walk(join(root, entry.name)) : []
      }
      return entry.name === 'README.md' ? [join(root, entry.name)] : []
    })
    .sort()
}

/** The lesson in which the table of an exercise stands: its path by exercise. */
export function lessonsByExercise(root) {
  const lessons = new Map()
  for (const file of markdownFiles(root)) {
    if (!file.endsWith('lesson.md')) continue
    for (const { attributes } of
      findElements(readFileSync(file, 'utf8'), 'LadderTable')) {
      lessons.set(attributes.exercise, `../../${relative(root, file)}`)
    }
  }
  return lessons
}

function main(arguments_) {
  const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
  const check = arguments_.includes('--check')
  const unknown = arguments_.filter((argument) => argument !== '--check')
  if (unknown.length > 0) {
    console.error(`numbers: what is ${unknown[0]}? Only --check is known.`)
    return 2
  }
  const data = loadData(join(root, 'book/data'))
  const context = { lessons: lessonsByExercise(root) }
  let failed = 0
  for (const file of markdownFiles(root)) {
    const before = readFileSync(file, 'utf8')
    const { text, problems } = fillIn(before, data, context)
    const name = relative(root, file)
    for (const problem of problems) console.error(`${name}, ${problem}`)
    failed += problems.length
    if (text === before) continue
    if (check) {
      console.error(`${name}, ${firstDifference(before, text)}; run: npm run numbers`)
      ++failed
    } else {
      writeFileSync(file, text)
      console.log(`${name}: written`)
    }
  }
  return failed > 0 ? 1 : 0
}

/** "line 7: it says 41, the data 42": the first lines that differ. */
export function firstDifference(before, after) {
  const [old, fresh] = [before.split('\n'), after.split('\n')]
  const at = old.findIndex((line, i) => line !== fresh[i])
  return `line ${at + 1}: it says "${old[at]}", the data "${fresh[at]}"`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = main(process.argv.slice(2))
}
