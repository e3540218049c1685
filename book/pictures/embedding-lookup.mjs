import { picture } from '../lib/picture.mjs'

const DIM = 4, W = 3
const NAMES = ['a', 'b', 'c', 'd', 'e'], INDICES = [3, 0, 3, 1]
const filled = (name) => Array(DIM).fill(name)

export default picture({
  title: 'Rows are looked up; row 3 is wanted twice',
  label: 'A table of five rows, four indices 3, 0, 3, 1, and an output of four rows d, a, ' +
    'd, b: each is the row of the table that its index names.'
}, (p) => {
  p.text(4, 0, 'table [5, 4]', { strong: true })
    .text(28, 0, 'indices [4]', { strong: true }).text(46, 0, 'out [4, 4]', { strong: true })
  NAMES.forEach((name, row) => {
    p.text(1, row + 1, row).cells(4, row + 1, W, filled(name), { tone: row + 1 })
  })
  p.cells(31, 1, W, INDICES.slice(0, 1)).cells(31, 2, W, INDICES.slice(1, 2))
    .cells(31, 3, W, INDICES.slice(2, 3)).cells(31, 4, W, INDICES.slice(3))
  INDICES.forEach((row, i) => {
    p.step(`Entry ${i} of the indices is ${row}: row ${i} of the output is row ${row} of ` +
      'the table.')
      .arrow([[36, i + 1], [44, i + 1]])
      .cells(46, i + 1, W, filled(NAMES[row]), { tone: row + 1 })
  })
})
