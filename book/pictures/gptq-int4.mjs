import { picture } from '../lib/picture.mjs'

/** The element of a word of eight, whose lowest bit is `bit`: 4 bits each. */
export const nibble = (bit) => bit / 4

const BITS = [28, 24, 20, 16, 12, 8, 4, 0], W = 8, LEFT = 12

export default picture({
  title: 'Eight numbers of 4 bits in a word',
  label: 'Two words of 32 bits. qweight[r, n] holds rows 8r to 8r + 7 of column n, the ' +
    'lowest row in the lowest bits. qzeros[g, c] holds columns 8c to 8c + 7 of group g, ' +
    'the lowest column in the lowest bits.'
}, (p) => {
  const word = (y, letter, tone) => BITS.forEach((bit, i) =>
    p.cells(LEFT + i * W, y, W, [`${letter} + ${nibble(bit)}`], { tone, bars: true })
      .text(LEFT + i * W + 5, y - 1, `${bit + 3}..${bit}`, { anchor: 'middle', muted: true }))
  p.step('A word of qweight: eight rows of one column.')
    .text(1, 0, 'qweight [K / 8, N]: word [r, n]', { strong: true }).text(1, 1, 'bits')
    .text(1, 2, 'row of W')
  word(2, '8r', 1)
  p.step('A word of qzeros: eight columns of one group.')
    .text(1, 4, 'qzeros [groups, N / 8]: word [g, c]', { strong: true }).text(1, 5, 'bits')
    .text(1, 6, 'column')
  word(6, '8c', 2)
})
