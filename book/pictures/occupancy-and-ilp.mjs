import { picture } from '../lib/picture.mjs'

const CLOCKS = 12, LATENCY = 4, W = 4, LEFT = 26

/** Which of `count` independent FMAs begins in each clock: each waits for its own last one. */
export function begins(count) {
  const free = Array(count).fill(0)
  return Array.from({ length: CLOCKS }, (_, clock) => {
    const ready = free.findIndex((at) => at <= clock)
    if (ready >= 0) free[ready] = clock + LATENCY
    return ready
  })
}

export default picture({
  title: 'Four FMAs under way keep a quarter busy',
  label: 'Twelve clocks. One warp with one chain begins an FMA every fourth clock, 25 %. Two ' +
    'warps: 50 %. Four warps: 100 %. One warp with four independent chains: 100 %, too.'
}, (p) => {
  p.text(1, 0, 'clock')
    .cells(LEFT, 0, W, Array.from({ length: CLOCKS }, (_, i) => i + 1), { muted: true })
  const LINES = [['one warp, one chain', 1, 'F',
    'One chain: its next FMA needs the result, four clocks later.'],
    ['two warps, one chain', 2, 'F', 'Two warps fill each other\'s gaps.'],
    ['four warps, one chain', 4, 'F', 'Four warps: every clock is used. This is occupancy.'],
    ['one warp, four chains', 4, 'abcd',
      'One warp with four chains does as well. This is ILP.']]
  LINES.forEach(([name, count, letters, said], row) => {
    const line = begins(count)
    p.step(said).text(1, row + 2, name)
      .cells(LEFT, row + 2, W, line.map((k) =>
        k < 0 ? '.' : letters.length > 1 ? `F${letters[k]}` : count > 1 ? `F${k}` : 'F'),
      { tones: line.map((k) => (k < 0 ? 0 : k + 1)) })
      .text(LEFT + CLOCKS * W + 7, row + 2,
        `${Math.round(100 * line.filter((k) => k >= 0).length / CLOCKS)} %`, { anchor: 'end' })
  })
})
