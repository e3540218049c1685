// Components in the lessons: a name that no component has fails the build; Vue would
// only warn.

import fs from 'node:fs'
import path from 'node:path'
import { ROOT } from './pages.mjs'
import { placeOf } from './place.mjs'
import { recent } from './recent.mjs'

const BUILT_IN = ['ClientOnly', 'Content', 'Badge', 'VPTeamMembers']

/** "bank-conflicts" is <BankConflicts />. */
export const pascal = (name) =>
  name.replace(/(^|-)(\w)/g, (_, dash, c) => c.toUpperCase())

const list = (folder) => {
  const absolute = path.join(ROOT, 'book', folder)
  return fs.existsSync(absolute) ? fs.readdirSync(absolute) : []
}

/** Names of the figures that have a view. */
export function figureNames() {
  const hasView = (name) =>
    fs.existsSync(path.join(ROOT, 'book/figures', name, 'Figure.vue'))
  return list('figures').filter(hasView).map(pascal)
}

/** Names of all components that a lesson may use. */
export function componentNames() {
  const shared = list('components').filter((name) => name.endsWith('.vue'))
  return [...BUILT_IN, ...shared.map((name) => name.slice(0, -4)), ...figureNames()]
}

/**
 * The names of tags in HTML that could be components and are none.
 * @param {string} html
 * @param {Set<string>} known
 */
export function unknownComponents(html, known) {
  const names = [...html.matchAll(/<([A-Z]\w*)/g)].map(([, name]) => name)
  return names.filter((name) => !known.has(name))
}

export function componentsPlugin(md) {
  const names = recent(() => new Set(componentNames()))
  md.core.ruler.push('wb_components', (state) => {
    const known = names()
    const tokens = state.tokens.flatMap((token) => [token, ...(token.children ?? [])])
    for (const token of tokens) {
      if (token.type !== 'html_block' && token.type !== 'html_inline') continue
      const [name] = unknownComponents(token.content, known)
      if (!name) continue
      const place = placeOf(state.env, `<${name}`)
      throw new Error(`${place} uses <${name}>, but no component has that name`)
    }
  })
}
