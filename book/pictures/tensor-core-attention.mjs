import { picture } from '../lib/picture.mjs'

export default picture({
  title: 'One warp, one instruction, three small matrices',
  label: 'A, 16 by 16 numbers of 16 bits, times B, 16 by 8 numbers of 16 bits, is added to ' +
    'C, 16 by 8 floats.'
}, (p) => {
  p.text(2, 0, 'A  16 x 16', { strong: true }).text(29, 0, 'B  16 x 8', { strong: true })
    .text(54, 0, 'C  16 x 8', { strong: true })
    .box(2, 1, 20, 6, '16-bit\nnumbers', { tone: 1 }).text(25, 3, '*')
    .box(29, 1, 12, 6, '16-bit\nnumbers', { tone: 2 }).arrow([[43, 3], [51, 3]])
    .box(54, 1, 12, 6, 'floats', { tone: 3 }).text(68, 3, 'added to what')
    .text(68, 4, 'is there')
})
