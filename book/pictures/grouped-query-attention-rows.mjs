import { picture } from '../lib/picture.mjs'

const GROUP = 4, QUERIES = 3, W = 5, LEFT = 16

export default picture({
  title: 'To a key/value head, a group is one matrix of rows',
  label: 'The memory of q for one batch with three queries: heads h0 to h3 one behind the ' +
    'other, each with rows q0, q1, q2. The twelve rows of group g0 are neighbours, packed ' +
    'rows 0 to 11.'
}, (p) => {
  p.text(1, 0, 'head').text(1, 1, 'query').text(1, 2, 'packed row')
  for (let h = 0; h < GROUP; ++h) {
    const x = LEFT + h * (QUERIES * W + 1)
    const rows = Array.from({ length: QUERIES }, (_, q) => q)
    p.text(x + 1.5 * W, 0, `h${h}`, { anchor: 'middle', strong: true })
      .cells(x, 1, W, rows.map((q) => `q${q}`), { tone: 1 + h })
      .cells(x, 2, W, rows.map((q) => h * QUERIES + q), { muted: true })
  }
  p.text(LEFT + GROUP * (QUERIES * W + 1), 1, '... h4')
})
