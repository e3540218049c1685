import { picture } from '../lib/picture.mjs'

export default picture({
  title: 'Where the sum and the norm meet',
  label: 'Two data flows. Pre-LN: x goes through LN and attention and is added to itself; ' +
    'the sum goes through the next LN and the MLP. add_layernorm is that sum and that ' +
    'next norm in one kernel. Behind the sub-layer: attention, LN, then the sum with x.'
}, (p) => {
  p.text(1, 0, 'pre-LN, one block after the other', { strong: true })
    .text(1, 2, 'x').arrow([[3, 2], [7, 2]]).box(9, 2, 6, 1, 'LN', { tone: 1 })
    .arrow([[16, 2], [18, 2]]).box(20, 2, 13, 1, 'attention')
    .arrow([[34, 2], [36, 2]]).box(38, 2, 5, 1, '+', { tone: 2 })
    .arrow([[44, 2], [48, 2]]).box(50, 2, 6, 1, 'LN', { tone: 1 })
    .arrow([[57, 2], [59, 2]]).box(61, 2, 7, 1, 'MLP')
    .arrow([[69, 2], [71, 2]]).box(73, 2, 5, 1, '+', { tone: 2 }).arrow([[79, 2], [82, 2]])
    .arrow([[5, 3], [5, 4], [40, 4], [40, 3]]).arrow([[46, 3], [46, 4], [75, 4], [75, 3]])
  p.step('add_layernorm: the sum of one sub-layer and the norm of the next, in one kernel.')
    .box(36, 5, 23, 1, 'add_layernorm', { tone: 3 })
    .text(61, 5, 'h = x + a and y = LN(h)', { mono: true })
  p.step('With the norm behind the sub-layer, the kernel has one result.')
    .text(1, 7, 'a norm behind the sub-layer', { strong: true })
    .text(1, 9, 'x').arrow([[3, 9], [7, 9]]).box(9, 9, 13, 1, 'attention')
    .arrow([[23, 9], [25, 9]]).box(27, 9, 6, 1, 'LN', { tone: 1 })
    .arrow([[34, 9], [36, 9]]).box(38, 9, 5, 1, '+', { tone: 2 }).arrow([[44, 9], [48, 9]])
    .arrow([[5, 10], [5, 11], [40, 11], [40, 10]])
    .box(25, 12, 20, 1, 'layernorm_add', { tone: 3 }).text(47, 12, 'LN(a) + x', { mono: true })
})
