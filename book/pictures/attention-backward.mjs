import { picture } from '../lib/picture.mjs'

const S = 4, LEFT = 14

/** Whether query i sees key j, with as many queries as keys. */
export const isSeen = (i, j) => j <= i

export default picture({
  title: 'A column of the weights for dk and dv, a row for dq',
  label: 'Four queries by four keys, causal: query i sees the keys 0 to i. A block that owns ' +
    'key 1 goes down its column, over the queries 1 to 3, and sums dk and dv in registers. ' +
    'What it finds for each query belongs to another row of dq, and is added there by atomics; ' +
    'or a second kernel owns query 2 and goes along its row.'
}, (p) => {
  p.text(1, 0, 'P and S: never stored, computed once more', { strong: true })
  for (let j = 0; j < S; ++j) p.text(LEFT + 6 * j + 1, 1, `k${j}`, { muted: true })
  for (let i = 0; i < S; ++i) {
    p.text(5, 2 + i, `q${i}, do${i}`, { muted: true })
    for (let j = 0; j < S; ++j)
      p.cells(LEFT + j * 6, 2 + i, 5, [isSeen(i, j) ? `${i},${j}` : '-'],
        { tone: !isSeen(i, j) ? 0 : j === 1 ? 2 : i === 2 ? 1 : 0 })
  }
  p.step('A block owns keys: down the column, dk and dv stay in registers.')
    .arrow([[22, 6], [22, 8]]).box(14, 9, 18, 1, 'dk1, dv1: one sum', { tone: 2 })
  p.step('dq is a sum along the row: other blocks have its other parts.')
    .arrow([[38, 4], [43, 4]]).box(45, 4, 14, 1, 'dq2: atomics', { tone: 1 })
    .text(45, 5, 'or a kernel of its own', { muted: true })
})
