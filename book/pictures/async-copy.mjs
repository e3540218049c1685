import { picture } from '../lib/picture.mjs'

/** Letters a copy takes alone, and the use of a tile; the figure below has clocks. */
const COPY = 14, USE = 7, LEFT = 18, TILES = 4

/**
 * When the copies and the uses of tiles begin, if `stages` buffers are there: the next
 * copy into a buffer begins when the tile in it was used.
 */
export function schedule(stages, tiles) {
  const uses = [], copies = []
  for (let t = 0; t < tiles; ++t) {
    const begin = t < stages ? t : uses[t - stages] + USE
    copies.push(begin)
    const before = t > 0 ? uses[t - 1] + USE : 0
    uses.push(Math.max(begin + COPY, before))
  }
  return { copies, uses }
}

/** A block has every second tile. */
const name = (t) => 2 * t

export default picture({
  title: 'More stages, less waiting',
  label: 'Three time lines of one block. Synchronous: it loads a tile, uses it, loads the ' +
    'next. Two stages: one copy runs while a tile is used, and the block still waits. Six ' +
    'stages: all copies run early, and the block uses tile after tile without a wait.'
}, (p) => {
  p.step('Synchronous: load, then use; nothing is under way while a tile is used.')
    .text(1, 0, 'synchronous')
  for (let t = 0; t < 3; ++t)
    p.box(LEFT + t * (COPY + USE), 0, COPY, 1, `load ${name(t)}`, { tone: 6 })
      .box(LEFT + t * (COPY + USE) + COPY, 0, USE, 1, `use ${name(t)}`, { tone: 3 })
  const lines = (y, stages, tiles) => {
    const { copies, uses } = schedule(stages, tiles)
    uses.forEach((at, t) =>
      p.box(LEFT + at, y, USE, 1, `use ${name(t)}`, { tone: 3 }))
    copies.forEach((at, t) => p.box(LEFT + at, y + 1 + (t % stages), COPY, 1,
      `copy ${name(t)}`, { tone: 6 }))
  }
  p.step('Two stages: a copy is always under way, but it takes longer than the use.')
    .text(1, 2, 'two stages')
  lines(2, 2, TILES)
  p.step('Six stages: enough is under way. The block waits for the first tile only.')
    .text(1, 6, 'six stages')
  lines(6, 6, 6)
  p.arrow([[LEFT, 14], [LEFT + 40, 14]]).text(LEFT + 43, 14, 'time')
})
