import { picture } from '../lib/picture.mjs'

export default picture({
  title: 'One row of the product: queries stay, keys and values move to the cache',
  label: 'A row of a token has q heads, k heads and v heads of D numbers each. The q heads ' +
    'are rotated in place; the k heads are rotated into cache.k; the v heads are copied into ' +
    'cache.v, to the page and the slot of the token.'
}, (p) => {
  p.text(1, 0, 'a row of the product: [tokens, (Hq + 2 Hkv) D]', { strong: true })
  ;[0, 1, 2, 3].forEach((h) => p.box(1 + h * 9, 1, 9, 1, ['q0', 'q1', '...', 'qn'][h],
    { tone: 1 }))
  ;[0, 1].forEach((h) => p.box(39 + h * 9, 1, 9, 1, ['k0', '...'][h], { tone: 2 }))
  ;[0, 1].forEach((h) => p.box(59 + h * 9, 1, 9, 1, ['v0', '...'][h], { tone: 3 }))
  p.step('q: each head is rotated by the angle of its position, in place.')
    .arrow([[18, 2], [18, 4]]).text(21, 3, 'rotated')
    .box(1, 5, 36, 1, 'the same row', { tone: 1 })
  p.step('k: rotated, and stored in the page of the token.')
    .arrow([[47, 2], [47, 4]]).text(49, 3, 'rotated').box(39, 5, 18, 1, 'cache.k', { tone: 2 })
  p.step('v: stored as it is, at the same place.')
    .arrow([[67, 2], [67, 4]]).text(69, 3, 'copied').box(59, 5, 18, 1, 'cache.v', { tone: 3 })
    .text(39, 6, 'page, head, p % page_size', { muted: true })
})
