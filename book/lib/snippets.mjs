// Code in the lessons: "<<< ./file.cu#region{cuda}" becomes the region's code, with the
// name of the file below it. A file or a region that is not there fails the build. Of an
// edit, "<<< ./file.diff{cuda}" shows the lines after it, "{diff}" the edit itself.

import path from 'node:path'
import { snippet } from './markers.mjs'
import { ROOT, sourceOf } from './pages.mjs'
import { placeOf } from './place.mjs'
import { BASE, linkToSource } from './sources.mjs'

/** "Listing 6.8-3" is the third one of day 6, chapter 08; other pages count from 1. */
function listing(lesson, count) {
  const chapter = /^day0*(\d+)-[^/]*\/0*(\d+)-[^/]*\//.exec(lesson)
  return chapter ? `Listing ${chapter[1]}.${chapter[2]}-${count}` : `Listing ${count}`
}

/** The line below a piece of code. */
function caption(name, file, { first, last }, whole) {
  const label = whole ? file : `${file}:${first}-${last}`
  const href = linkToSource(file, whole ? null : { first, last }).replace(/^\//, BASE)
  return `<p class="wb-source" v-pre><span>${name}</span> ` +
    `<a href="${href}">${label}</a></p>\n`
}

/**
 * Fills in what VitePress's own rule for "<<<" has left as fences with a source. That
 * rule then finds nothing to do.
 */
export function snippetsPlugin(md) {
  md.core.ruler.after('block', 'wb_snippets', (state) => {
    const lesson = sourceOf(state.env)
    const result = []
    let count = 0
    let waiting = null // captions of a group of tabs come after the group
    for (const token of state.tokens) {
      result.push(token)
      if (token.type === 'container_code-group_open') waiting = []
      if (token.type === 'container_code-group_close') {
        result.push(...waiting)
        waiting = null
      }
      if (token.type !== 'fence' || !token.src) continue
      const [absolute, region] = token.src
      const file = path.relative(ROOT, absolute)
      let code
      try {
        code = snippet(file, region, /^\w*/.exec(token.info)[0])
      } catch (error) {
        const words = path.basename(file) + (region ? `#${region}` : '')
        throw new Error(`${placeOf(state.env, words)}: ${error.message}`)
      }
      state.env.includes?.push(absolute)
      token.content = code.text
      delete token.src
      const below = new state.Token('html_block', '', 0)
      const whole = !region || file.endsWith('.diff')
      below.content = caption(listing(lesson, ++count), file, code, whole)
      below.level = token.level
      if (waiting) waiting.push(below)
      else result.push(below)
    }
    state.tokens = result
  })
}
