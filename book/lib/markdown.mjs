// How Markdown becomes the book's HTML: everything that is not VitePress's own.

import { colourTransformer, rememberLines, theme } from './code-colours.mjs'
import { componentsPlugin } from './components.mjs'
import { diffTransformer } from './diff-code.mjs'
import { glossaryPlugin } from './glossary.mjs'
import { cuda, ptx } from './grammar.mjs'
import { imagesPlugin } from './images.mjs'
import { lessonPlugin } from './lesson.mjs'
import { linksPlugin } from './links.mjs'
import { mathPlugin } from './math.mjs'
import { numbersPlugin } from './numbers-markdown.mjs'
import { loadPictures, picturesPlugin } from './pictures.mjs'
import { placesPlugin } from './place.mjs'
import { snippetsPlugin } from './snippets.mjs'
import { sectionsPlugin } from './search.mjs'
import { BASE } from './sources.mjs'

/** Braces in code are text: Vue would take `{{1, 2}}` for an expression of its own. */
function bracesPlugin(md) {
  md.core.ruler.push('braces', ({ tokens }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? []))
      if (token.type === 'code_inline' && token.content.includes('{{'))
        token.attrSet('v-pre', '')
  })
}

/** Where the first column of a table has no heading, its cells are the rows' headings. */
export function rowHeadingsPlugin(md) {
  md.core.ruler.push('row_headings', ({ tokens }) => {
    let first = false // the next cell is the first of its row
    let named = false // the rows of this table have headings
    let inHead = false
    tokens.forEach((token, i) => {
      if (token.type === 'thead_open') inHead = true
      if (token.type === 'thead_close') inHead = false
      if (token.type === 'tr_open') first = true
      if (!first || !/^t[hd]_open$/.test(token.type)) return
      first = false
      if (inHead) named = tokens[i + 1].content.trim() === ''
      else if (named) {
        const close = tokens.slice(i).find(({ type }) => type === 'td_close')
        token.tag = close.tag = 'th'
        token.attrSet('scope', 'row')
      }
    })
  })
}

const pictures = await loadPictures()

/** The option `markdown` of VitePress. */
export const markdown = {
  languages: [cuda, ptx],
  theme,
  shikiSetup: rememberLines,
  codeTransformers: [diffTransformer(), colourTransformer()],
  toc: { level: [2, 3] },
  config(md) {
    md.use(placesPlugin)
    md.use(mathPlugin)
    md.use(numbersPlugin)
    md.use(picturesPlugin, pictures)
    md.use(snippetsPlugin)
    md.use(lessonPlugin)
    md.use(linksPlugin)
    md.use(componentsPlugin)
    md.use(imagesPlugin)
    md.use(glossaryPlugin, BASE)
    md.use(bracesPlugin)
    md.use(rowHeadingsPlugin)
    md.use(sectionsPlugin)
  }
}
