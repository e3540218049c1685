import { picture } from '../lib/picture.mjs'

const ROWS = 4, COLS = 6, W = 3
const input = Array.from({ length: ROWS }, (_, r) =>
  Array.from({ length: COLS }, (_, c) => r * COLS + c))
const output = Array.from({ length: COLS }, (_, c) => input.map((row) => row[c]))
/** Row 0 of the input is followed through the picture. */
const tones = (rows) => rows.map((row) => row.map((v) => (v < COLS ? 1 : 0)))

export default picture({
  title: 'A row of one is a column of the other',
  label: 'A matrix of 4 rows and 6 columns and its transpose, and both in the order of ' +
    'their addresses. The six neighbours of row 0 lie four places apart in the result.'
}, (p) => {
  p.text(1, 0, 'in [4, 6]', { strong: true }).grid(1, 1, W, input, { tones: tones(input) })
    .text(34, 0, 'out [6, 4]', { strong: true })
  p.step('Row 0 becomes column 0: what were neighbours are a whole row apart.')
    .grid(34, 1, W, output, { tones: tones(output) })
    .arrow([[21, 2], [31, 2]], { tone: 1 })
  p.step('In memory: six reads of neighbours, six writes that are 4 elements apart.')
    .text(1, 8, 'in').cells(5, 8, W, input.flat(), { tones: tones([input.flat()])[0] })
    .text(1, 10, 'out').cells(5, 10, W, output.flat(), { tones: tones([output.flat()])[0] })
})
