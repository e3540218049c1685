// Where in a page something stands, so that a message names file and line.

import fs from 'node:fs'
import { sourceOf } from './pages.mjs'

/** Keeps a page's text: what is found later is looked for in it. */
export function placesPlugin(md) {
  md.core.ruler.before('normalize', 'wb_places', (state) => {
    if (!state.inlineMode) state.env.text = state.src
  })
}

/** The line of a text that first has `words`, from 1; 0 if none has. */
function lineOf(text, words) {
  return text.split('\n').findIndex((line) => line.includes(words)) + 1
}

/**
 * "FILE:LINE" of the first line of a page that has `words`; "FILE" if none has.
 * VitePress takes a page's front matter away before it is read: so lines are those of
 * the file itself, unless it is not the file that is rendered.
 * @param {object} env   of markdown-it
 * @param {string} words  in one line
 */
export function placeOf(env, words) {
  const source = sourceOf(env)
  if (!source) return 'a text that is in no file'
  const file = env.realPath ?? env.path
  const rendered = lineOf(env.text ?? '', words)
  if (rendered === 0) return source
  const written = fs.existsSync(file) ? lineOf(fs.readFileSync(file, 'utf8'), words) : 0
  return `${source}:${written || rendered}`
}

/** How many lines of a page's file, its front matter, stand before what is rendered. */
function linesAbove(env) {
  const file = env.realPath ?? env.path
  if (!fs.existsSync(file)) return 0
  const written = fs.readFileSync(file, 'utf8')
  const text = env.text ?? ''
  if (!written.endsWith(text)) return 0
  return written.slice(0, written.length - text.length).split('\n').length - 1
}

/** "line N: words", as what reads a text alone says it, as "FILE:LINE: words". */
export function placed(env, message) {
  const [, line, words] = /^line (\d+): ([^]*)$/.exec(message) ?? []
  const source = sourceOf(env)
  if (line === undefined) return `${source}: ${message}`
  return `${source}:${Number(line) + linesAbove(env)}: ${words}`
}
