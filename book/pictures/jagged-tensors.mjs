import { picture } from '../lib/picture.mjs'

const LENGTHS = [3, 0, 2, 1], NAMES = ['a', 'b', 'c', 'd'], MAX = 4, W = 4, LEFT = 12
const offsets = LENGTHS.reduce((all, n) => [...all, all.at(-1) + n], [0])
const entries = LENGTHS.map((n, r) => Array.from({ length: n }, (_, i) => `${NAMES[r]}${i}`))
const total = offsets.at(-1)
const x = (entry) => LEFT + entry * W

export default picture({
  title: 'Four rows of 3, 0, 2 and 1 entries, without gaps',
  label: 'The values of all rows one behind the other: a0 a1 a2 c0 c1 d0. The offsets are ' +
    '0, 3, 3, 5, 6: a row begins at its offset and ends before the next one. Row 1 is ' +
    'empty. Below, the same rows as a dense table of four places each.'
}, (p) => {
  p.text(1, 0, 'values')
  entries.forEach((own, r) => p.cells(x(offsets[r]), 0, W, own, { tone: r + 1 }))
  p.text(LEFT + total * W + 10, 0, `[total, dim], total = ${total}`)
    .text(1, 1, 'entry')
  for (let e = 0; e < total; ++e) p.text(x(e) + 2, 1, e, { anchor: 'middle', muted: true })
  p.step('The offsets are the running sum of the lengths. There is one more than rows.')
    .text(1, 3, 'lengths').cells(LEFT, 3, W, LENGTHS, { tones: [1, 2, 3, 4] })
    .text(1, 4, 'offsets').cells(LEFT, 4, W, offsets, { tones: [1, 2, 3, 4, 0] })
    .text(LEFT + 5 * W + 2, 4, 'row r: from offsets[r] up to, without, offsets[r + 1]')
  p.step('offsets[1] = offsets[2] = 3: row 1 is empty.')
    .text(LEFT + 5 * W + 2, 3, 'offsets[1] = offsets[2]: row 1 is empty')
  p.step('As a dense table the rows are as long as the longest may be: 10 of 16 are zeros.')
    .text(1, 6, 'dense')
  entries.forEach((own, r) => {
    const row = [...own, ...Array(MAX - own.length).fill('0')]
    p.cells(LEFT, 6 + r, W, row, { tones: row.map((v) => (v === '0' ? 0 : r + 1)) })
  })
  p.text(LEFT + 5 * W + 2, 6, `[num_rows, max_length, dim], max_length = ${MAX}`)
})
