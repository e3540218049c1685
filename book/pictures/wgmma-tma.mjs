import { picture } from '../lib/picture.mjs'

const STAGES = 4

export default picture({
  title: 'A ring of stages between the copies and the products',
  label: 'Global memory on the left, a ring of four stages of A and B in shared memory in ' +
    'the middle, two warpgroups with 64 by 256 sums each on the right. One thread asks for ' +
    'copies by TMA; wgmma reads the stages; the results go back through shared memory.'
}, (p) => {
  p.text(1, 0, 'global memory', { strong: true })
    .text(28, 0, 'shared memory: a ring', { strong: true })
    .text(62, 0, 'registers', { strong: true })
  for (let s = 0; s < STAGES; ++s)
    p.box(30, 2 + s, 14, 1, `A | B  (${s})`, { tone: 6 })
  p.step('One thread asks the TMA unit for the next tiles, once a stage is empty.')
    .box(1, 2, 9, 1, 'A', { tone: 1 }).box(1, 4, 9, 1, 'B', { tone: 2 })
    .arrow([[11, 2], [28, 2]]).arrow([[11, 4], [28, 4]]).text(13, 3, 'TMA, one thread')
  p.step('full[s]: the bytes of a stage have arrived. Both warpgroups may read it.')
    .arrow([[45, 2], [59, 2]]).arrow([[45, 4], [59, 4]]).text(49, 3, 'wgmma')
    .box(61, 2, 26, 1, 'warpgroup 1: 64 x 256', { tone: 3 })
    .box(61, 4, 26, 1, 'warpgroup 2: 64 x 256', { tone: 3 })
    .text(24, 6, 'full[s]: has arrived    empty[s]: has been read', { muted: true })
  p.step('At the end: stmatrix into shared memory, and TMA stores 16 x 64 of C of each warp.')
    .arrow([[74, 5], [74, 9], [46, 9]]).text(76, 7, 'stmatrix')
    .box(30, 9, 14, 1, 'tile of C', { tone: 5 }).arrow([[28, 9], [11, 9]]).text(18, 8, 'TMA')
    .box(1, 9, 9, 1, 'C', { tone: 5 })
})
