import { picture } from '../lib/picture.mjs'

const FIRST = 16, COUNT = 8, RADIUS = 1, W = 4, LEFT = 12
const x = (i) => LEFT + (i - FIRST + 2) * W
const range = (from, to) => Array.from({ length: to - from }, (_, i) => from + i)

export default picture({
  title: 'A block needs more than it has results for',
  label: 'A line of elements 14 to 25. A block with results for 16 to 23 copies 15 to 24 ' +
    'into shared memory: its own eight and one on each side, the halo. The result for 16 ' +
    'is the weighted sum of 15, 16 and 17.'
}, (p) => {
  p.text(1, 0, 'in').cells(x(14), 0, W, range(14, 26))
  p.step('The block has results for 16 to 23: eight threads, eight elements.')
    .text(1, 5, 'out').cells(x(FIRST), 5, W, range(FIRST, FIRST + COUNT), { tone: 3 })
    .text(x(26) + 2, 5, '8 results')
  p.step('They need the same elements of the input ...')
    .text(1, 2, 's_line', { mono: true })
    .cells(x(FIRST), 2, W, range(FIRST, FIRST + COUNT), { tone: 1 })
    .text(x(26) + 2, 2, '8 + 2 * radius')
  p.step('... and one more on each side: the halo.')
    .cells(x(15), 2, W, range(15, 16), { tone: 2 })
    .cells(x(24), 2, W, range(24, 25), { tone: 2 })
    .text(x(15) - 1, 2, 'halo', { anchor: 'end', tone: 2 })
    .text(x(25) + 1, 2, 'halo', { tone: 2 })
  p.step('The first result is w0 * [15] + w1 * [16] + w2 * [17].')
  for (const i of range(FIRST - RADIUS, FIRST + RADIUS + 1))
    p.link([x(i) + 2, 3], [x(FIRST) + 2, 5])
  p.text(x(FIRST), 6, 'w0 * [15] + w1 * [16] + w2 * [17]', { mono: true })
})
