import { picture } from '../lib/picture.mjs'

const X = [3, 0, 2, 1, 5, 0, 1, 4, 2, 2, 0, 1]
const HEADS = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0]
const TILE = 4, W = 4, LEFT = 16

/** @returns inclusive and exclusive sums; a head begins a sum anew */
export function scans(x, heads = []) {
  const inclusive = [], exclusive = []
  x.forEach((value, i) => {
    const before = i === 0 || heads[i] ? 0 : inclusive[i - 1]
    exclusive.push(before)
    inclusive.push(before + value)
  })
  return { inclusive, exclusive }
}

const plain = scans(X), segmented = scans(X, HEADS)
const segment = HEADS.reduce((all, head, i) => [...all, (all[i - 1] ?? 0) + head], [])

export default picture({
  title: 'Running sums, of all and of segments',
  label: 'Twelve elements in three tiles of four, their inclusive and exclusive sums, and ' +
    'the same of three segments that begin where a head is 1: there a sum begins anew.'
}, (p) => {
  const row = (y, name, values, tones) => {
    p.text(1, y, name)
    for (let tile = 0; tile < X.length / TILE; ++tile) {
      const part = [tile * TILE, (tile + 1) * TILE]
      p.cells(LEFT + tile * (TILE * W + 2), y, W, values.slice(...part),
        Array.isArray(tones) ? { tones: tones.slice(...part) } : { tone: tones })
    }
  }
  const said = LEFT + 3 * (TILE * W + 2)
  row(0, 'x', X, 0)
  p.text(said, 0, '3 tiles of 4', { muted: true })
  p.step('Inclusive: x[0] + ... + x[i]. Each tile needs the sum of all tiles before it.')
  row(2, 'inclusive', plain.inclusive, 1)
  p.text(said, 2, 'x[0] + ... + x[i]')
  p.step('Exclusive: the same without x[i].')
  row(3, 'exclusive', plain.exclusive, 1)
  p.text(said, 3, 'up to x[i - 1]')
  p.step('Segments: where a head is 1, the sum begins anew, also in the middle of a tile.')
  row(5, 'heads', HEADS, segment.map((s) => s + 1))
  row(6, 'inclusive', segmented.inclusive, segment.map((s) => s + 1))
  row(7, 'exclusive', segmented.exclusive, segment.map((s) => s + 1))
})
