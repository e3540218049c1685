import { picture } from '../lib/picture.mjs'

const LEFT = 24

export default picture({
  title: 'Six warps do three things',
  label: 'Three time lines. Warp 4 copies tiles of K and V. Warp 5 starts products: scores ' +
    'of tile 0 and 1, output with tile 0, scores of 2, output with tile 1. Warps 0 to 3 ' +
    'compute the softmax of tile 0, then 1, while the next products run.'
}, (p) => {
  p.text(1, 0, 'warp 4: TMA').text(1, 2, 'warp 5: tcgen05.mma').text(1, 4, 'warps 0 to 3')
  p.step('One thread of warp 4 copies tiles of K and V.')
  ;['K0', 'V0', 'K1', 'V1', 'K2', 'V2'].forEach((name, i) =>
    p.box(LEFT + 6 * i + (i > 3 ? 4 : 0), 0, 6, 1, name, { tone: name[0] === 'K' ? 2 : 6 }))
  p.step('One thread of warp 5 starts the scores as soon as a tile is there.')
    .box(LEFT + 7, 2, 7, 1, 'S0', { tone: 1 }).box(LEFT + 18, 2, 7, 1, 'S1', { tone: 1 })
  p.step('Four warps load the scores, compute weights and store them.')
    .box(LEFT + 15, 4, 14, 1, 'softmax 0', { tone: 4 })
  p.step('Meanwhile: the next scores. o += P V follows when its weights are there.')
    .box(LEFT + 29, 2, 12, 1, 'o += P0 V0', { tone: 3 })
    .box(LEFT + 42, 2, 7, 1, 'S2', { tone: 1 })
    .box(LEFT + 30, 4, 14, 1, 'softmax 1', { tone: 4 })
    .box(LEFT + 49, 2, 12, 1, 'o += P1 V1', { tone: 3 })
    .arrow([[LEFT, 6], [LEFT + 40, 6]]).text(LEFT + 43, 6, 'time')
})
