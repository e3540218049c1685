import { picture } from '../lib/picture.mjs'

const CONFIGS = 36, BUDGET = 27, FIRST = 17, WRONG = 7
const ROUNDS = [
  { kept: [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17], trials: 1 },
  { kept: [1, 3, 4, 8, 12], trials: 1 }, { kept: [3, 8], trials: 1 },
    { kept: [3, 8], trials: 2 }
]
const W = 3, LEFT = 12
const x = (place) => LEFT + (place - 1) * W

/** Trials of all rounds together; the table of the lesson. */
export const trials = () => ROUNDS.reduce((sum,
  { kept, trials: n }) => sum + kept.length * n, 0)

export default picture({
  title: '36 configurations, a budget of 27 trials',
  label: 'Configurations by the rank that a model gave them. The first 17 are checked, one ' +
    'is wrong. 16 get one trial each; a third of them, five, get another; then two are ' +
    'left and get one, and twice two more. One of them is chosen: 27 trials.'
}, (p) => {
  const places = Array.from({ length: FIRST }, (_, i) => i + 1)
  if (trials() !== BUDGET) throw new Error(`${trials()} trials`)
  p.text(1, 0, 'predicted').cells(LEFT, 0, W, places, { muted: true })
    .text(x(FIRST + 1) + 1, 0, `... ${CONFIGS}: none`, { muted: true })
  p.step('Each is checked first: what computes a wrong result is out.')
    .text(1, 1, 'checked').cells(LEFT, 1, W, places.map((i) => (i === WRONG ? '-' : 'ok')),
      { tones: places.map((i) => (i === WRONG ? 4 : 0)) })
  ROUNDS.forEach(({ kept, trials: n }, r) => {
    const said = ['One trial for each of 16.', 'The best third gets another one.',
      'Two are left: they need to be told apart.', 'Two more trials for each of the two.'][r]
    p.step(said).text(1, 2 + r, r === 3 ? 'round 4, 5' : `round ${r + 1}`)
    for (const i of kept) p.cells(x(i), 2 + r, W, ['x'], { tone: r + 1 })
    p.text(72, 2 + r, `${kept.length * n} trials`)
  })
  p.step('The faster one is chosen. 27 trials in all.')
    .box(x(3) - 3, 7, 9, 1, 'chosen', { tone: 3 }).text(72, 7, `${trials()} trials`)
    .link([x(3) + 1.5, 6], [x(3) + 1.5, 7])
})
