import { picture } from '../lib/picture.mjs'

const RANKS = 4

/**
 * How many ranks' summands each rank has of each part of the array, step by step, in a
 * ring: a reduce-scatter of RANKS - 1 steps, then an all-gather of as many.
 */
export function ring(ranks = RANKS) {
  const part = (i) => ((i % ranks) + ranks) % ranks
  let now = Array.from({ length: ranks }, () => Array(ranks).fill(1))
  const steps = [now]
  for (let step = 0; step < 2 * (ranks - 1); ++step) {
    const next = now.map((row) => [...row])
    for (let rank = 0; rank < ranks; ++rank) {
      const to = part(rank + 1)
      const adds = step < ranks - 1
      const sent = adds ? part(rank - step - 1) : part(rank - (step - (ranks - 1)))
      next[to][sent] = adds ? now[to][sent] + now[rank][sent] : now[rank][sent]
    }
    now = next
    steps.push(now)
  }
  return steps
}

export default picture({
  title: 'A sum over four GPUs: in a ring, and in one shot',
  label: 'Four GPUs, each with an array in four parts. The cells count how many summands a ' +
    'part holds. In a ring, after three steps each GPU has the whole sum of one part, and ' +
    'after six all have all. In one shot everything is sent to everybody at once: one ' +
    'step, and twice as many bytes.'
}, (p) => {
  const LEFT = 7, WIDE = 2, APART = RANKS * WIDE + 2
  const state = (x, y, rows) => rows.forEach((row, rank) =>
    p.cells(x, y + rank, WIDE, row, { tones: row.map((n) => (n === RANKS ? 3 : n > 1 ? 2 : 1)) }))
  const names = (y) => {
    for (let rank = 0; rank < RANKS; ++rank) p.text(0, y + rank, `GPU ${rank}`)
  }
  p.text(0, 0, 'ring: each GPU sends one part to the next one, in each step', { strong: true })
  names(2)
  ring().forEach((rows, step) => {
    const adds = step < RANKS
    if (step > 0)
      p.step(adds
        ? `Step ${step}: the next GPU adds what comes. ` +
          (step === RANKS - 1 ? 'Each has the whole sum of one part: reduce-scatter.' : '')
        : `Step ${step}: the whole sums go round. ` +
          (step === 2 * RANKS - 2 ? 'All have all: all-gather.' : ''))
    p.text(LEFT + step * APART, 1, step === 0 ? 'at first' : `step ${step}`)
    state(LEFT + step * APART, 2, rows)
  })
  const y = 7
  p.step('One shot: all send all they have to all others, and each adds for itself.')
    .text(0, y, 'one shot: each GPU sends all of it to all others', { strong: true })
  names(y + 2)
  const ones = Array.from({ length: RANKS }, () => Array(RANKS).fill(1))
  const all = ones.map((row) => row.map(() => RANKS))
  ;[ones, all].forEach((rows, step) => {
    p.text(LEFT + step * APART, y + 1, step === 0 ? 'at first' : 'step 1')
    state(LEFT + step * APART, y + 2, rows)
  })
})
