import { picture } from '../lib/picture.mjs'

export default picture({
  title: 'A scale for each token, a scale for each channel',
  label: 'x has M rows of K bytes, each row a token with scale sx and zero point zx. w has N ' +
    'rows of K bytes, each row a channel with scale sw and the sum of its weights. y is the ' +
    'integer product, corrected by the sums, times both scales, plus a bias.'
}, (p) => {
  p.text(11, 0, 'K').text(48, 0, 'K').text(1, 2, 'M').text(38, 2, 'N')
    .box(4, 1, 18, 4, 'x, bytes\na row: a token', { tone: 1 })
    .box(41, 1, 18, 4, 'w, bytes\na row: a channel', { tone: 2 })
  p.step('A scale of its own for each row: per token for x, per channel for w.')
    .box(24, 1, 6, 4, 'sx\nzx', { tone: 1 }).box(61, 1, 8, 4, 'sw\nsums', { tone: 2 })
  p.step('The scales do not depend on k, so that they can be taken out of the sum over k.')
    .text(4, 6, 'y = (x w^T - zx * sums of w) * sx * sw + bias', { mono: true })
})
