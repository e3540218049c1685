// The glossary, one term a page in book/pages/glossary, and the links to it: where a
// term appears for the first time in a page's prose, it becomes a link that shows the
// definition. Each term once a page; nothing within code, headings, links and tables.
//
// A term's page begins with
//
//   ---
//   title: Warp
//   words: warp, warps          what is linked; capitals count if there are any
//   where: day01, docs         optional: only in pages whose path begins so
//   ---

import { splitFrontMatter } from './facts.mjs'
import { glossary, read, sourceOf } from './pages.mjs'
import { recent } from './recent.mjs'

/**
 * @typedef {{title: string, url: string, file: string, words: string[],
 *   where: string[], definition: string}} Term
 */

/** Markdown of one paragraph as plain text. */
export function plain(markdown) {
  return markdown
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replace(/(\*\*|[*`$])/g, '')
    .replace(/\\(?:cdot|times)\b/g, '×')
    .replace(/\s+/g, ' ')
    .trim()
}

/** The first sentence below the heading: the definition. */
export function definitionOf(body) {
  const paragraph = body.replace(/^#.*$/m, '').trim().split(/\n\s*\n/)[0]
  const sentence = /^[\s\S]*?[.](?=\s+[A-Z(`*]|\s*$)/.exec(paragraph)
  return plain(sentence?.[0] ?? paragraph)
}

const parts = (text) => text.split(',').map((part) => part.trim()).filter(Boolean)

/** All terms, from their pages. @returns {Term[]} */
export function terms() {
  return glossary()
    .filter((page) => page.data.words)
    .map(({ file, url, title, data }) => ({
      file,
      url,
      title,
      words: parts(data.words),
      where: data.where ? parts(data.where) : [''],
      definition: definitionOf(splitFrontMatter(read(file)).body)
    }))
}

const escapeRegExp = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/**
 * What finds the words of some terms in a text, and says whose they are.
 * @param {Term[]} list
 */
export function finder(list) {
  const owner = new Map()
  for (const term of list) {
    for (const word of term.words) {
      if (owner.has(word)) {
        throw new Error(`the glossary has "${word}" twice: ${owner.get(word).file}, ` +
          term.file)
      }
      owner.set(word, term)
    }
  }
  // The longest first: "shared memory" before "memory".
  const words = [...owner.keys()].sort((a, b) => b.length - a.length)
  if (words.length === 0) return () => []
  const any = words.map((word) => escapeRegExp(word).replace(/ /g, '\\s')).join('|')
  const pattern = new RegExp(`(?<![\\w-])(?:${any})(?![\\w-])`, 'gi')
  return (text) =>
    [...text.matchAll(pattern)].flatMap((match) => {
      const [word] = match
      const normal = word.replace(/\s/g, ' ')
      const small = normal.toLowerCase()
      const term = owner.get(normal) ?? owner.get(small)
      return term ? [{ term, word, index: match.index }] : []
    })
}

/** A text token cut where a term begins and ends. */
function withLinks(state, token, hits) {
  const made = []
  const add = (type, tag, nesting, content = '') => {
    const piece = new state.Token(type, tag, nesting)
    piece.content = content
    piece.level = token.level
    made.push(piece)
    return piece
  }
  let at = 0
  for (const { term, word, index } of hits) {
    if (index > at) add('text', '', 0, token.content.slice(at, index))
    const open = add('link_open', 'a', 1)
    open.attrSet('href', term.url)
    open.attrSet('class', 'wb-term')
    open.attrSet('title', term.definition)
    add('text', '', 0, word)
    add('link_close', 'a', -1)
    at = index + word.length
  }
  if (at < token.content.length) add('text', '', 0, token.content.slice(at))
  return made
}

/** A term may be broken into two lines: lines are put together before one looks. */
function joinLines(children) {
  const joined = []
  for (const token of children) {
    const last = joined.at(-1)
    const text = { text: token.content, softbreak: '\n' }[token.type]
    if (text !== undefined && last?.type === 'text') last.content += text
    else joined.push(token)
  }
  return joined
}

/** Links the first words of terms that are not in `seen` yet, and adds them to it. */
function linkInline(state, children, find, seen) {
  let inLink = 0
  return joinLines(children).flatMap((token) => {
    if (token.type === 'link_open') inLink++
    if (token.type === 'link_close') inLink--
    if (token.type !== 'text' || inLink > 0) return [token]
    const hits = find(token.content).filter(({ term }) => {
      if (seen.has(term)) return false
      seen.add(term)
      return true
    })
    return hits.length > 0 ? withLinks(state, token, hits) : [token]
  })
}

const escapeHtml = (text) =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;')

/** The list that stands in the place of "<!-- glossary -->". */
export function listHtml(list, base = '/') {
  const rows = list.map(({ title, url, definition }) => {
    const href = base + url.slice(1)
    const term = `<a href="${href}">${escapeHtml(title)}</a>`
    return `<dt>${term}</dt><dd>${escapeHtml(definition)}</dd>`
  })
  return `<dl class="wb-glossary">${rows.join('\n')}</dl>\n`
}

/** Opening tokens of what is no prose. */
const CLOSED = { heading_open: 'heading_close', table_open: 'table_close' }

/** Links all first uses in a page. `all` gives the terms. */
export function linkTerms(state, source, all) {
  const fitting = all.filter(
    ({ file, where }) => file !== source && where.some((w) => source.startsWith(w))
  )
  const find = finder(fitting)
  const seen = new Set()
  for (const block of state.tokens) {
    for (const child of block.children ?? []) {
      // Somebody has linked it by hand.
      if (child.type !== 'link_open') continue
      const name = /([\w-]+)\.(?:md|html)$/.exec(child.attrGet('href'))?.[1]
      const term = fitting.find(({ file }) => file.endsWith(`/${name}.md`))
      if (term) seen.add(term)
    }
  }
  let until = null
  for (const block of state.tokens) {
    if (until) {
      if (block.type === until) until = null
    } else if (CLOSED[block.type]) {
      until = CLOSED[block.type]
    } else if (block.type === 'inline') {
      block.children = linkInline(state, block.children, find, seen)
    }
  }
}

/** @param {string} base  what every address begins with */
export function glossaryPlugin(md, base = '/') {
  const all = recent(terms)
  md.core.ruler.push('wb_glossary', (state) => {
    const source = sourceOf(state.env)
    if (!source) return
    for (const token of state.tokens) {
      if (token.type === 'html_block' && token.content.trim() === '<!-- glossary -->') {
        token.content = listHtml(all(), base)
      }
    }
    linkTerms(state, source, all())
  })
}
