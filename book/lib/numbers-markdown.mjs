// The part of the book's Markdown that knows the data. A number that the data lack, or
// a text that is not what was measured, fails the build.
//
// <Measured>      becomes a <span> that says where the number comes from
// <LadderTable>   gets its rows, for the chart and the table of one size
// <ErrorChart>    gets its points, and so does <Roofline />
// <RungDiff>      gets both versions of a region, the second one also as a diff
import { dirname, join, relative, resolve } from 'node:path'

import {
  isLadderFile, isLibrary, isOurs, ladderOf, loadData, lookUp, shortRung, spread,
} from './data.mjs'
import { ERROR_COLUMNS, ERROR_KEYS } from './counted-tables.mjs'
import { diffLines, withoutRung } from './diff.mjs'
import { marked } from './diff-code.mjs'
import { fillIn, firstDifference, lessonsByExercise } from './numbers.mjs'
import { courseOf } from './course.mjs'
import { ROOT } from './pages.mjs'
import { placed } from './place.mjs'
import { snippet } from './markers.mjs'
import { recent } from './recent.mjs'
import {
  dates, isTimed, machineName, rateOf, sizeLabel, sizesOf,
} from './tables.mjs'
import {
  ofOneGpu, packPoints, pointsOf, roofsOf, withoutPoint,
} from '../figures/roofline/model.js'
import { attributesOf, blankCode, findElements, replaceElements } from './tags.mjs'

/** A text as the value of an attribute in double quotes. */
export function quoted(text) {
  const escapes = { '&': '&amp;', '"': '&quot;', '<': '&lt;', '>': '&gt;' }
  return `"${text.replace(/[&"<>]/g, (letter) => escapes[letter])}"`
}

/** Where a number comes from, in words. */
export function origin(data, { of, over }) {
  const describe = (name) => {
    const { row, content } = lookUp(data, name)
    const gpu = content.machine?.gpu ?? content.machine ?? content.gpu
    const how = row?.clock === 'host' ? 'time of the host' : row?.cache && `L2 ${row.cache}`
    const what = row?.rung === undefined
      ? name : [row.rung, row.size, how].filter(Boolean).join(', ')
    return [what, row?.date ?? content.date, gpu].filter(Boolean).join('; ')
  }
  return over === undefined
    ? `measured: ${describe(of)}` : `measured: ${describe(of)}, over ${describe(over)}`
}

function measuredSpan(data) {
  return ({ attributes, inner }) => {
    const title = quoted(origin(data, attributes))
    return `<span class="wb-measured" title=${title}>${inner}</span>`
  }
}

/** Lets one look at a page whose numbers are not landed yet, as they stand in it. */
const DRAFT = process.env.WARPBOOK_DRAFT === '1'

const kindOf = (row) =>
  (isOurs(row) ? 'ours' : isLibrary(row) ? 'library' : 'reference')

/** What <LadderTable> draws, as an object for JSON. */
export function ladderProps(data, { exercise, sizes, chosen, show }) {
  const { content, rows } = ladderOf(data, exercise)
  if (chosen !== undefined) sizesOf(rows, chosen, exercise)
  return {
    machine: machineName(content.machine),
    dates: dates(rows),
    sizes: sizesOf(rows, sizes, exercise).map((size) => {
      const ofSize = rows.filter((row) => row.size === size)
      const { ceiling, ceiling_value: value, cache } = ofSize[0]
      const other = ofSize.find((row) => row.other_call)?.other_call
      return {
        size, label: sizeLabel(ofSize[0]), cache, ceiling, value,
        unit: rateOf(ofSize[0]).unit, timed: isTimed(ofSize[0], show),
        onHost: ofSize[0].clock === 'host', other,
        rows: ofSize.map((row) => ({
          rung: shortRung(row.rung), kind: kindOf(row),
          idea: row.idea.replace(/\+cu\d+/, ''),
          us: row.median_us, spread: spread(row), rate: rateOf(row).rate,
          percent: row.percent, of: row.ceiling === ceiling ? '' : row.ceiling,
        })),
      }
    }),
  }
}

/** The lines that <ErrorChart> draws: the error over the number of keys. */
export function errorProps(data) {
  const { rows, machine, head_dim: headDim } = data.mixed_precision_errors
  const lines = new Map()
  for (const row of rows.filter((each) => each.logit_scale === 1)) {
    const name = ERROR_KEYS.map((key) => row[key]).join(' ')
    if (!lines.has(name)) lines.set(name, [])
    lines.get(name).push({ n: row.n, error: row.error_of_arithmetic })
  }
  return {
    machine, headDim, keys: ERROR_KEYS,
    columns: ERROR_COLUMNS.map(({ title }) => title),
    lines: [...lines].map(([name, points]) => ({ name, points })),
  }
}

/** What <Roofline /> draws: the points and roofs of all ladders of one GPU. */
export function rooflineProps(data) {
  const files = ofOneGpu(Object.fromEntries(
    Object.entries(data).filter(([, content]) => isLadderFile(content))))
  const points = pointsOf(files)
  const machines = Object.values(files).map(({ machine }) => machineName(machine))
  return {
    machine: [...new Set(machines)].join('; '),
    roofs: roofsOf(files),
    points: packPoints(points),
    without: withoutPoint(files, points),
  }
}

/** <Roofline exercise="…" /> with its points. */
function withPoints(text, data) {
  const places = [...blankCode(text).matchAll(/<Roofline(?=[\s/])[^>]*\/>/g)]
  const elements = places.map(({ index, 0: open }) => ({
    start: index, end: index + open.length, tag: text.slice(index, index + open.length),
  }))
  if (elements.length === 0) return text
  const points = quoted(JSON.stringify(rooflineProps(data)))
  return replaceElements(text, elements, ({ tag }) => {
    const { exercise } = attributesOf(tag)
    if (exercise !== undefined) ladderOf(data, exercise)
    return tag.replace(/\s*\/>$/, ` data=${points} />`)
  })
}

/** <CourseMap /> with its chapters. */
function withCourse(text) {
  const places = [...blankCode(text).matchAll(/<CourseMap \/>/g)]
  const elements = places.map(({ index, 0: open }) => ({ start: index, end: index + open.length }))
  if (elements.length === 0) return text
  const data = quoted(JSON.stringify(courseOf()))
  return replaceElements(text, elements, () => `<CourseMap data=${data} />`)
}

/** "v3-kernel" is a region of rung "v3"; regions of no rung keep their name. */
function rungOf(regions) {
  const names = regions.map(([, region]) => region)
  const rungs = names.flatMap((name) => /(?:^|-)(v\d+)\b/.exec(name)?.[1] ?? [])
  return rungs[0] ?? names[0]
}

const SNIPPET = /^<<< (\S+?)#([\w-]+)(\{[^}]*\})?[ \t]*$/gm

/**
 * <RungDiff before="FILE#REGION"> around <<< FILE#REGION lines: two panels, the code as
 * it is and its diff to `before`. Several regions, with ";" between, are compared as
 * one text with several snippets. "#REGION" is in the file of the snippet in its place.
 */
export function expandRungDiff({ attributes, inner, line }, folder, watch = () => {}) {
  if (attributes.before === undefined) {
    throw new Error(`line ${line}: <RungDiff> needs before="FILE#REGION"`)
  }
  const read = (path, region) => {
    const file = resolve(folder, path)
    watch(file)
    return snippet(relative(ROOT, file), region).text.trimEnd().split('\n')
  }
  const later = [...inner.matchAll(SNIPPET)].map(([, path, region]) => [path, region])
  if (later.length === 0) {
    throw new Error(`line ${line}: <RungDiff> holds no "<<< FILE#REGION" line`)
  }
  const earlier = attributes.before.split(';').map((each, i) => {
    const [path, region] = each.trim().split('#')
    return [path || later[Math.min(i, later.length - 1)][0], region]
  })
  const joined = (regions) => regions.flatMap(
    ([path, region], i) => [...(i === 0 ? [] : ['']), ...read(path, region)])
  const changed = diffLines(joined(earlier), joined(later), withoutRung)
  const code = changed.map(marked).join('\n')
  const [before, after] = [earlier, later].map(rungOf)
  return `<RungDiff before=${quoted(before)} after=${quoted(after)}>\n` +
    `<template v-slot:after>\n\n${inner.trim()}\n\n</template>\n` +
    `<template v-slot:changed>\n\n\`\`\`cuda\n${code}\n\`\`\`\n\n</template>\n` +
    '</RungDiff>'
}

/**
 * The text as the book renders it.
 * @param {string} text  Markdown
 * @param {Record<string, object>} data  from loadData
 * @param {{file: string, context?: object, watch?: (file: string) => void,
 *   place?: (fault: string) => string}} at  `place` turns "line 7: …" into a message
 * @throws if a number is missing or is not the measured one
 */
export function expand(text, data, at) {
  const { file, context, watch, place = (fault) => `${file}: ${fault}` } = at
  const { text: filled, problems } = fillIn(text, data, context)
  const stale = filled === text ? []
    : [`${firstDifference(text, filled)}; run: npm run numbers`]
  const faults = [...problems, ...stale].map(place).join('\n')
  if (faults !== '' && !DRAFT) throw new Error(faults)
  if (faults !== '') {
    console.warn(`${faults}\n`)
    text = text.replace(/<\/?(?:Measured|LadderTable|ErrorChart)\b[^>]*>/g, '')
  }
  text = fillIn(text, data, { ...context, withTables: true }).text
  const withProps = (name, props) => (element) => element.open.replace(/>$/,
    ` data=${quoted(JSON.stringify(props(element.attributes)))}>`) +
    `${element.inner}</${name}>`
  const pass = (name, write) => {
    text = replaceElements(text, findElements(text, name), write)
  }
  // A <span> stands in its paragraph; a component at the head of a line would end it.
  pass('Measured', measuredSpan(data))
  pass('LadderTable', withProps('LadderTable', (given) => ladderProps(data, given)))
  pass('ErrorChart', withProps('ErrorChart', () => errorProps(data)))
  text = withPoints(text, data)
  text = withCourse(text)
  pass('RungDiff', (element) => {
    try {
      return expandRungDiff(element, dirname(file), watch)
    } catch ({ message }) {
      const line = message.startsWith('line ') ? '' : `line ${element.line}: `
      throw new Error(place(line + message))
    }
  })
  return text
}

/**
 * A plug-in of markdown-it. VitePress gives the file in env; text without a file (a
 * title) is left alone. The data are read anew from time to time: they may be landed
 * while the book is served.
 */
export function numbersPlugin(md) {
  const allData = recent(() => loadData(join(ROOT, 'book/data')))
  const allLessons = recent(() => lessonsByExercise(ROOT))
  md.core.ruler.after('normalize', 'wb_numbers', (state) => {
    const file = state.env?.realPath ?? state.env?.path
    if (file === undefined) return
    const watch = (path) => state.env.includes?.push(path)
    const context = { lessons: allLessons() }
    const place = (fault) => placed(state.env, fault)
    state.src = expand(state.src, allData(), { file, context, watch, place })
  })
}
