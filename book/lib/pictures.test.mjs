// The pictures of the lessons: what they refuse, and that lessons have the newest ones.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'
import { schedule } from '../pictures/async-copy.mjs'
import { trials } from '../pictures/autotuning.mjs'
import { USES } from '../pictures/blackwell-attention.mjs'
import { online } from '../pictures/flash-attention-row.mjs'
import { fp4 } from '../pictures/fp4-linear.mjs'
import { nibble } from '../pictures/gptq-int4.mjs'
import { measuredOf } from '../pictures/memory-hierarchy.mjs'
import { limits } from '../pictures/mixed-precision-attention.mjs'
import { lanePlace } from '../pictures/mma-sync.mjs'
import { count } from '../pictures/histogram.mjs'
import { sees, weightsOf } from '../pictures/naive-attention.mjs'
import { begins } from '../pictures/occupancy-and-ilp.mjs'
import { slotsOf } from '../pictures/paged-attention.mjs'
import { pairOf } from '../pictures/rope-and-kv-append-pairs.mjs'
import { scans } from '../pictures/scan.mjs'
import { lanes } from '../pictures/streams-and-memory.mjs'
import { LAYER, order as orderOfStep, ROWS } from '../pictures/train-a-gpt.mjs'
import { magnitude, partings } from '../pictures/fusion-case-study.mjs'
import { order } from '../pictures/transformer-block.mjs'
import { markdownFiles } from './numbers.mjs'
import { ROOT } from './pages.mjs'
import { picture } from './picture.mjs'
import { pictureSvg } from './picture-svg.mjs'
import { pictureText } from './picture-text.mjs'
import { drawPictures, fillPictures, loadPictures } from './pictures.mjs'

const WORDS = { title: 'A test', label: 'What a reader who does not see it should know.' }
const made = (draw) => picture(WORDS, draw)
const pictures = await loadPictures()

test('cells, boxes and arrows stand in the text where they stand on the grid', () => {
  const all = made((p) => p.text(0, 0, 'row').cells(5, 0, 3, [1, 12]).box(0, 2, 7, 3, 'go')
    .arrow([[7, 3], [10, 3], [10, 5]]).box(12, 2, 8, 1, 'x'))
  assert.equal(pictureText(all), [
    'row   1 12',
    '',
    '+-----+     [  x   ]',
    '|  go |---+',
    '+-----+   |',
    '          v'
  ].join('\n'))
})

test('a number of one and one of two digits end in the same column', () => {
  for (const w of [3, 4, 5, 6]) {
    const [one, two] = pictureText(made((p) => p.cells(0, 0, w, [7]).cells(0, 1, w, [17])))
      .split('\n')
    assert.equal(one.length, two.length, `${w} columns`)
  }
})

test('what lies on each other, is crooked or too wide is refused', () => {
  assert.throws(() => pictureText(made((p) => p.text(0, 0, 'abc').text(2, 0, 'd'))),
    /"d" lies on "c", column 2, line 0/)
  assert.throws(() => made((p) => p.arrow([[0, 0], [3, 2]])), /crooked/)
  assert.throws(() => pictureText(made((p) => p.text(80, 0, '123456789'))), /88 columns/)
  assert.throws(() => made((p) => p.text(-1, 0, 'a')), /not on the grid/)
  assert.throws(() => made((p) => p.text(2, 0, 'abc', { anchor: 'end' })), /on the left/)
  assert.throws(() => made((p) => p.text(0, 0, 'a', { tone: 7 })), /no tone 7/)
  assert.throws(() => made((p) => p.text(0, 0, 'a').step('nothing')), /adds nothing/)
  assert.throws(() => picture({ title: 'x', label: 'short' }, () => {}), /label/)
})

test('the drawing has the words, the steps and a description, and no bare < or {', () => {
  const svg = pictureSvg(made((p) => p.text(0, 0, 'f<<<1, {2}>>>').step('then')
    .box(0, 1, 9, 1, 'b', { tone: 2 })))
  assert.match(svg, /aria-label="What a reader/)
  assert.match(svg, /f&#60;&#60;&#60;1, &#123;2&#125;/)
  assert.match(svg, /<g data-step="1"><rect[^>]*class="t2"/)
})

for (const [name, each] of pictures) {
  test(`${name}: its text and its drawing have the same words`, () => {
    const svg = pictureSvg(each)
    const text = pictureText(each)
    for (const { kind, text: words } of each.elements) {
      if (kind === 'text') assert.ok(text.includes(words), words)
    }
    assert.equal((svg.match(/data-step/g) ?? []).length, each.steps.length)
    assert.ok(svg.length < 40e3, `${svg.length} bytes`)
  })
}

test('every picture stands in a lesson, and its text there is the newest', () => {
  const used = new Set()
  for (const file of markdownFiles(ROOT)) {
    const text = fs.readFileSync(file, 'utf8')
    if (!text.includes('<Picture')) continue
    assert.equal(fillPictures(text, pictures), text, `${file}: npm run pictures`)
    for (const [, name] of text.matchAll(/<Picture name="([\w-]+)">/g)) used.add(name)
  }
  assert.deepEqual([...pictures.keys()].filter((name) => !used.has(name)), [])
})

test('a picture that is not there, and a text that was edited, fail the build', () => {
  assert.throws(() => fillPictures('a\n\n<Picture name="sofmax"></Picture>', pictures),
    /line 3: there is no picture "sofmax"; did you mean softmax/)
  const fresh = fillPictures('<Picture name="softmax"></Picture>', pictures)
  assert.match(drawPictures(fresh, pictures), /^<Picture data="[^"]*&#60;svg[^"]*" \/>$/)
  assert.throws(() => drawPictures(fresh.replace('read', 'red'), pictures), /npm run pictures/)
})

test('the models: sums, counts, and when copies and uses begin', () => {
  const x = [3, 0, 2, 1]
  assert.deepEqual(scans(x).inclusive, [3, 3, 5, 6])
  assert.deepEqual(scans(x).exclusive, [0, 3, 3, 5])
  assert.deepEqual(scans(x, [1, 0, 1, 0]).inclusive, [3, 3, 2, 3])
  assert.deepEqual(count([3, 0, 3, 1]), [1, 1, 0, 2])
  const { copies, uses } = schedule(2, 4)
  // A buffer is free again when its tile was used; a tile is used when it is there.
  for (let t = 2; t < 4; ++t) assert.ok(copies[t] > uses[t - 2])
  for (let t = 1; t < 4; ++t) assert.ok(uses[t] > uses[t - 1])
})

test('the models: formats of four bits, and lanes of a fragment', () => {
  assert.deepEqual([0, 1, 2, 3, 4, 5, 6, 7].map(fp4), [0, 0.5, 1, 1.5, 2, 3, 4, 6])
  assert.equal(fp4(15), -6)
  assert.equal(nibble(28), 7)
  assert.deepEqual(lanePlace(5), { row: 1, col: 2 })
  assert.deepEqual(lanePlace(31), { row: 7, col: 6 })
})

test('the order of a block: the same seven kernels, with norms in front or behind', () => {
  const names = (place) => order(place).map(({ name }) => name)
  assert.deepEqual([...names('pre')].sort(), [...names('post')].sort())
  for (const place of ['pre', 'post']) {
    const all = order(place)
    assert.equal(all.at(-1).writes, 'y')
    assert.deepEqual(all.filter(({ adds }) => adds).map(({ name, adds }) => [name, adds]),
      [['out', 'x'], ['down', 'middle = h']])
    // What down adds has been written before, once.
    assert.deepEqual(all.filter(({ writes }) => writes === 'middle = h').length, 1)
    const after = { out: 'norm1', down: 'norm2' }
    const before = { qkv: 'norm1', 'up, activation': 'norm2' }
    for (const [name, its] of Object.entries(place === 'pre' ? before : after))
      assert.equal(names(place)[names(place).indexOf(name) + (place === 'pre' ? -1 : 1)], its)
  }
})

test('the order of a step: back as forward, reversed, with arrays that the plan has', () => {
  const names = orderOfStep()
  const turn = names.indexOf('cross entropy')
  assert.equal(names.length, 2 * ROWS.length + 3)
  assert.deepEqual(names.slice(turn + 1, -1), ROWS.map(({ back }) => back).reverse())
  assert.deepEqual([LAYER[0].name, LAYER.at(-1).name], ['norm1', 'down, + middle'])
  const header = fs.readFileSync(
    new URL('../../day07-tuning/08-train-a-gpt/train_a_gpt.h', import.meta.url), 'utf8')
  for (const name of ROWS.flatMap(({ keeps }) => keeps).map((words) => words.split(' ')[0]))
    assert.match(header, new RegExp(`^ *int64_t (?:\\w+, )*${name}[,;]`, 'm'), name)
})

test('hidden states: one version parts at the first sub-layer, one in its last bits', () => {
  assert.equal(partings('unfused').length, partings('mended').length)
  assert.ok(partings('not_called').every((difference) => difference === 0))
  assert.deepEqual(partings('called').map((d) => d > 0.1).indexOf(true), 1)
  assert.ok(partings('mended').every((difference) => difference < 1e-5))
  assert.deepEqual([0, 2.5, 13, 4.8e-7].map(magnitude), ['0', '1e0', '1e1', '1e-7'])
})

test('the memory hierarchy shows what was measured, and nothing else', () => {
  const rows = [{ level: 'L2', latency_clocks: 264.2, gbps: 5510 }]
  const data = { memory_levels: { rows } }
  assert.deepEqual(measuredOf(data, { level: 'L2' }), { latency: '264 clocks', rate: '5.51 TB/s' })
  assert.deepEqual(measuredOf({}, { level: 'L2' }), { latency: '', rate: '' })
  assert.deepEqual(measuredOf(data, { name: 'registers' }), { latency: '', rate: '' })
})

test('the models: one row of attention, its mask, and what lanes and warps do', () => {
  assert.deepEqual(weightsOf(0).map((w) => w.toFixed(2)), ['0.84', '0.11', '0.04', '0.00', '0.00'])
  assert.ok(sees(2, 4) && !sees(1, 4))
  const scores = [0, 1, 2, -1]
  const [, { max, sum }] = online(scores, 2)
  const direct = scores.reduce((all, s) => all + Math.exp(s - 2), 0)
  assert.equal(max, 2)
  assert.ok(Math.abs(sum - direct) < 1e-12)
  assert.deepEqual(begins(1).slice(0, 5), [0, -1, -1, -1, 0])
  assert.ok(begins(4).every((k) => k >= 0))
  assert.deepEqual(slotsOf(2), [4, 5, '.', '.'])
  assert.deepEqual(slotsOf(5), [0, 1, 2, 3])
  assert.equal(trials(), 27)
  const chunks = lanes()
  assert.ok(chunks[3].in >= chunks[0].out)
  assert.deepEqual(limits(5, 10), {
    largest: 65504, smallest: '2^-24', next: '1 + 2^-10', unit: '2^-11', whole: 2048 })
  assert.equal(pairOf(5, 'halves'), 1)
  assert.equal(pairOf(5, 'neighbours'), 2)
  assert.equal(USES.reduce((all, [, wide]) => all + wide, 0), 512)
})
