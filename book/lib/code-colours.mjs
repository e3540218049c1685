// The colours of code. Shiki would read all code twice, once for each of two themes, and
// write both colours at every word. So one theme stands for both: its colours are numbers,
// which become classes, and a style sheet gives each class its two colours.

import dark from 'shiki/themes/github-dark-high-contrast.mjs'
import light from 'shiki/themes/github-light-high-contrast.mjs'

const FOREGROUND = 'editor.foreground'

/** Pairs of colours, the plain text's first; the place is the number of the class. */
const pairs = [[light.colors[FOREGROUND], dark.colors[FOREGROUND]]]

/** The number of a pair as a colour: "#000003". */
function numbered(first, second) {
  const known = pairs.findIndex(([a, b]) => a === first && b === second)
  const number = known < 0 ? pairs.push([first, second]) - 1 : known
  return `#${number.toString(16).padStart(6, '0')}`
}

const sameScopes = light.tokenColors.every(
  ({ scope }, i) => String(scope) === String(dark.tokenColors[i].scope)
)
if (!sameScopes) throw new Error('the two themes of code differ in more than colours')

/** The theme that Shiki is given. */
export const theme = {
  name: 'warpbook',
  type: 'light',
  colors: { [FOREGROUND]: numbered(...pairs[0]), 'editor.background': '#ffffff' },
  tokenColors: light.tokenColors.map(({ scope, settings }, i) => {
    const { fontStyle, foreground } = settings
    const other = dark.tokenColors[i].settings.foreground
    const colour = foreground ? { foreground: numbered(foreground, other) } : {}
    return { scope, settings: { ...(fontStyle ? { fontStyle } : {}), ...colour } }
  })
}

/** The style sheet of all classes. */
export function styleSheet() {
  const rules = pairs.map(([first, second], i) => {
    const what = i === 0 ? '' : ` .c${i}`
    return (
      `html:not(.dark) .vp-code${what}{color:${first}}` +
      `.dark .vp-code${what}{color:${second}}`
    )
  })
  return `.vp-code span{color:inherit}\n${rules.join('\n')}\n`
}

/** The light colours alone, for a book without a dark mode of its own. */
export const lightColours = () =>
  pairs.map(([first], i) => `.vp-code${i === 0 ? '' : ` .c${i}`}{color:${first}}`).join('\n')

/** The same with neighbours of one look as one; blanks have any look. */
export function joined(tokens) {
  const result = []
  for (const token of tokens) {
    const last = result.at(-1)
    const blank = token.content.trim() === '' && !token.fontStyle
    const same =
      last?.color === token.color &&
      (last?.fontStyle ?? 0) === (token.fontStyle ?? 0)
    if (last && (same || (blank && !last.fontStyle))) last.content += token.content
    else result.push({ ...token })
  }
  return result
}

const COLOUR = /^color:#([0-9a-f]{6});?/i

/** Plain words need no element; the others get their class. */
function classed(node) {
  if (node.tagName !== 'span') return node
  const { style, ...rest } = node.properties
  const number = parseInt(COLOUR.exec(style ?? '')?.[1] ?? '0', 16)
  const others = (style ?? '').replace(COLOUR, '')
  if (number === 0 && others === '') return node.children[0]
  const looks = {
    ...(number === 0 ? {} : { class: `c${number}` }),
    ...(others === '' ? {} : { style: others })
  }
  return { ...node, properties: { ...rest, ...looks } }
}

/** A transformer for Shiki. */
export function colourTransformer() {
  return {
    name: 'wb-colours',
    tokens: (lines) => lines.map(joined),
    // How high it is: a browser need not lay out code before it comes near.
    pre(node) {
      node.properties.style = `--wb-lines:${this.lines.length}`
    },
    line(node) {
      node.children = node.children.map(classed)
    }
  }
}

/**
 * What a grammar says of a line depends on the line and on the state before it, and the
 * versions of a ladder share most of their lines. Shiki 2 even reads all code twice, the
 * second time for the state at its end.
 * @param {function} tokenize  tokenizeLine2 of a grammar: (line, state, milliseconds)
 */
export function remembering(tokenize) {
  const known = new Map() // state -> line -> result
  const states = new Map() // depth -> one of each that differ
  const oneOf = (state) => {
    const alike = states.get(state.depth) ?? []
    states.set(state.depth, alike)
    return alike.find((other) => other.equals(state)) ?? alike[alike.push(state) - 1]
  }
  return (line, state, milliseconds) => {
    if (!known.has(state)) known.set(state, new Map())
    const lines = known.get(state)
    if (lines.has(line)) return lines.get(line)
    const result = tokenize(line, state, milliseconds)
    if (result.stoppedEarly) return result // on a busy machine; it may do better next time
    result.ruleStack = oneOf(result.ruleStack)
    lines.set(line, result)
    return result
  }
}

/** For VitePress's Shiki: all grammars remember. */
export function rememberLines(highlighter) {
  const context = highlighter.getInternalContext()
  const { getLanguage } = context
  const seen = new Set()
  context.getLanguage = (name) => {
    const grammar = getLanguage.call(context, name)
    if (grammar?.tokenizeLine2 && !seen.has(grammar)) {
      seen.add(grammar)
      grammar.tokenizeLine2 = remembering(grammar.tokenizeLine2.bind(grammar))
    }
    return grammar
  }
}

const NAME = 'virtual:code-colours.css'

/** The style sheet for the theme of the book: import 'virtual:code-colours.css'. */
export function coloursPlugin() {
  return {
    name: 'warpbook:code-colours',
    resolveId: (id) => (id === NAME ? `\0${NAME}` : null),
    load: (id) => (id === `\0${NAME}` ? styleSheet() : null)
  }
}
