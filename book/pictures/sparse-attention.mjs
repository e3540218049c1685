import {
  hierarchicalPattern, localPattern, randomPattern, rowOf, stridedPattern, windowWithSinks
} from '../figures/sparse-masks/model.js'
import { picture } from '../lib/picture.mjs'

const N = 16, BLOCK = 4, SEED = 6

/** Full blocks of 4 x 4, and the diagonal ones of which half is seen: row, column. */
const FULL = [[0, 0], [1, 1], [1, 3], [2, 0], [3, 2]], PARTIAL = [2, 3]
const inBlocks = (i, j) => {
  const [row, col] = [Math.floor(i / BLOCK), Math.floor(j / BLOCK)]
  if (FULL.some(([r, c]) => r === row && c === col)) return true
  return row === col && PARTIAL.includes(row) && j <= i
}

const of = (pattern) => {
  const rows = Array.from({ length: N }, (_, i) => new Set(rowOf(pattern, i)))
  return (i, j) => rows[i].has(j)
}
const MASKS = [
  ['local', of(localPattern(N, N, 3, 2)), 'Local: a few keys on both sides.'],
  ['window 5 with 2 sinks', of(windowWithSinks(N, N, 5, 2)),
    'The last five keys, and the first two, the sinks.'],
  ['strided 4', of(stridedPattern(N, N, 4)), 'The last four keys, and every fourth before.'],
  ['random 4', of(randomPattern(N, N, 4, SEED)), 'Four keys by chance.'],
  ['hierarchical 2', of(hierarchicalPattern(N, N, 2)),
    'Near keys all, farther ones at every second, fourth, eighth place.'],
  ['blocks of 4 x 4', inBlocks, 'Whole blocks: five full ones, two partial ones.']
]

export default picture({
  title: 'Which query sees which key?',
  label: 'Six squares of 16 queries (rows) and 16 keys (columns): a band; a band and the ' +
    'first two columns; a band and every fourth column; scattered places; a band that ' +
    'thins out with distance; blocks of four by four.',
  lineHeight: 9
}, (p) => {
  MASKS.forEach(([name, sees, said], m) => {
    const [left, top] = [1 + (m % 3) * 26, 2 + Math.floor(m / 3) * 21]
    p.step(said).text(left, top - 2, name)
    for (let i = 0; i < N; ++i) {
      const row = Array.from({ length: N }, (_, j) => sees(i, j))
      p.cells(left, top + i, 1, row.map(() => ''), {
        tones: row.map((seen) => (seen ? 1 + m % 6 : 0)),
        ascii: row.map((seen) => (seen ? 'x' : '.'))
      })
    }
  })
})
