import { picture } from '../lib/picture.mjs'

export default picture({
  title: 'A tile of C needs a strip of A and a strip of B',
  label: 'Three matrices: B above C, A to the left of C. A block computes one tile of C. It ' +
    'needs the rows of A beside the tile and the columns of B above it, BK of K at a time.'
}, (p) => {
  p.text(32, 0, 'B [K, N]', { strong: true }).text(1, 6, 'A [M, K]', { strong: true })
    .text(27, 6, 'C [M, N]', { strong: true })
    .box(26, 1, 26, 5, '').box(26, 7, 26, 7, '').box(1, 7, 22, 7, '')
  p.step('A block has one tile of C, BM rows and BN columns.')
    .box(34, 9, 10, 3, 'BM x BN', { tone: 3 }).arrow([[55, 10], [45, 10]])
    .text(57, 10, 'the tile of a block')
  p.step('Of A it needs a strip of rows, of B a strip of columns.')
    .box(9, 9, 6, 3, '', { tone: 1, dashed: true })
    .box(16, 9, 6, 3, '', { tone: 1, dashed: true })
    .box(35, 3, 8, 1, '', { tone: 2, dashed: true })
    .box(35, 4, 8, 1, '', { tone: 2, dashed: true })
  p.step('They come piece by piece: BK columns of A and BK rows of B are in shared memory.')
    .box(2, 9, 6, 3, 'BK', { tone: 1 }).box(35, 2, 8, 1, 'BK', { tone: 2 })
    .text(55, 2, 'BK rows of B at a time').text(2, 14, 'BK columns of A at a time')
})
