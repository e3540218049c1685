import { picture } from '../lib/picture.mjs'
import { passes } from '../lib/picture-passes.mjs'

export default picture({
  title: 'How often does a row cross the bus?',
  label: 'Three ways to normalize a row, and the way back. Two passes read the row three ' +
    'times. Welford has mean and variance in one pass. In registers the row is read once. ' +
    'Backward: dy and x give two sums of the row for dx, and two sums of each column.'
}, (p) => {
  passes(p, [
    { name: 'two passes', said: 'Two passes and the result: the row is read three times.',
      parts: ['mean', 'variance', 'y'] },
    { name: 'Welford', said: 'Welford: mean and variance in one pass. One read less.',
      parts: ['mean and variance', 'y'] },
    { name: 'in registers', said: 'In registers: the row is read once.',
      kept: ['mean', 'variance'] }
  ])
  p.step('Backward: sums along the row for dx, and down the columns for dgamma and dbeta.')
    .text(1, 10, 'backward').box(18, 10, 8, 1, 'dy, x', { tone: 6 }).arrow([[27, 10], [33, 10]])
    .box(35, 10, 8, 1, 'g, h', { tone: 1 }).arrow([[44, 10], [48, 10]])
    .box(50, 10, 22, 1, 'two sums of the row', { tone: 1 }).arrow([[73, 10], [77, 10]])
    .box(79, 10, 6, 1, 'dx', { tone: 3 })
    .arrow([[38, 11], [38, 12], [48, 12]])
    .box(50, 12, 22, 1, 'sums of columns', { tone: 2 }).arrow([[73, 12], [75, 12]])
    .text(77, 12, 'dgamma,')
    .text(77, 13, 'dbeta')
})
