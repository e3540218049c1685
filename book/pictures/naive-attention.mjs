import { picture } from '../lib/picture.mjs'

const SCORES = [[3, 1, 0, 0, 0], [1, 1, 1, 1, 0], [0, 2, 0, 0, 1]]
const QUERIES = 3, KEYS = 5, W = 4

/** Query i sees the keys up to its own place; the last query sees the last key. */
export const sees = (i, j) => j <= i + KEYS - QUERIES

/** Softmax of the visible scores of a row. */
export function weightsOf(i) {
  const powers = SCORES[i].map((s, j) => (sees(i, j) ? Math.exp(s) : 0))
  const sum = powers.reduce((a, b) => a + b, 0)
  return powers.map((power) => power / sum)
}
const short = (w) => (w === 0 ? '0' : w.toFixed(2).replace(/^0/, ''))

export default picture({
  title: 'Three kernels, two matrices in memory between them',
  label: 'Three queries times five keys are a matrix of scores, 3 by 5; the upper right ' +
    'corner is masked. Its rows become weights that sum to one. Weights times values are ' +
    'the three rows of the output.'
}, (p) => {
  const rows = [0, 1, 2]
  p.text(1, 0, 'q [3, D]', { strong: true }).text(16, 0, 'k [5, D]', { strong: true })
    .text(31, 0, 'scores [3, 5]', { strong: true })
    .text(61, 0, 'weights [3, 5]', { strong: true })
  for (const i of rows) p.box(1, 1 + i, 9, 1, `q${i}`, { tone: 1 })
  for (let j = 0; j < KEYS; ++j) p.box(16, 1 + j, 9, 1, `k${j}`, { tone: 2 })
  p.step('Kernel 1: a score is the product of a query and a key. Dots: the causal mask.')
    .text(12, 2, 'x').arrow([[26, 2], [29, 2]])
    .grid(31, 1, W, rows.map((i) => SCORES[i].map((s, j) => (sees(i, j) ? s : '.'))),
      { tones: rows.map((i) => SCORES[i].map((_, j) => (sees(i, j) ? 3 : 0))) })
  p.step('Kernel 2: a softmax of each row. What is masked gets the weight 0.')
    .arrow([[52, 2], [58, 2]])
    .grid(61, 1, 5, rows.map((i) => weightsOf(i).map(short)),
      { tones: rows.map((i) => weightsOf(i).map((w) => (w > 0.5 ? 5 : w > 0 ? 6 : 0))) })
  p.step('Kernel 3: weights times values. A row of o is a mean of the rows of v.')
    .text(16, 7, 'v [5, D]', { strong: true }).text(31, 7, 'o [3, D]', { strong: true })
    .arrow([[73, 4], [73, 6], [12, 6], [12, 10], [14, 10]])
  for (let j = 0; j < KEYS; ++j) p.box(16, 8 + j, 9, 1, `v${j}`, { tone: 2 })
  const sum = (i) => weightsOf(i).flatMap((w, j) => (w > 0 ? [`${short(w)} v${j}`] : []))
    .join(' + ')
  for (const i of rows) p.box(31, 8 + i, 7, 1, `o${i}`, { tone: 4 })
    .text(39, 8 + i, `= ${sum(i)}`)
})
