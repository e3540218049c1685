import { picture } from '../lib/picture.mjs'

const LANES = 32, FLOATS = 8, W = 1
const SHOWN = 5

/** Sectors that a warp moves whose lane wants float offset + lane * stride. */
const moved = (stride, offset) => new Set(
  Array.from({ length: LANES }, (_, lane) => Math.floor((offset + lane * stride) / FLOATS)))

const PATTERNS = [
  ['x[i]', 1, 0, 'Neighbouring floats: 4 sectors, and all of their bytes are wanted.'],
  ['x[i + 1]', 1, 1, 'One float further: the same 128 bytes now lie in 5 sectors.'],
  ['x[2 * i]', 2, 0, 'Every second float: 8 sectors, half of them for nothing.'],
  ['x[8 * i]', 8, 0, 'One float of each sector: 32 sectors, the most that there are.'],
  ['x[32 * i]', 32, 0, 'Farther apart it costs no more: 32 sectors again.']
]

export default picture({
  title: 'Which sectors does one load of a warp move?',
  label: 'Five rows, one for each index. A row shows the first five sectors of eight ' +
    'floats; filled floats are wanted by a lane. x[i] moves 4 sectors, x[i + 1] 5, ' +
    'x[2 * i] 8, x[8 * i] and x[32 * i] 32.'
}, (p) => {
  p.text(0, 0, 'sectors', { strong: true }).text(9, 0, 'index', { strong: true })
    .text(21, 0, 'sectors of 32 bytes', { strong: true })
  PATTERNS.forEach(([name, stride, offset, said], i) => {
    const y = 1 + i
    const sectors = moved(stride, offset)
    const wanted = new Set(
      Array.from({ length: LANES }, (_, lane) => offset + lane * stride))
    p.step(said).text(3, y, sectors.size, { anchor: 'end' }).text(9, y, name, { mono: true })
    for (let s = 0; s < SHOWN; ++s) {
      const floats = Array.from({ length: FLOATS }, (_, f) => s * FLOATS + f)
      const isMoved = sectors.has(s)
      p.cells(21 + s * (FLOATS * W + 1), y, W, floats.map(() => ''), {
        tones: floats.map((f) => (wanted.has(f) ? 1 : isMoved ? 5 : 0)),
        ascii: floats.map((f) => (wanted.has(f) ? '#' : isMoved ? '.' : ' '))
      })
    }
    const more = sectors.size - [0, 1, 2, 3, 4].filter((s) => sectors.has(s)).length
    if (more > 0) p.text(68, y, `and ${more} more`, { muted: true })
  })
  p.cells(21, 7, 1, [''], { tone: 1, ascii: ['#'] }).text(23, 7, 'a float that a lane wants')
    .cells(50, 7, 1, [''], { tone: 5, ascii: ['.'] }).text(52, 7, 'moved for nothing')
})
