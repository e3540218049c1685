import { picture } from '../lib/picture.mjs'

const W = 6
const rows = (n, m, at, text) => Array.from({ length: n }, (_, r) =>
  Array.from({ length: m }, (_, c) => (at.some(([y, x]) => y === r && x === c) ? text : '')))

export default picture({
  title: 'One warp has one tile of C, and takes all of K',
  label: 'B with two rows of tiles above C, A with two columns of tiles to the left of C. A ' +
    'warp multiplies tile a of A, 16 columns at a time, with tile b of B, 16 rows at a ' +
    'time, and adds to its tile c.'
}, (p) => {
  p.text(34, 0, 'B [K, N]', { strong: true }).grid(28, 1, W, rows(2, 4, []), { bars: true })
    .text(1, 4, 'A [M, K]', { strong: true }).grid(1, 5, W, rows(3, 2, []), { bars: true })
    .text(28, 4, 'C [M, N]', { strong: true }).grid(28, 5, W, rows(3, 4, []), { bars: true })
  p.step('The tile of a warp: 16 x 16 sums.')
    .cells(28 + 2 * W, 6, W, ['c'], { tone: 3, bars: true })
    .text(55, 6, 'one warp has this tile')
  p.step('k = 0: the first tile of a row of A, the first one of a column of B.')
    .cells(1, 6, W, ['a'], { tone: 1, bars: true })
    .cells(28 + 2 * W, 1, W, ['b'], { tone: 2, bars: true })
    .text(55, 1, '16 rows (k) at a time')
    .text(55, 7, 'c = c + a * b, for all k', { mono: true })
  p.step('k = 16: the next ones. c stays in the registers of the warp.')
    .cells(1 + W, 6, W, ["a'"], { tone: 1, bars: true })
    .cells(28 + 2 * W, 2, W, ["b'"], { tone: 2, bars: true })
})
