import { readFileSync } from 'node:fs'
import { picture } from '../lib/picture.mjs'

const DATA = JSON.parse(
  readFileSync(new URL('../data/fusion_parting.json', import.meta.url), 'utf8'))

/** How far a version is from the unfused one, at each place behind a sub-layer. */
export function partings(version) {
  return DATA.rows.find((row) => row.version === version).by_place
}

/** The exponent of 10 of a difference: cells have room for that, and it tells enough. */
export function magnitude(difference) {
  if (difference === 0) return '0'
  return `1e${Math.floor(Math.log10(difference))}`
}

const VERSIONS = [
  ['not_called', 'fused kernel never called'],
  ['called', 'LN(x) + residual, called'],
  ['mended', 'sum and norm of neighbours']
]

export default picture({
  title: 'Where the hidden states part: three versions beside the unfused model',
  label: 'A row for each version, a cell for each place where hidden states are compared: ' +
    'behind the embedding, then behind attention and the MLP of three layers. The version ' +
    'whose kernel is never called has no difference. The one that fuses the wrong pair ' +
    'is wrong from the first place on. The right one differs in its last bits.'
}, (p) => {
  const LEFT = 28, WIDE = 7
  const places = partings('called').length
  p.text(0, 0, 'largest difference behind', { strong: true })
  for (let place = 0; place < places; ++place) {
    const name = place === 0 ? 'embed' : place % 2 === 1 ? 'attn' : 'MLP'
    p.text(LEFT + place * WIDE, 0, name)
    if (place % 2 === 1) p.text(LEFT + place * WIDE, 1, `layer ${(place - 1) / 2}`, { muted: true })
  }
  VERSIONS.forEach(([version, words], row) => {
    const y = 2 + 2 * row
    p.text(0, y, words)
    p.cells(LEFT, y, WIDE, partings(version).map(magnitude), {
      tones: partings(version).map((d) => (d > 1e-3 ? 6 : d > 0 ? 2 : 1))
    })
  })
})
