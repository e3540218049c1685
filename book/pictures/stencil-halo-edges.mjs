import { picture } from '../lib/picture.mjs'

const ARRAY = ['a', 'b', 'c', 'd'], OUTSIDE = 2, W = 4
const n = ARRAY.length
const RULES = [
  ['zero', () => '0', 'There are zeros outside.'],
  ['clamp', (i) => ARRAY[Math.min(Math.max(i, 0), n - 1)], 'The last element goes on.'],
  ['wrap', (i) => ARRAY[(i + n) % n], 'The array begins anew.']
]

export default picture({
  title: 'What stands past the end of the array?',
  label: 'The array a b c d with two places before and two behind it. zero: zeros. clamp: ' +
    'a a before, d d behind. wrap: c d before, a b behind.'
}, (p) => {
  RULES.forEach(([name, at, said], row) => {
    p.step(said).text(1, row, name)
    for (let i = -OUTSIDE; i < n + OUTSIDE; ++i) {
      const gap = i < 0 ? 0 : i < n ? 2 : 4
      p.cells(10 + (i + OUTSIDE) * W + gap, row, W, [at(i)],
        { tone: i < 0 || i >= n ? 2 : 1 })
    }
  })
})
