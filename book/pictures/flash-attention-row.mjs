import { picture } from '../lib/picture.mjs'

const SCORES = [0, 1, 2, -1], TILE = 2, W = 8, LEFT = 14

/** Maximum and sum after each tile: the step of an online softmax. */
export function online(scores, tile) {
  const states = []
  let [max, sum] = [-Infinity, 0]
  for (let i = 0; i < scores.length; i += tile) {
    const part = scores.slice(i, i + tile)
    const next = Math.max(max, ...part)
    const scale = Math.exp(max - next)
    const terms = part.map((s) => Math.exp(s - next))
    const before = sum
    sum = sum * scale + terms.reduce((a, b) => a + b, 0)
    states.push({ max: next, scale, before, terms, sum })
    max = next
  }
  return states
}
const three = (v) => v.toFixed(3)

export default picture({
  title: 'What one row keeps from tile to tile',
  label: 'Four scores 0, 1, 2, -1 in two tiles. After the first tile the maximum is 1 and ' +
    'the sum 1.368. The second tile has a larger maximum, 2: the sum so far is multiplied ' +
    'by e to the minus 1, and the new terms are added: 1.553.'
}, (p) => {
  const [first, second] = online(SCORES, TILE)
  p.text(1, 0, 'scores').text(1, 2, 'maximum').text(1, 3, 'sum')
    .cells(LEFT, 0, W, SCORES.slice(0, 2), { tone: 2 })
    .cells(LEFT + 2 * W + 3, 0, W, SCORES.slice(2), { tone: 2 })
    .text(LEFT + W, 1, 'tile 0', { anchor: 'middle', muted: true })
    .text(LEFT + 3 * W + 3, 1, 'tile 1', { anchor: 'middle', muted: true })
  p.step(`Tile 0: the maximum is ${first.max}, the sum e^(0 - 1) + e^(1 - 1).`)
    .cells(LEFT, 2, 2 * W, [first.max], { tone: 1 })
    .cells(LEFT, 3, 2 * W, [three(first.sum)], { tone: 1 })
  p.step('Tile 1: the maximum is larger. All so far is multiplied by e^(1 - 2), the output too.')
    .cells(LEFT + 2 * W + 3, 2, 2 * W, [second.max], { tone: 3 })
    .cells(LEFT + 2 * W + 3, 3, 2 * W, [three(second.sum)], { tone: 3 })
    .text(LEFT + 4 * W + 5, 2, 'larger: scale by e^(1 - 2)')
    .text(LEFT + 4 * W + 5, 3, `${three(second.before)} * ${three(second.scale)} + ` +
      second.terms.map(three).join(' + '))
})
