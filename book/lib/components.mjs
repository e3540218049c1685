// Components in the lessons: a name that no component has fails the build (Vue only
// warns), and each figure gets a frame by which the offline copy finds it again.

import fs from 'node:fs'
import path from 'node:path'
import { ROOT, sourceOf } from './pages.mjs'

const BUILT_IN = ['ClientOnly', 'Content', 'Badge', 'VPTeamMembers']

/** "bank-conflicts" is <BankConflicts />. */
export const pascal = (name) => name.replace(/(^|-)(\w)/g, (_, dash, c) => c.toUpperCase())

const list = (folder) => {
  const absolute = path.join(ROOT, 'book', folder)
  return fs.existsSync(absolute) ? fs.readdirSync(absolute) : []
}

/** Names of the figures that have a view. */
export function figureNames() {
  const hasView = (name) => fs.existsSync(path.join(ROOT, 'book/figures', name, 'Figure.vue'))
  return list('figures').filter(hasView).map(pascal)
}

/** Names of all components that a lesson may use. */
export function componentNames() {
  const shared = list('components').filter((name) => name.endsWith('.vue'))
  return [...BUILT_IN, ...shared.map((name) => name.slice(0, -4)), ...figureNames()]
}

/** The static attributes of a tag as an object; null if one of them is bound. */
export function attributesOf(text) {
  const attributes = {}
  for (const [, name, , value] of text.matchAll(/([:@\w-]+)(="([^"]*)")?/g)) {
    if (/^[:@]|^v-/.test(name)) return null
    attributes[name] = value ?? true
  }
  return attributes
}

const escapeAttribute = (text) => text.replace(/&/g, '&amp;').replace(/"/g, '&quot;')

/** <Name a="b" /> alone in a block, in a frame that names it. */
function framed(html, figures) {
  const match = /^<([A-Z]\w*)((?:\s+[:@\w-]+(?:="[^"]*")?)*)\s*(?:\/>|><\/\1>)\s*$/.exec(html)
  if (!match || !figures.has(match[1])) return html
  const props = attributesOf(match[2])
  if (!props) return html
  const data = escapeAttribute(JSON.stringify(props))
  return `<div data-wb-figure="${match[1]}" data-wb-props="${data}">${html.trim()}</div>\n`
}

export function componentsPlugin(md) {
  md.core.ruler.push('wb_components', (state) => {
    const known = new Set(componentNames())
    const figures = new Set(figureNames())
    const lesson = sourceOf(state.env)
    const check = (token) => {
      for (const [, name] of token.content.matchAll(/<([A-Z]\w*)/g)) {
        if (known.has(name)) continue
        console.warn(`${lesson} uses <${name}>, but no component has that name`)
      }
    }
    for (const token of state.tokens) {
      if (token.type === 'html_block') {
        check(token)
        token.content = framed(token.content, figures)
      }
      token.children?.filter((child) => child.type === 'html_inline').forEach(check)
    }
  })
}
