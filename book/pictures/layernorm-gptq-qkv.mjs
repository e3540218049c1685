import { picture } from '../lib/picture.mjs'

export default picture({
  title: 'Four launches, two, one',
  label: 'Three versions of a norm and three products. v1: LayerNorm writes h, three ' +
    'products read it. v2: LayerNorm writes h, one product of the joined weights reads it. ' +
    'v3: each block of one kernel normalizes its rows itself; h is never in memory.'
}, (p) => {
  const A = 2, B = 34, C = 58
  p.text(A, 0, 'unfused (v1)', { strong: true }).text(B, 0, 'half-fused (v2)', { strong: true })
    .text(C, 0, 'fused (v3)', { strong: true })
  p.step('v1: h is written once, and read by each of three products. 4 launches.')
    .box(A + 9, 1, 5, 1, 'x', { tone: 6 }).box(A + 4, 3, 15, 1, 'LayerNorm', { tone: 1 })
    .box(A + 9, 5, 5, 1, 'h', { tone: 6 })
  p.link([A + 11.5, 2], [A + 11.5, 3]).link([A + 11.5, 4], [A + 11.5, 5])
  ;['Q', 'K', 'V'].forEach((name, i) =>
    p.box(A + i * 9, 7, 6, 1, `W${name.toLowerCase()}`, { tone: 2 })
      .box(A + i * 9, 9, 6, 1, name, { tone: 3 })
      .link([A + 11.5, 6], [A + i * 9 + 3, 7]).link([A + i * 9 + 3, 8], [A + i * 9 + 3, 9]))
  p.text(A, 10, '4 launches')
  p.step('v2: one product of the three weights side by side. 2 launches.')
    .box(B + 5, 1, 5, 1, 'x', { tone: 6 }).box(B, 3, 15, 1, 'LayerNorm', { tone: 1 })
    .box(B + 5, 5, 5, 1, 'h', { tone: 6 }).box(B, 7, 15, 1, 'Wq  Wk  Wv', { tone: 2 })
    .box(B, 9, 15, 1, 'Q  K  V', { tone: 3 }).text(B, 10, '2 launches')
  for (const y of [2, 4, 6, 8]) p.link([B + 7.5, y], [B + 7.5, y + 1])
  p.step('v3: each block normalizes the rows that it needs. h is never in memory.')
    .box(C + 11, 1, 5, 1, 'x', { tone: 6 })
  for (let b = 0; b < 4; ++b)
    p.box(C + b * 7, 4, 6, 1, 'LN', { tone: 1 })
      .box(C + b * 7, 6, 6, 1, ['Wq', 'Wk', 'Wv', '...'][b], { tone: 2 })
      .link([C + 13.5, 2], [C + b * 7 + 3, 4]).link([C + b * 7 + 3, 5], [C + b * 7 + 3, 6])
      .link([C + b * 7 + 3, 7], [C + b * 7 + 3, 9])
  p.box(C, 9, 27, 1, 'Q        K        V', { tone: 3 }).text(C, 10, '1 launch')
})
