import { picture } from '../lib/picture.mjs'

const DIM = 4, ROWS = 5, W = 4, WIDE = 5
const NAMES = ['p', 'q', 'r', 's'], INDICES = [3, 0, 3, 1]
const filled = (text) => Array(DIM).fill(text)

/** What a row of the table gets: the sum of the gradients of all lookups of it. */
const sumOf = (row) =>
  NAMES.filter((_, i) => INDICES[i] === row).join('+') || '0'

export default picture({
  title: 'The way back: two gradients meet in row 3',
  label: 'Four rows of grad_out, p, q, r and s, with indices 3, 0, 3, 1. grad_table has q ' +
    'in row 0, s in row 1, zeros in rows 2 and 4, and p + r in row 3.'
}, (p) => {
  p.text(6, 0, 'grad_out [4, 4]', { strong: true })
    .text(47, 0, 'grad_table [5, 4]', { strong: true })
  NAMES.forEach((name, i) => {
    p.text(1, i + 1, `i=${i}`).cells(6, i + 1, W, filled(name), { tone: INDICES[i] + 1 })
      .text(25, i + 1, `index ${INDICES[i]}`)
  })
  const said = ['Row 0 was looked up once.', 'Row 1 was looked up once.',
    'No index names row 2: its gradient is zero.',
    'Row 3 was looked up twice: it gets the sum of both gradients.',
    'No index names row 4: its gradient is zero.']
  for (let row = 0; row < ROWS; ++row) {
    p.step(said[row]).text(43, row + 1, row)
      .cells(47, row + 1, WIDE, filled(sumOf(row)), { tone: sumOf(row) === '0' ? 0 : row + 1 })
    INDICES.forEach((index, i) => {
      if (index === row) p.link([33.5, i + 1.5], [42, row + 1.5], { tone: row + 1 })
    })
  }
})
