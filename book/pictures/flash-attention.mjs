import { picture } from '../lib/picture.mjs'

const TILES = 4, W = 11, LEFT = 20
const x = (tile) => LEFT + tile * W

export default picture({
  title: 'Rows stay, tiles of keys and values come by',
  label: 'A matrix of scores that is never in memory: two blocks of 128 rows, four tiles of ' +
    '32 keys. Each block goes from tile to tile; the tile is in shared memory, and all its ' +
    'rows use it. A row keeps its maximum, its sum and its output.'
}, (p) => {
  p.text(x(0), 0, 'keys and values, a tile of 32 at a time', { strong: true })
  for (let t = 0; t < TILES; ++t) p.box(x(t), 1, W - 1, 1, `tile ${t}`, { tone: 2 })
  p.box(1, 3, 17, 3, 'block 0', { tone: 1 })
    .box(1, 7, 17, 3, 'block 1', { tone: 1 })
    .text(3, 6, 'rows 0-127', { muted: true }).text(3, 10, 'rows 128-255', { muted: true })
    .text(67, 3, 'a row keeps', { strong: true })
  for (let t = 0; t < TILES; ++t) {
    const said = ['Tile 0: it is copied to shared memory; all 128 rows use it.',
      'Tile 1: its scores exist in registers only; each row updates what it keeps.',
      'Tile 2: the same again.',
      'The last tile. Then each row is divided by its sum, and written once.'][t]
    p.step(said)
    for (const y of [3, 7]) p.box(x(t), y, W - 1, 3, 'scores', { tone: 3, dashed: true })
    if (t === 0)
      [['maximum', '1 element'], ['sum', '1 element'], ['output', 'D elements']].forEach(
        ([what, many], i) => p.text(67, 4 + i, what).text(77, 4 + i, many))
  }
})
