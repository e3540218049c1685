import { picture } from '../lib/picture.mjs'

/**
 * The kernels of a step, in the order of the way forward: what the way back reads of each
 * (names of train_a_gpt.h), and what each is called there.
 */
export const ROWS = [
  { name: 'table', keeps: ['inputs'], back: 'table: add up rows', tone: 4 },
  { name: 'norm1', keeps: ['x', 'mean', 'rstd'], back: 'norm1, then d += it', tone: 1 },
  { name: 'qkv', keeps: ['y of norm1'], back: 'qkv', tone: 2 },
  { name: 'attention', keeps: ['q', 'k', 'v', 'o', 'lse'], back: 'attention', tone: 3 },
  { name: 'out, + x', keeps: ['attended'], back: 'out', tone: 2 },
  { name: 'norm2', keeps: ['middle', 'mean', 'rstd'], back: 'norm2, then d += it', tone: 1 },
  { name: 'up, GELU', keeps: ['y of norm2', 'up'], back: 'GELU, up', tone: 2 },
  { name: 'down, + middle', keeps: ['hidden'], back: 'down', tone: 2 },
  { name: 'norm', keeps: ['y', 'mean', 'rstd'], back: 'norm, which begins d', tone: 1 },
  { name: 'logits', keeps: ['y of norm'], back: 'logits', tone: 2 }
]

/** The kernels of a layer: all rows but the first and the last two. */
export const LAYER = ROWS.slice(1, -2)

/** All that runs in a step, in its order. */
export const order = () => [
  'tokens', ...ROWS.map(({ name }) => name), 'cross entropy',
  ...ROWS.map(({ back }) => back).reverse(), 'length, AdamW'
]

const LEFT = 1, WIDE = 18, RIGHT = 56, BACK = 24, FIRST = 4
const line = (i) => FIRST + 2 * i

export default picture({
  title: 'A step: forward, down the left side; back, up the right side',
  label: 'Two columns. On the left, from top to bottom: tokens, the table, for each layer ' +
    'norm1, qkv, attention, out, norm2, up with GELU, down, then the last norm and the ' +
    'logits. At the bottom cross entropy leads to the right column, where the same kernels ' +
    'come from bottom to top, and AdamW at the end. Between the columns stands what each ' +
    'kernel of the way back reads of the way forward.'
}, (p) => {
  const last = line(ROWS.length)
  p.text(LEFT, 0, 'forward', { strong: true }).text(25, 0, 'kept', { strong: true })
    .text(RIGHT, 0, 'back', { strong: true })
  p.step('Forward: the tokens become vectors, the layers follow, logits come out.')
    .box(LEFT, 2, WIDE, 1, 'tokens', { tone: 6 })
  ROWS.forEach(({ name, tone }, i) =>
    p.link([LEFT + 9, line(i) - 1], [LEFT + 9, line(i)])
      .box(LEFT, line(i), WIDE, 1, name, { tone }))
  p.text(LEFT + 12, line(1) - 1, 'each layer, from the first to the last', { muted: true })
  p.step('Cross entropy makes the loss, and of the logits their gradient.')
    .link([LEFT + 9, last - 1], [LEFT + 9, last])
    .box(LEFT, last, WIDE, 1, 'cross entropy', { tone: 5 })
  p.step('Back: the same kernels from the last to the first, with what was kept.')
    .arrow([[LEFT + WIDE + 1, last], [RIGHT + 12, last], [RIGHT + 12, last - 1]])
  ROWS.forEach(({ keeps, back, tone }, i) => {
    const words = keeps.join(', ')
    p.text(25, line(i), words).arrow([[25 + words.length + 1, line(i)], [RIGHT - 2, line(i)]])
      .box(RIGHT, line(i), BACK, 1, back, { tone })
      .link([RIGHT + 12, line(i)], [RIGHT + 12, line(i) - 1])
  })
  p.step('The end: the length of all gradients, then AdamW changes the weights.')
    .box(RIGHT, 2, BACK, 1, 'length, AdamW', { tone: 6 })
})
