import { picture } from '../lib/picture.mjs'

/** Row and column of a lane's first element in a quarter of 8 x 8 of A, or of C. */
export const lanePlace = (lane) => ({ row: lane >> 2, col: 2 * (lane % 4) })

const W = 8
const SHOWN = [0, 1, 7]

export default picture({
  title: 'Which lane holds what in one mma.sync',
  label: 'A has 16 rows and 16 columns in four registers of 8 x 8, C 16 rows and 8 columns. ' +
    'Each row of a quarter lies with four lanes, two elements each. B has 16 rows and 8 ' +
    'columns: each column of a half lies with four lanes, two rows each.'
}, (p) => {
  const quarter = (x, y, name, tone) => {
    for (const [i, row] of SHOWN.entries()) {
      const lanes = [0, 1, 2, 3].map((q) => {
        const lane = 4 * row + q
        if (lanePlace(lane).row !== row) throw new Error(`lane ${lane}`)
        return `${name}:${lane}`
      })
      p.cells(x, y + i, W, lanes, { tone })
    }
  }
  const B = [12, 2], A = [12, 9], C = [54, 2]
  p.text(B[0], 0, 'B: 16 rows (k), 8 columns (n)', { strong: true })
  for (const [half, name] of ['b0', 'b1'].entries())
    [0, 1].forEach((pair) => {
      const columns = [0, 1, 2, 7].map((n) => `${name}:${4 * n + pair}`)
      p.cells(B[0], B[1] + 2 * half + pair, W, columns, { tone: half + 1 })
        .text(B[0] - 1, B[1] + 2 * half + pair,
          `k ${8 * half + 2 * pair}, ${8 * half + 2 * pair + 1}`,
          { anchor: 'end', muted: true })
    })
  p.text(A[0], 7, 'A: 16 rows (m), 16 columns (k)', { strong: true })
  const above = (x, y, names) => names.forEach((name, i) =>
    p.text(x + i * W + W / 2, y, name, { anchor: 'middle', muted: true }))
  const pairs = [0, 1, 2, 3].map((q) => `${2 * q}, ${2 * q + 1}`)
  above(B[0], 1, ['n 0', '1', '2', '7'])
  p.step('A: four registers, a quarter of 8 x 8 each. Lane l has row l / 4 of it.')
  above(A[0], 8, pairs)
  above(A[0] + 4 * W + 1, 8, [4, 5, 6, 7].map((q) => `${2 * q}, ${2 * q + 1}`))
  quarter(A[0], A[1], 'a0', 1)
  quarter(A[0] + 4 * W + 1, A[1], 'a2', 3)
  quarter(A[0], A[1] + 4, 'a1', 2)
  quarter(A[0] + 4 * W + 1, A[1] + 4, 'a3', 4)
  SHOWN.forEach((row, i) => {
    p.text(A[0] - 1, A[1] + i, `m ${row}`, { anchor: 'end', muted: true })
      .text(A[0] - 1, A[1] + 4 + i, `m ${row + 8}`, { anchor: 'end', muted: true })
  })
  p.step('C: floats, two registers for each half of the rows. The lanes lie as in A.')
    .text(C[0], 0, 'C: 16 rows (m), 8 columns (n)', { strong: true })
  above(C[0], 1, pairs)
  SHOWN.forEach((row, i) => {
    const name = (pair) => [0, 1, 2, 3].map((q) => `${pair}:${4 * row + q}`)
    if (i < 2) p.cells(C[0], C[1] + i, W, name('c01'), { tone: 5 })
    if (i < 2) p.cells(C[0], C[1] + 3 + i, W, name('c23'), { tone: 6 })
  })
})
