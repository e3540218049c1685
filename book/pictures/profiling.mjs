import { picture } from '../lib/picture.mjs'

const ROWS = [
  ['timeline', 1, 'Is the GPU idle between kernels?', 'too small launches'],
  ['counters', 2, 'Do loads move more sectors than needed?', 'not coalesced'],
  ['', 2, 'More wavefronts than requests in shared?', 'bank conflicts'],
  ['', 2, 'Fewer than 32 threads an instruction?', 'lanes diverge'],
  ['occupancy', 3, 'Few warps: registers are the limit?', 'registers a thread'],
  ['', 3, 'Few warps: shared memory is the limit?', 'bytes a block'],
  ['none of it', 5, 'Near a roof?', 'healthy: chapter 01'],
  ['', 5, 'Not near one?', 'latency: chapter 03']
]
const SAID = ['First the timeline: a gap between kernels is seen by no counter.',
  'Then the counters of one kernel.', 'Then its occupancy.',
  'If nothing of it applies: is the kernel near a roof?']

export default picture({
  title: 'Go from above to below; stop at the first yes',
  label: 'Questions in order. Timeline: is the GPU idle? Counters: too many sectors, bank ' +
    'conflicts, divergence. Occupancy: registers or shared memory. None of it: near a roof ' +
    'it is healthy, otherwise it waits with enough warps.'
}, (p) => {
  let tone = 0, y = 0, group = 0, box = 0
  for (const [name, color, question, answer] of ROWS) {
    if (color !== tone) {
      if (tone > 0) y += 1
      p.step(SAID[group++])
      if (tone > 0) p.link([8.5, box + 1], [8.5, y])
      box = y
      tone = color
    }
    if (name) p.box(1, y, 15, 1, name, { tone })
    p.text(18, y, question).arrow([[59, y], [62, y]]).text(64, y, answer, { strong: true })
    y += 1
  }
})
