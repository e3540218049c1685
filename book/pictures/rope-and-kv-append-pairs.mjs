import { picture } from '../lib/picture.mjs'

const D = 10, R = 8, W = 5, LEFT = 16

/** The pair of an element, or -1 past the R that are rotated. */
export const pairOf = (i, layout) =>
  i >= R ? -1 : layout === 'halves' ? i % (R / 2) : Math.floor(i / 2)

export default picture({
  title: 'Two ways to pair the numbers of a head',
  label: 'A head of ten numbers, eight of which are rotated in pairs. halves: 0 with 4, 1 with ' +
    '5, 2 with 6, 3 with 7. neighbours: 0 with 1, 2 with 3, and so on. 8 and 9 stay.'
}, (p) => {
  const all = Array.from({ length: D }, (_, i) => i)
  ;[['halves', 'R = 8: 0 with 4, 1 with 5'], ['neighbours',
    'R = 8: 0 with 1, 2 with 3']].forEach(
    ([layout, said], row) => {
      p.text(1, 2 * row, layout)
      all.forEach((i) => {
        const pair = pairOf(i, layout)
        p.cells(LEFT + i * W, 2 * row, W, [i], { tone: pair < 0 ? 0 : pair + 1 })
      })
      p.text(LEFT, 2 * row + 1, `${said}, and so on; 8 and 9 stay`, { muted: true })
    })
})
