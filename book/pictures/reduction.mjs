import { picture } from '../lib/picture.mjs'

const N = 8, W = 4

/** Who adds whom: v1 every second one, v3 the upper half into the lower one. */
const interleaved = (step) => ({
  count: N >> (step + 1), own: (k) => k << (step + 1), other: (k) => (k << (step + 1)) + (1 << step)
})
const halves = (step) => ({
  count: N >> (step + 1), own: (k) => k, other: (k) => k + (N >> (step + 1))
})

export default picture({
  title: 'The same seven additions by other threads',
  label: 'Two trees of eight values in three steps. In v1 threads 0, 2, 4, 6 add their ' +
    'neighbour, then 0 and 4, then 0. In v3 threads 0 to 3 add the upper half, then 0 and ' +
    '1, then 0: the working threads stay side by side.'
}, (p) => {
  const all = Array.from({ length: N }, (_, i) => i)
  const trees = [[2, 'v1: every second thread', interleaved, 2],
    [44, 'v3: the upper half into the lower', halves, 3]]
  for (const [left, name] of trees)
    p.text(left, 0, name, { strong: true }).cells(left, 1, W, all)
  for (let step = 0; step < 3; ++step) {
    const apart = [1 << step, N >> (step + 1)]
    p.step(`Step ${step + 1}: v1 adds the value that lies ${apart[0]} further, v3 the one ` +
      `that lies ${apart[1]} further.`)
    trees.forEach(([left, , tree, tone], t) => {
      const { count, own, other } = tree(step)
      const y = 3 + 2 * step
      for (let k = 0; k < count; ++k) {
        const [mine, its] = [own(k), other(k)].map((i) => left + (i + 0.5) * W)
        p.link([mine, y - 1], [mine, y]).link([its, y - 1], [mine, y], { tone })
          .cells(left + own(k) * W, y, W, [own(k)], { tone })
      }
      p.text(left + N * W + 1, y, `+ ${apart[t]}`, { muted: true })
    })
  }
})
