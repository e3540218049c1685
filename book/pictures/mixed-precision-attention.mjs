import { picture } from '../lib/picture.mjs'

const FORMATS = [['fp32', 8, 23], ['bf16', 8, 7], ['fp16', 5, 10]]

/** What follows from the bits of a format. */
export function limits(exponent, fraction) {
  const bias = 2 ** (exponent - 1) - 1
  return {
    largest: (2 - 2 ** -fraction) * 2 ** bias,
    smallest: `2^${1 - bias - fraction}`,
    next: `1 + 2^-${fraction}`,
    unit: `2^-${fraction + 1}`,
    whole: 2 ** (fraction + 1)
  }
}
const short = (n) => (n < 1e6 ? String(n) : n.toExponential(1).replace('e+', ' * 10^'))

export default picture({
  title: 'Three ways to spend bits',
  label: 'fp32 has 8 exponent and 23 fraction bits, bf16 8 and 7, fp16 5 and 10. Below, what ' +
    'follows: the largest number, the smallest above 0, the step after 1, the error of ' +
    'rounding u, and up to where all whole numbers are there.'
}, (p) => {
  FORMATS.forEach(([name, e, f], i) =>
    p.text(1, i, name, { strong: true }).cells(8, i, 2, ['S'], { tone: 4 })
      .cells(10, i, 2, Array(e).fill('E'), { tone: 2 })
      .cells(10 + 2 * e, i, 2, Array(f).fill('F'), { tone: 1 }))
  p.step('What follows from the bits.')
  const x = (i) => 26 + i * 20
  const ROWS = [['largest', (l) => short(l.largest)], ['smallest above 0', (l) => l.smallest],
    ['after 1 comes', (l) => l.next], ['u, half that step', (l) => l.unit],
    ['whole numbers up to', (l) => String(l.whole)]]
  FORMATS.forEach(([name, e, f], i) => {
    p.text(x(i), 4, name, { strong: true })
    ROWS.forEach(([, say], r) => p.text(x(i), 5 + r, say(limits(e, f))))
  })
  ROWS.forEach(([name], r) => p.text(1, 5 + r, name))
})
