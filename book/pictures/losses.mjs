import { picture } from '../lib/picture.mjs'

const LENGTHS = [3, 0, 1, 2], ROOM = 8, W = 5, LEFT = 16
const ITEMS = [7, 3, 9, 3]
const QUERIES = [[5, [1.2, -0.3, 0.8, 0.1]], [3, [0.4, 2, 0, 1.9]]]
const users = LENGTHS.flatMap((n, u) => Array(n).fill(u))

export default picture({
  title: 'Logits of drawn items, and accidents among them',
  label: 'Six real queries of users u0, u2 and u3 in room for eight. Below, the logits of ' +
    'four drawn items 7, 3, 9, 3 for two queries: query 1, whose own item is 3, has it ' +
    'drawn twice by accident; these two are masked.'
}, (p) => {
  p.text(1, 0, 'users').cells(LEFT, 0, W, users.map((u) => `u${u}`), {
    tones: users.map((u) => u + 1) })
    .text(1, 1, 'queries').cells(LEFT, 1, W, users.map((_, i) => i))
    .cells(LEFT + users.length * W, 1, W, Array(ROOM - users.length).fill('.'), { muted: true })
    .text(LEFT + ROOM * W + 2, 0, 'offsets 0 3 3 4 6')
    .text(LEFT + ROOM * W + 2, 1, 'room for 8, 6 are real')
  p.step('All queries share the same drawn items.')
    .text(LEFT, 3, 'drawn items', { strong: true })
    .text(1, 4, 'query (its item)').cells(LEFT + 3, 4, 9, ITEMS)
  p.step('The logits of query 0: its own item, 5, was not drawn.')
  QUERIES.forEach(([own, logits], q) => {
    if (q === 1) p.step('The item of query 1 is 3, and it was drawn twice by accident: masked.')
    p.text(1, 5 + q, `query ${q} (${own})`)
      .cells(LEFT + 3, 5 + q, 9, logits.map((v) => v.toFixed(1)), {
        tones: ITEMS.map((item) => (item === own ? 2 : 1)),
        ascii: logits.map((v, i) => (ITEMS[i] === own ? `[${v.toFixed(1)}]` : v.toFixed(1)))
      })
  })
  p.cells(LEFT + 42, 6, 5, [''], { tone: 2, ascii: ['[ ]'] })
    .text(LEFT + 48, 6, 'its own item, masked')
    .step('Queries 6 and 7 are no real ones: whatever stands there does not count.')
    .text(1, 7, 'query 6, 7', { muted: true })
    .text(LEFT + 3, 7, 'do not count', { muted: true })
})
