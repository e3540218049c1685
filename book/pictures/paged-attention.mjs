import { picture } from '../lib/picture.mjs'

const PAGE = 4, PAGES = 6, W = 2, LEFT = 22
const SEQUENCES = [{ pages: [5, 1, 3], length: 10, tone: 1 },
  { pages: [5, 2], length: 6, tone: 2 }]
const x = (page) => LEFT + page * (PAGE * W + 3)

/** Tokens of a page by its slots: what all sequences that use it have there. */
export function slotsOf(page) {
  const slots = Array(PAGE).fill('')
  for (const { pages, length } of SEQUENCES) {
    const at = pages.indexOf(page)
    if (at < 0) continue
    for (let i = 0; i < PAGE; ++i)
      slots[i] = at * PAGE + i < length ? at * PAGE + i : slots[i] || '.'
  }
  return slots
}
const usersOf = (page) => SEQUENCES.filter(({ pages }) => pages.includes(page))

export default picture({
  title: 'Two sequences in a pool of six pages; the first page is shared',
  label: 'A pool of six pages of four tokens. Sequence 0, ten tokens, has pages 5, 1, 3. ' +
    'Sequence 1, six tokens, has pages 5, 2. Page 5 belongs to both. Pages 0 and 4 are free.'
}, (p) => {
  p.text(1, 3, 'the pool, for k')
  for (let page = 0; page < PAGES; ++page) {
    const users = usersOf(page)
    p.text(x(page) + PAGE, 4, `page ${page}`, { anchor: 'middle', muted: true })
      .cells(x(page), 3, W, slotsOf(page), {
        tone: users.length > 1 ? 3 : users[0]?.tone ?? 0,
        ascii: slotsOf(page).map((slot) => String(slot === '' ? '_' : slot))
      })
  }
  const table = ({ pages, length, tone }, n, y, from, to) => {
    p.step(n === 0 ? 'Sequence 0 has ten tokens: pages 5, 1 and 3, in this order.'
      : 'Sequence 1 began with the same prompt: page 5 is there once, for both.')
      .text(1, y, `sequence ${n}`, { strong: true })
      .text(13, y, `length ${length}`, { muted: true })
      .cells(30, y, 6, [...pages, ...Array(4 - pages.length).fill('-')], { tone })
      .text(56, y, 'block table', { muted: true })
    pages.forEach((page, i) =>
      p.link([30 + i * 6 + 3, from], [x(page) + PAGE, to], { tone }))
  }
  table(SEQUENCES[0], 0, 0, 1, 3)
  table(SEQUENCES[1], 1, 7, 7, 5)
})
