import { picture } from '../lib/picture.mjs'

const BLOCKS = [[3, 0, 3, 1], [1, 3, 3, 3], [2, 3, 0, 3]], BINS = 4, W = 4
const left = (b) => 18 + b * 22

/** How often each bin occurs. */
export const count = (values) =>
  Array.from({ length: BINS }, (_, bin) => values.filter((v) => v === bin).length)

export default picture({
  title: 'Each block counts near by, and few additions go far',
  label: 'Twelve values in three blocks of four. Each block has its own four bins; their ' +
    'counts 1 1 0 2, 0 1 0 3 and 1 0 1 2 are added in global memory: 2 2 1 7.'
}, (p) => {
  p.text(1, 1, 'values')
  BLOCKS.forEach((values, b) =>
    p.text(left(b) + 8, 0, `block ${b}`, { anchor: 'middle', strong: true })
      .cells(left(b), 1, W, values, { tones: values.map((v) => v + 1) }))
  p.step('Each block counts its values in bins of its own, in shared memory.')
    .text(1, 3, 'bins').text(1, 4, 'own counts')
  BLOCKS.forEach((values, b) => {
    for (let bin = 0; bin < BINS; ++bin)
      p.text(left(b) + bin * W + 2, 3, bin, { anchor: 'middle', muted: true })
    p.cells(left(b), 4, W, count(values), { tones: [1, 2, 3, 4] })
  })
  p.step('Then it adds each bin to global memory once, with an atomic addition.')
    .text(1, 7, 'global memory')
    .cells(left(1), 7, W, count(BLOCKS.flat()), { tones: [1, 2, 3, 4] })
  BLOCKS.forEach((_, b) => {
    for (let bin = 0; bin < BINS; ++bin)
      p.link([left(b) + bin * W + 2, 5], [left(1) + bin * W + 2, 7], { tone: bin + 1 })
  })
})
