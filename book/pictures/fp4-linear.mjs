import { picture } from '../lib/picture.mjs'

/** The value of a code of four bits, e2m1: sign, two bits of exponent, one of fraction. */
export function fp4(code) {
  const [exponent, mantissa] = [(code >> 1) & 3, code & 1]
  const size = exponent === 0 ? mantissa / 2 : (1 + mantissa / 2) * 2 ** (exponent - 1)
  return code & 8 ? -size : size
}

const W = 7

export default picture({
  title: 'Two weights in a byte, eight sizes',
  label: 'Byte j of a row of W: the upper four bits are weight 2j + 1, the lower four weight ' +
    '2j; each has a sign, two exponent bits and a fraction bit. Codes 0 to 7 are 0, 0.5, 1, ' +
    '1.5, 2, 3, 4, 6; codes 8 to 15 the same with a minus.'
}, (p) => {
  p.text(1, 0, 'byte j of a row of W', { strong: true }).text(1, 1, 'bit').text(1, 2, 'of')
  const names = ['s', 'e', 'e', 'm']
  for (let i = 0; i < 8; ++i)
    p.text(10 + i * W + 3, 1, 7 - i, { anchor: 'middle', muted: true })
      .cells(10 + i * W, 2, W, [names[i % 4]], { tone: i < 4 ? 2 : 1 })
  p.text(10 + 2 * W, 3, 'weight 2j + 1', { anchor: 'middle', tone: 2 })
    .text(10 + 6 * W, 3, 'weight 2j', { anchor: 'middle', tone: 1 })
  const codes = [0, 1, 2, 3, 4, 5, 6, 7]
  p.step('A code is small: 8 sizes and a sign. Codes 8 to 15 are the same with a minus.')
    .text(1, 5, 'code').cells(10, 5, W, codes)
    .text(1, 6, 'e e m').cells(10, 6, W, codes.map((c) =>
      c.toString(2).padStart(3, '0').replace(/(..)(.)/, '$1 $2')), { mono: true })
    .text(1, 7, 'value').cells(10, 7, W, codes.map(fp4), { tone: 3 })
    .text(68, 7, '8 to 15: minus', { muted: true })
})
