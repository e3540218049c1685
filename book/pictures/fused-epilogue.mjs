import { picture } from '../lib/picture.mjs'

export default picture({
  title: 'What the epilogue saves: the way out and in, three times',
  label: 'Left, not fused: the product writes 67 MB of sums; a bias kernel, an activation ' +
    'and a residual kernel read and write them again; 33.5 MB leave. Right, fused: the ' +
    'sums stay in registers through all four steps, and 33.5 MB leave.'
}, (p) => {
  const L = 4, R = 50
  p.text(L, 0, 'not fused', { strong: true }).text(R, 0, 'fused', { strong: true })
  const steps = ['product', 'bias kernel', 'activation', 'residual']
  const moved = ['', '67 MB out, 67 in', '67 MB out, 67 in', '67 MB out, 67 in']
  const inside = ['sums in registers', '+ bias[n];  z -> memory, if asked for', 'act(z)',
    '+ residual[m, n], round']
  const said = ['The product of x and w. Its sums are floats in registers.',
    'The bias: a kernel of its own, or two instructions behind the product.',
    'The activation.', 'The residual; then the result is rounded.']
  steps.forEach((name, i) => {
    const y = 1 + 2 * i
    p.step(said[i]).box(L, y, 15, 1, name, { tone: i === 0 ? 1 : 2 })
    if (i > 0) p.link([L + 7.5, y - 1], [L + 7.5, y]).text(L + 17, y - 1, moved[i], { tone: 2 })
    if (i === 0) p.box(R, y, 15, 1, name, { tone: 1 })
    p.text(R + (i === 0 ? 17 : 0), y, inside[i])
  })
  p.step('33.5 MB leave in both cases. The other 400 MB stay away.')
    .box(L, 9, 15, 1, 'y', { tone: 3 }).text(L + 17, 8, '33.5 MB out', { tone: 2 })
    .box(R, 9, 15, 1, 'y', { tone: 3 }).text(R + 17, 8, '33.5 MB out', { tone: 2 })
    .link([L + 7.5, 8], [L + 7.5, 9])
})
