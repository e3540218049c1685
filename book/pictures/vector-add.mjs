import { picture } from '../lib/picture.mjs'

const N = 10, BLOCK = 4, BLOCKS = 3, W = 4
const start = (block) => 14 + block * (BLOCK * W + 3)
const indices = (block) => Array.from({ length: BLOCK }, (_, t) => block * BLOCK + t)

export default picture({
  title: 'Ten elements, three blocks of four threads',
  label: 'Rows: the index of a thread in its block, the index i of its element, and the ' +
    'elements of a, b and c. Threads 10 and 11 are past the end and have no element.'
}, (p) => {
  for (let b = 0; b < BLOCKS; ++b)
    p.text(start(b) + (BLOCK * W) / 2, 0, `block ${b}`, { anchor: 'middle', strong: true })
      .cells(start(b), 1, W, [0, 1, 2, 3])
  p.text(1, 1, 'threadIdx.x', { mono: true })
  p.step('Each thread computes its index i = blockIdx.x * blockDim.x + threadIdx.x.')
    .text(1, 2, 'i', { mono: true })
  for (let b = 0; b < BLOCKS; ++b) p.cells(start(b), 2, W, indices(b), { tone: 1 })
  const row = (y, name, tone) => {
    p.text(1, y, name, { mono: true })
    for (let b = 0; b < BLOCKS; ++b)
      p.cells(start(b), y, W, indices(b).map((i) => (i < N ? `${name}${i}` : null)), { tone })
  }
  p.step('It reads one element of a and one of b ...')
  row(4, 'a', 2)
  row(5, 'b', 2)
  p.text(start(2) + 2 * W + 1, 4, 'n = 10')
  p.step('... and writes their sum to c. Threads 10 and 11 must do nothing.')
  row(6, 'c', 3)
  p.text(start(2) + 2 * W + 1, 6, 'no i < n')
})
