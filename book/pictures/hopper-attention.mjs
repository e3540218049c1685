import { picture } from '../lib/picture.mjs'

export default picture({
  title: 'One warp copies, warpgroups compute, barriers in shared memory join them',
  label: 'Global memory, shared memory and registers side by side. A producer warp copies Q, ' +
    'and tiles of K and V into two stages, by TMA. Three warpgroups compute S = QK with ' +
    'wgmma, the softmax gives P, and O grows by PV. Each stage has barriers full and empty.'
}, (p) => {
  p.text(1, 0, 'global memory', { strong: true }).text(27, 0, 'shared memory', { strong: true })
    .text(57, 0, 'registers of a warpgroup', { strong: true })
  p.step('The producer, one warp, asks the TMA unit for Q, 64 rows for each warpgroup.')
    .box(1, 1, 8, 1, 'Q', { tone: 1 }).arrow([[10, 1], [25, 1]])
    .box(27, 1, 22, 1, 'Q, 192 rows', { tone: 1 })
  p.step('Then for tiles of K and V, into two stages; full[s] says that a tile has arrived.')
    .box(1, 3, 8, 1, 'K', { tone: 2 }).arrow([[10, 3], [25, 3]])
    .box(27, 3, 11, 1, 'K, 0', { tone: 2 }).box(38, 3, 11, 1, 'K, 1', { tone: 2 })
    .box(1, 5, 8, 1, 'V', { tone: 6 }).arrow([[10, 5], [25, 5]])
    .box(27, 5, 11, 1, 'V, 0', { tone: 6 }).box(38, 5, 11, 1, 'V, 1', { tone: 6 })
    .text(14, 2, 'TMA').text(27, 6, 'stage 0').text(38, 6, 'stage 1')
    .text(27, 7, 'full[], empty[]', { mono: true })
  p.step('S = Q K^T: wgmma reads both factors from shared memory.')
    .arrow([[50, 1], [55, 1]]).arrow([[50, 3], [53, 3], [53, 2], [55, 2]])
    .box(57, 1, 24, 1, 'S  64 x 128 scores', { tone: 3 })
  p.step('The softmax of S gives P: weights, and a new maximum and sum of each row.')
    .link([69, 2], [69, 3]).text(71, 2, 'softmax')
    .box(57, 3, 24, 1, 'P  64 x 128 weights', { tone: 4 })
  p.step('O += P V: P comes from registers, V from shared memory. empty[s]: fill it again.')
    .link([69, 4], [69, 5]).text(71, 4, 'wgmma').arrow([[50, 5], [55, 5]])
    .box(57, 5, 24, 1, 'O  64 x 128 output', { tone: 5 })
    .text(57, 6, 'three warpgroups, 64 rows each', { muted: true })
})
