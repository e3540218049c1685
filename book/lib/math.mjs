// Formulas, set by KaTeX while the book is built: $...$ in a line, $$...$$ as a block
// of its own. A formula that KaTeX cannot read fails the build.

import katex from 'katex'
import { decodeEntities } from './html.mjs'
import { FORMULAS } from './fonts.mjs'
import { placeOf } from './place.mjs'

const LETTERS = new Set(`${FORMULAS}\u200b\ue020`)

/** What the fonts of formulas draw. */
function drawnLetters(html) {
  const drawn = html.slice(html.indexOf('<span class="katex-html"'))
  return decodeEntities(drawn.replace(/<[^>]*>/g, ''))
}

/** The HTML of a formula; MathML in it serves those who do not see it. */
export function renderMath(tex, displayMode) {
  let html
  try {
    html = katex.renderToString(tex.trim(), {
      displayMode,
      throwOnError: true,
      strict: 'error',
      output: 'htmlAndMathml'
    })
  } catch (error) {
    throw new Error(`the formula ${tex.trim()} cannot be set: ${error.message}`)
  }
  const foreign = [...drawnLetters(html)].find((letter) => !LETTERS.has(letter))
  if (foreign) {
    throw new Error(
      `the formula ${tex.trim()} has "${foreign}", which lib/fonts.mjs leaves out`)
  }
  return html
}

const isSpace = (char) => char === undefined || /\s/.test(char)

/**
 * Where the formula that begins at `start` ends: the closing dollar's index, or -1.
 * As in Pandoc: nothing but text next to the inner sides of the dollars, and no digit
 * after the closing one, so that "costs $5 or $6" is no formula.
 */
export function closingDollar(text, start) {
  if (isSpace(text[start + 1]) || text[start + 1] === '$') return -1
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === '$') {
      return isSpace(text[i - 1]) || /\d/.test(text[i + 1] ?? '') ? -1 : i
    }
  }
  return -1
}

function inlineRule(state, silent) {
  if (state.src[state.pos] !== '$') return false
  if (state.src[state.pos + 1] === '$') return displayInLine(state, silent)
  const end = closingDollar(state.src, state.pos)
  if (end < 0) return false
  if (!silent) {
    const token = state.push('math_inline', 'math', 0)
    token.content = state.src.slice(state.pos + 1, end)
  }
  state.pos = end + 1
  return true
}

/** $$...$$ in the middle of a paragraph. */
function displayInLine(state, silent) {
  const end = state.src.indexOf('$$', state.pos + 2)
  if (end < 0) {
    const [rest] = state.src.slice(state.pos).split('\n')
    throw new Error(`${placeOf(state.env, rest)}: "$$" without its end: ${rest}`)
  }
  if (!silent) {
    const token = state.push('math_display', 'math', 0)
    token.content = state.src.slice(state.pos + 2, end)
  }
  state.pos = end + 2
  return true
}

function blockRule(state, startLine, endLine, silent) {
  const lineAt = (n) =>
    state.src.slice(state.bMarks[n] + state.tShift[n], state.eMarks[n])
  if (!lineAt(startLine).startsWith('$$')) return false
  let text = lineAt(startLine).slice(2)
  let line = startLine
  while (!text.includes('$$')) {
    line += 1
    if (line >= endLine) {
      const place = placeOf(state.env, lineAt(startLine))
      throw new Error(`${place}: "$$" has no end`)
    }
    text += `\n${lineAt(line)}`
  }
  const [tex, rest] = text.split('$$')
  if (rest.trim() !== '') return false // a paragraph that begins with a formula
  if (silent) return true
  const token = state.push('math_block', 'math', 0)
  token.block = true
  token.content = tex
  token.map = [startLine, line + 1]
  state.line = line + 1
  return true
}

export function mathPlugin(md) {
  md.inline.ruler.after('escape', 'wb_math', inlineRule)
  md.block.ruler.before('fence', 'wb_math', blockRule, {
    alt: ['paragraph', 'blockquote', 'list']
  })
  const wrap = (tag, displayMode) => (tokens, index, options, env) => {
    const { content } = tokens[index]
    let html
    try {
      html = renderMath(content, displayMode)
    } catch (error) {
      const [first] = content.trim().split('\n')
      throw new Error(`${placeOf(env, first)}: ${error.message}`)
    }
    const focus = displayMode ? ' tabindex="0"' : ''
    return `<${tag} class="wb-math" v-pre${focus}>${html}</${tag}>`
  }
  md.renderer.rules.math_inline = wrap('span', false)
  md.renderer.rules.math_display = wrap('span', true)
  md.renderer.rules.math_block = (...args) => `${wrap('div', true)(...args)}\n`
}
