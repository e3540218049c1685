import { picture } from '../lib/picture.mjs'

/** Columns of tensor memory: 512 of 32 bits for each of 128 lanes. */
export const USES = [['scores, tile j', 128, 1], ['scores, j + 1', 128, 1],
  ['o', 128, 3], ['P', 64, 4], ['free', 64, 0]]
const LEFT = 18, SCALE = 8

export default picture({
  title: 'Tensor memory: four warps, 32 lanes each, 512 columns',
  label: 'A table of 128 lanes and 512 columns. Columns 0 to 127 and 128 to 255 hold the ' +
    'scores of two tiles, 256 to 383 the output, 384 to 447 the weights in 16 bits. Each ' +
    'of four warps reads and writes its own 32 lanes.'
}, (p) => {
  p.text(1, 0, 'columns')
  let column = 0
  for (const [name, wide, tone] of USES) {
    const x = LEFT + column / SCALE
    p.text(x, 0, column, { muted: true })
    for (let warp = 0; warp < 4; ++warp)
      p.box(x, 1 + warp, wide / SCALE, 1, warp === 1 ? name : '', { tone })
    column += wide
  }
  for (let warp = 0; warp < 4; ++warp)
    p.text(1, 1 + warp, `warp ${warp}`)
      .text(9, 1 + warp, `${32 * warp}-${32 * warp + 31}`, { muted: true })
  p.text(9, 5, 'lanes', { muted: true })
    .text(LEFT, 5, 'o: up to 128 floats a row; P: the weights, 128 in bf16', { muted: true })
})
