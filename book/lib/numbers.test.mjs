import assert from 'node:assert/strict'
import { dirname, join, resolve } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { exercises, loadData } from './data.mjs'
import { fillIn, lessonsByExercise, markdownFiles } from './numbers.mjs'
import { blankCode, findElements } from './tags.mjs'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')

const row = (rung, size, tflops, more = {}) => ({
  exercise: 'gemm', rung, size, idea: `idea of ${rung}`, cache: 'cold', median_us: 100,
  p10_us: 99, p90_us: 101, tflops, percent: tflops * 2, ceiling: 'fp32',
  ceiling_value: 50, date: '2026-11-21', ...more,
})
const data = {
  day04: {
    machine: { gpu: 'GPU', cuda: '13.0', driver: '580', sm_clock: '1980 MHz' },
    ceilings: { fp32: { value: 50, unit: 'TFLOP/s' } },
    rows: [
      row('gemm_v1', 'N64', 10), row('gemm_v2', 'N64', 20), row('cublas', 'N64', 40),
      row('gemm_v2', 'N128', 25), row('gemm_v10', 'N128', 30),
    ],
  },
}
const V2 = 'day04/gemm/v2/N64/tflops'
const V1 = 'day04/gemm/v1/N64/tflops'

test('a number is filled in, and filling in again changes nothing', () => {
  const { text, problems } = fillIn(`It is <Measured of="${V2}">?</Measured>.`, data)
  assert.deepEqual(problems, [])
  assert.equal(text, `It is <Measured of="${V2}">20</Measured>.`)
  assert.equal(fillIn(text, data).text, text)
})

test('a ratio is that of the two numbers named', () => {
  const tag = `<Measured of="${V2}" over="${V1}" digits="2">`
  assert.equal(fillIn(`${tag}</Measured>`, data).text, `${tag}2.0</Measured>`)
})

test('a number can be divided by one that is not measured', () => {
  const tag = `<Measured of="day04/gemm/v1/N64/median_us" per="50" as="ns">`
  assert.equal(fillIn(`${tag}</Measured>`, data).text, `${tag}2,000</Measured>`)
  const zero = `<Measured of="${V1}" per="0"></Measured>`
  assert.match(fillIn(zero, data).problems[0], /cannot divide by\s+0/)
})

test('a missing number is a problem, with its line, and the text stays', () => {
  const text = 'One\n<Measured of="day04/gemm/v7/N64/tflops">5</Measured>'
  const result = fillIn(text, data)
  assert.equal(result.text, text)
  assert.match(result.problems[0], /^line 2: no rung "v7"/)
})

test('tags in code are examples, not numbers', () => {
  const text = '```html\n<Measured of="x">1</Measured>\n```\nand `<Measured of="y">`'
  assert.deepEqual(fillIn(text, data), { text, problems: [] })
  assert.equal(blankCode(text).length, text.length)
})

test('the table of a ladder has our rungs in order, then the libraries', () => {
  const { text, problems } = fillIn('<LadderTable exercise="gemm"></LadderTable>', data)
  assert.deepEqual(problems, [])
  assert.match(text, /\n\n\| size \| v1 \| v2 \| v10 \| cublas \|\n/)
  assert.match(text, /\| N64 \| 10\.0 \(20 %\) \| 20\.0 \(40 %\) \| – \| 40\.0/)
  assert.match(text, /GPU \(CUDA 13\.0, driver 580, 1980 MHz\)/)
  assert.match(text, /ceiling \(fp32,\s50\.0\sTFLOP\/s\)/)
  assert.equal(fillIn(text, data).text, text)
})

test('a share of another ceiling than that of the size says so', () => {
  const mixed = { day06: { ...data.day04, rows: [
    row('gemm_v1', 'N64', 10), row('torch', 'N64', 400, { ceiling: 'bf16', percent: 50 }),
  ] } }
  const { text } = fillIn('<LadderTable exercise="gemm"></LadderTable>', mixed)
  assert.match(text, /\(fp32,\s50\.0\sTFLOP/)
  assert.match(text, /\| N64 \| 10\.0 \(20 %\) \| 400 \(50 % of bf16\) \|/)
})

test('a row without a ceiling shows its time', () => {
  const host = { day07: { ...data.day04, rows: [
    row('gemm_v1', 'N64', 0, { percent: null, ceiling_value: null, clock: 'host' }),
    row('gemm_v2', 'N128', 20),
  ] } }
  const { text, problems } = fillIn('<LadderTable exercise="gemm"></LadderTable>', host)
  assert.deepEqual(problems, [])
  assert.match(text, /\| N64 \| none: times \| 100 µs \| – \|/)
  assert.match(text, /\| N128 \| fp32, 50\.0 TFLOP\/s \| – \| 20\.0 \(40 %\) \|/)
})

test('sizes can be chosen, and unknown ones are refused', () => {
  const table = (sizes) => fillIn(
    `<LadderTable exercise="gemm" sizes="${sizes}"></LadderTable>`, data)
  const { text } = table('N128')
  assert.ok(text.includes('| N128 |') && !text.includes('| N64 |'))
  assert.match(table('N32').problems[0], /not measured for size "N32".*\n {4}N64/)
})

test('elements that do not end, and unknown tables, are problems', () => {
  const problem = (text) => fillIn(text, data).problems[0]
  assert.match(problem('<LadderTable exercise="gemm" />'), /line 1: write <LadderTable/)
  assert.match(problem('\n<LadderTable exercise="gemm">'), /line 2: .* has no/)
  assert.match(problem('<LadderTable></LadderTable>'), /exercise="…" is missing/)
  assert.match(problem('<!-- numbers: x --><!-- /numbers -->'), /no table "x"/)
  assert.match(problem('\n<!-- table: x -->'), /line 2: no table "x"/)
  assert.match(problem('<Measured of="a">1 <Measured of="b">2</Measured>'), /line 1/)
})

test('won and lost comparisons are both in the table, the lost ones first', () => {
  const { text } = fillIn('<!-- numbers: comparisons --><!-- /numbers -->', {
    day04: { ...data.day04, rows: [
      row('gemm_v1', 'A', 1, { median_us: 10 }),
      row('cublas', 'A', 1, { median_us: 20 }),
      row('gemm_v1', 'B', 1, { median_us: 10 }),
      row('cublas', 'B', 1, { median_us: 5 }),
    ] },
  })
  assert.match(text, /### Lost: 1 of 2\n[\s\S]*\| 0\.500 \| gemm \| B \|/)
  assert.match(text, /### Won: 1 of 2\n[\s\S]*\| 2\.00 \| gemm \| A \|/)
})

test('a grid of shapes is a table of ratios, and no ladder', () => {
  const shape = (rung, size, us) =>
    row(rung, size, 1, { exercise: 'attention_grid_fp32', median_us: us })
  const grid = { grid: { ...data.day04, rows: [
    shape('flash_v5', 'B1 H8 N64 D64', 10), shape('torch', 'B1 H8 N64 D64', 5),
    shape('flash_v5', 'B4 H8 N64 D64', 10), shape('torch', 'B4 H8 N64 D64', 20),
  ] } }
  const { text, problems } = fillIn('<!-- numbers: grids --><!-- /numbers -->', grid)
  assert.deepEqual(problems, [])
  assert.match(text, /2 shapes, of which 1 are won and\s1 lost/)
  assert.match(text, /\| H8 D64 \| 0\.500 to 2\.00 \|/)
  assert.deepEqual(exercises(grid), [])
})

test('a table of the book alone is made when the book is built', () => {
  const text = 'A\n\n<!-- table: ladders -->\n\nB <!-- numbers: x'
  assert.deepEqual(fillIn(text, data), { text, problems: [] })
  const made = fillIn(text, data, { withTables: true }).text
  assert.match(made, /^A\n\n### gemm \{#gemm\}\n[^]*\n\| N64 \| [^]*\n\nB <!-- numbers: x$/)
})

test('attributes are read from the tag', () => {
  const text = '<LadderTable exercise="a" sizes="b, c; d"></LadderTable>'
  const [element] = findElements(text, 'LadderTable')
  assert.deepEqual(element.attributes, { exercise: 'a', sizes: 'b, c; d' })
})

test('every number of the lessons is the measured one', async () => {
  const { readFileSync } = await import('node:fs')
  const measured = loadData(join(root, 'book/data'))
  const context = { lessons: lessonsByExercise(root) }
  for (const file of markdownFiles(root)) {
    const text = readFileSync(file, 'utf8')
    const result = fillIn(text, measured, context)
    assert.deepEqual(result.problems, [], file)
    assert.equal(result.text, text, `${file}: npm run numbers`)
  }
})

test('errors of products: a line a version, beside the library, in any type', () => {
  const errors = { error_max: 12.34, error_rms: 1.5 }
  const rows = [
    row('gemm_v2', 'N64', 10, errors), row('gemm_v1', 'N64', 20),
    row('cublas', 'N64', 40, { error_max: null, error_rms: null }),
    { ...row('half_v2', 'N64', 1, { error_max: 3, error_rms: 2 }), exercise: 'half' },
  ]
  const measured = { day04: { ...data.day04, rows } }
  const fill = (names) => fillIn(
    `<!-- numbers: errors ${names} -->\n<!-- /numbers -->`, measured).text
  const one = fill('gemm')
  assert.match(one, /\| version \| largest \| root mean square \|/)
  assert.match(one, /\| v2 \| 12.3 \| 1.5\d* \|/)
  assert.match(one, /\| cublas \| NaN \| NaN \|/)
  assert.doesNotMatch(one, /v1/)  // a row without errors has no line
  const two = fill('gemm half')
  assert.match(two, /\| version \| gemm: largest \| gemm: root mean square \| half: /)
  assert.match(two, /\| v2 \| 12.3 \| 1.5\d* \| 3\S* \| 2\S* \|/)
  assert.match(two, /\| cublas \| NaN \| NaN \| – \| – \|/)
})

test('errors of products: what was not measured is said, not left out', () => {
  const text = '<!-- numbers: errors gemm -->\n<!-- /numbers -->'
  assert.match(fillIn(text, data).text, /These errors were not measured yet\./)
  const nothing = fillIn('<!-- numbers: errors -->\n<!-- /numbers -->', data)
  assert.match(nothing.problems[0], /^line 1: name the exercises/)
})
