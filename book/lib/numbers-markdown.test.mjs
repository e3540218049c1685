import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'

import { diffTransformer, marked } from './diff-code.mjs'
import { expand, quoted } from './numbers-markdown.mjs'
import { ROOT } from './pages.mjs'

const row = (rung, tflops) => ({
  exercise: 'gemm', rung, size: 'N64', idea: `the "idea" of ${rung}`, cache: 'cold',
  median_us: 100, p10_us: 99, p90_us: 101, tflops, percent: tflops, ceiling: 'fp32',
  ceiling_value: 100, date: '2026-11-21',
})
const data = {
  day04: {
    machine: { gpu: 'a GPU', cuda: '13.0', driver: '580', sm_clock: '1980 MHz' },
    ceilings: {},
    rows: [row('gemm_v1', 10), row('cublas', 40)],
  },
}
const chapter = join(ROOT, 'day01-basics/02-vector-add/lesson.md')
const render = (text) => expand(text, data, { file: chapter })
const TAG = '<Measured of="day04/gemm/v1/N64/tflops">'

test('a number in the book says where it comes from', () => {
  const html = render(`It is ${TAG}10</Measured>.`)
  assert.equal(html, 'It is <span class="wb-measured" title="measured: gemm_v1, N64, ' +
    'L2 cold; 2026-11-21; a GPU">10</span>.')
})

test('a number that is not the measured one fails the build', () => {
  assert.throws(() => render(`${TAG}11</Measured>`), /npm run numbers/)
  assert.throws(() => render(TAG.replace('v1', 'v9') + '10</Measured>'), /no rung "v9"/)
})

test('a ladder gets its rows as an attribute that survives quotes', () => {
  assert.equal(quoted('"a" & <b>'), '"&quot;a&quot; &amp; &lt;b&gt;"')
  assert.throws(() => render('<LadderTable exercise="gemm"></LadderTable>'), /numbers/)
})

test('a rung is compared with the one before, by their regions', () => {
  const file = '../../solutions/day01-basics/02-vector-add/vector_add.cu'
  const html = render('<RungDiff before="#v1-kernel">\n\n' +
    `<<< ${file}#v2-kernel{cuda}\n\n</RungDiff>`)
  assert.match(html, /<RungDiff before="v1" after="v2">/)
  assert.ok(html.includes(`<<< ${file}#v2-kernel{cuda}`))
  assert.match(html, /\n```cuda\n/)
  assert.match(html, /\u241f\+\n/)
})

test('regions without a rung before one that has one do not name the tab', () => {
  const file = '../../solutions/day01-basics/05-dot-product/dot_product.cu'
  const html = render(`<RungDiff before="${file}#v2-kernel">\n\n` +
    `<<< ${file}#block-sum{cuda}\n<<< ${file}#v3-kernel{cuda}\n\n</RungDiff>`)
  assert.match(html, /<RungDiff before="v2" after="v3">/)
})

test('a diff without regions, or with unknown ones, fails the build', () => {
  const file = '../../solutions/day01-basics/02-vector-add/vector_add.cu'
  const diff = (before, after) =>
    render(`<RungDiff before="${before}">\n\n<<< ${file}#${after}{cuda}\n\n</RungDiff>`)
  assert.throws(() => diff('#v0-kernel', 'v1-kernel'), /region "v0-kernel" is missing/)
  assert.throws(() => render('<RungDiff before="#a"></RungDiff>'), /holds no "<<</)
  assert.throws(() => render('<RungDiff></RungDiff>'), /needs before=/)
})

test('the marks of a diff become classes and leave the code', () => {
  const transformer = diffTransformer()
  const classes = []
  const addClassToHast = (node, name) => classes.push([node, name])
  const context = { meta: {}, addClassToHast }
  const code = [{ mark: '-', line: '/// @param x' }, { mark: ' ', line: 'b' },
    { mark: '+', line: 'c' }].map(marked).join('\n')
  assert.equal(transformer.preprocess.call(context, code), '/// @param x\nb\nc')
  for (const line of [1, 2, 3]) transformer.line.call(context, line, line)
  transformer.pre.call(context, 'pre')
  assert.deepEqual(classes,
    [[1, ['diff', 'remove']], [3, ['diff', 'add']], ['pre', 'has-diff']])
  assert.equal(transformer.preprocess.call({ meta: {} }, 'a\nb'), undefined)
})
