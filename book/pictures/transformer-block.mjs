import { picture } from '../lib/picture.mjs'

const layer = (name, writes, adds) => ({ name, writes, adds, tone: 2 })
const norm = (name, writes) => ({ name, writes, tone: 1 })
const attention = { name: 'attention', writes: 'attended', tone: 3 }

/**
 * A block's kernels in their order: what each writes, and what it adds to its sum, the
 * array's name.
 * @param {'pre' | 'post'} place  of the norms
 */
export function order(place) {
  const out = layer('out', place === 'pre' ? 'middle = h' : 'a sum', 'x')
  const down = layer('down', place === 'pre' ? 'y' : 'a sum', 'middle = h')
  const inside = [layer('qkv', 'qkv [3 d]'), attention, out]
  const feed = [layer('up, activation', 'hidden [d_ff]'), down]
  return place === 'pre'
    ? [norm('norm1', 'normed'), ...inside, norm('norm2', 'normed'), ...feed]
    : [...inside, norm('norm1', 'middle = h'), ...feed, norm('norm2', 'y')]
}

const WIDE = 16, SAYS = {
  norm1: 'The first norm: in front of attention, or behind its residual.',
  qkv: 'One product for Q, K and V.',
  attention: 'Attention: K and V go to the pages, and all keys come from there.',
  out: 'The product behind attention. What the sub-layer began with is added.',
  norm2: 'The second norm, likewise.',
  'up, activation': 'The product that widens a token, and its activation.',
  down: 'And the one that narrows it. h is added.'
}

export default picture({
  title: 'The order of a block, with its norms in front or behind',
  label: 'Two columns of seven kernels each. Pre: norm1, qkv, attention, out, norm2, up, ' +
    'down; x is added by out, and h, which out writes, by down. Post: qkv, attention, out, ' +
    'norm1, up, down, norm2; x is added by out, and h, which norm1 writes, by down. ' +
    'Attention reads and writes the pages of the cache.'
}, (p) => {
  const columns = { pre: 2, post: 46 }
  for (const [place, left] of Object.entries(columns))
    p.text(left, 0, place, { strong: true }).box(left, 1, WIDE, 1, 'x', { tone: 6 })
  const lines = (place) => order(place).map((kernel, i) => ({ ...kernel, y: 3 + 2 * i }))
  for (const name of ['qkv', 'attention', 'out', 'norm1', 'norm2', 'up, activation', 'down']) {
    p.step(SAYS[name])
    for (const [place, left] of Object.entries(columns)) {
      const all = lines(place)
      const { y, tone, writes, adds } = all.find((kernel) => kernel.name === name)
      const middle = left + WIDE / 2
      p.box(left, y, WIDE, 1, name, { tone }).link([middle, y - 1], [middle, y])
      if (writes !== 'y') p.text(middle + 2, y + 1, writes, { muted: true })
      if (name === 'attention')
        p.link([left + WIDE, y + 0.5], [left + WIDE + 3, y + 0.5])
          .box(left + WIDE + 3, y, 9, 1, 'pages', { tone: 4 })
      if (!adds) continue
      const from = adds === 'x' ? 1 : all.find((kernel) => kernel.writes === adds).y + 1
      const begin = adds === 'x' ? left + WIDE : middle + 3 + adds.length
      p.arrow([[begin, from], [left + 36, from], [left + 36, y], [left + WIDE, y]], { tone: 5 })
        .text(left + 25, y - 1, '+ residual', { tone: 5 })
    }
  }
  p.step('The result. With pre, x went through the block as it came.')
  for (const left of Object.values(columns))
    p.box(left, 17, WIDE, 1, 'y', { tone: 6 }).link([left + WIDE / 2, 16], [left + WIDE / 2, 17])
})
