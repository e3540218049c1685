import { picture } from '../lib/picture.mjs'

const IMAGES = 2, C = 3, H = 2, WIDTH = 4, W = 3
const plane = (k) => 5 + k * (WIDTH * W + 1) + (k >= C ? 2 : 0)

export default picture({
  title: '[2, 3, 2, 4]: 48 elements, six planes',
  label: 'Six planes of two rows and four columns with the address of each element. Each ' +
    'channel c has a bias of its own, the same in both images.'
}, (p) => {
  for (let n = 0; n < IMAGES; ++n)
    p.text((plane(n * C) + plane(n * C + 2) + WIDTH * W) / 2, 0, `image n = ${n}`,
      { anchor: 'middle', strong: true })
  for (let k = 0; k < IMAGES * C; ++k) {
    p.text(plane(k) + (WIDTH * W) / 2, 1, `c = ${k % C}`, { anchor: 'middle' })
    const rows = Array.from({ length: H }, (_, h) =>
      Array.from({ length: WIDTH }, (_, w) => (k * H + h) * WIDTH + w))
    p.grid(plane(k), 2, W, rows, { tones: rows.map((row) => row.map(() => 1 + (k % C))) })
  }
  p.text(0, 2, 'h=0').text(0, 3, 'h=1')
  p.step('Each channel has one bias. The same one serves both images.')
  for (let k = 0; k < IMAGES * C; ++k)
    p.text(plane(k) + (WIDTH * W) / 2, 4, `+bias[${k % C}]`, { anchor: 'middle', mono: true })
})
