import { picture } from '../lib/picture.mjs'

const HEADS = 8, GROUP = 4, W = 8, LEFT = 20

export default picture({
  title: 'Four query heads share a key/value head',
  label: 'Eight query heads h0 to h7 above, two key/value heads g0 and g1 below. Heads 0 to ' +
    '3 use g0, heads 4 to 7 use g1: h / 4.'
}, (p) => {
  p.text(1, 0, 'query heads').text(1, 3, 'key/value heads')
  for (let h = 0; h < HEADS; ++h) {
    const g = Math.floor(h / GROUP)
    p.cells(LEFT + h * W, 0, W, [`h${h}`], { tone: g + 1 })
      .link([LEFT + (h + 0.5) * W, 1], [LEFT + (g + 0.5) * GROUP * W, 3], { tone: g + 1 })
  }
  for (let g = 0; g < HEADS / GROUP; ++g)
    p.box(LEFT + g * GROUP * W + 8, 3, 16, 1, `g${g}`, { tone: g + 1 })
})
