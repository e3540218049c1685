// VitePress's search box loads each page that it found, and draws all of it, to show a
// part. The book's index has the text, so the box takes the part from there.

import path from 'node:path'
import { ROOT } from './pages.mjs'

const EXCERPT = path.join(ROOT, 'book/lib/excerpt.mjs')
const HEAD = '<script lang="ts" setup>'

/** What is replaced in the box, and by what. */
const CHANGES = [
  [HEAD, `${HEAD}\nimport { excerptOf } from '${EXCERPT}'`],
  [/const mods = showDetailedListValue\s+\?[^:]+: \[\]/, 'const mods = []'],
  ["const text = map?.get(anchor) ?? ''", 'const text = excerptOf(r.text, Object.keys(r.match))']
]

/** The box as the book has it. */
export function withExcerpts(code) {
  return CHANGES.reduce((text, [from, to]) => {
    const made = text.replace(from, () => to)
    if (made === text) throw new Error(`VitePress's search box has no ${from} any more`)
    return made
  }, code)
}

export function excerptsPlugin() {
  return {
    name: 'warpbook:excerpts',
    enforce: 'pre',
    transform: (code, id) =>
      /VPLocalSearchBox\.vue$/.test(id) ? withExcerpts(code) : null
  }
}
