// Full-text search: what counts as a word. The two functions travel to the browser as
// their own text (VitePress serialises them), so each must be complete in itself.

import { splitFrontMatter } from './facts.mjs'

/**
 * The terms under which a text is found: words, identifiers with and without their
 * parts, ends of words (so that "coalesced" finds "uncoalesced"; beginnings are found
 * by prefix), and for Chinese, Japanese and Korean single characters and pairs.
 * @param {string} text
 * @returns {string[]}
 */
export function indexTerms(text) {
  const shortestEnd = 4
  const terms = []
  const ends = (word) => {
    for (let i = 1; word.length - i >= shortestEnd; i++) terms.push(word.slice(i))
  }
  const ideographs =
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+/gu
  const rest = text.normalize('NFKC').replace(ideographs, (run) => {
    const characters = [...run]
    characters.forEach((character, i) => {
      terms.push(character)
      if (i + 1 < characters.length) terms.push(character + characters[i + 1])
    })
    return ' '
  })
  for (const [raw] of rest.matchAll(/[\p{L}\p{N}_]+/gu)) {
    const word = raw.replace(/^_+|_+$/g, '')
    if (word === '') continue
    const parts = word
      .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1_$2')
      .toLowerCase()
      .split(/_+/)
    terms.push(word.toLowerCase())
    if (parts.length === 1) {
      ends(parts[0])
      continue
    }
    // "shfl_xor_sync" is also found as "xor_sync", "shfl", "xor" and "sync".
    const glue = word.includes('_') ? '_' : ''
    for (let i = 1; i < parts.length; i++) terms.push(parts.slice(i).join(glue))
    for (const part of parts) if (part.length > 1) terms.push(part)
    for (const part of parts) ends(part)
  }
  return [...new Set(terms)]
}

/**
 * The terms that a query asks for; each of them must be found.
 * @param {string} query
 * @returns {string[]}
 */
export function queryTerms(query) {
  const terms = []
  const ideographs =
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+/gu
  const rest = query.normalize('NFKC').replace(ideographs, (run) => {
    const characters = [...run]
    if (characters.length === 1) terms.push(run)
    for (let i = 0; i + 1 < characters.length; i++) {
      terms.push(characters[i] + characters[i + 1])
    }
    return ' '
  })
  for (const [raw] of rest.matchAll(/[\p{L}\p{N}_]+/gu)) {
    const word = raw.replace(/^_+|_+$/g, '').toLowerCase()
    if (word !== '') terms.push(word)
  }
  return terms
}

/**
 * Typing errors are forgiven in words that are long enough to have one: two letters in
 * the wrong order are two errors.
 */
export function fuzziness(term) {
  if (!/^[a-z]{6,}$/.test(term)) return false
  return term.length < 7 ? 1 : 2
}

/** Options of MiniSearch that the index and every search of it share. */
export const miniSearch = {
  options: { tokenize: indexTerms, storeFields: ['title', 'titles', 'text'] },
  searchOptions: {
    tokenize: queryTerms,
    combineWith: 'AND',
    prefix: true,
    fuzzy: fuzziness,
    boost: { title: 6, titles: 2, text: 1 }
  }
}

const SEARCHED = ['text', 'code_inline', 'softbreak', 'hardbreak']

/** What a reader sees of a paragraph, without formulas and markup. */
function plain(token) {
  const children = (token.children ?? []).filter((child) =>
    SEARCHED.includes(child.type)
  )
  return children.map((child) => child.content || ' ').join('')
}

const withoutTags = (html) => html.replace(/<[^>]*>/g, ' ')

/**
 * A page as sections under their headings.
 * @param {object[]} tokens  of markdown-it
 * @returns {{anchor: string, titles: string[], text: string}[]}
 */
export function sectionsOf(tokens) {
  const sections = []
  let titles = []
  tokens.forEach((token, i) => {
    if (token.type === 'heading_open' && token.attrGet('id') !== null) {
      const level = Number(token.tag.slice(1)) - 1
      titles = [...titles.slice(0, level), plain(tokens[i + 1]).trim()]
      const anchor = level === 0 ? '' : token.attrGet('id')
      sections.push({ anchor, titles: titles.filter(Boolean), text: '' })
    } else if (sections.length > 0) {
      const last = sections.at(-1)
      if (tokens[i - 1]?.type === 'heading_open') return
      if (token.type === 'inline') last.text += `${plain(token)}\n`
      if (token.type === 'fence') last.text += `${token.content}\n`
      if (token.type === 'html_block') last.text += `${withoutTags(token.content)}\n`
      if (token.type === 'container_details_open') {
        last.text += `${token.info.trim().replace(/^details/, '')}\n`
      }
    }
  })
  return sections
}

/** Terms are also found by the words of others: "also: double buffering". */
function withOtherNames(sections, { also }) {
  if (also && sections.length > 0) sections[0].text += `Also: ${also}.\n`
  return sections
}

const known = new Map() // file -> { sections, found }

/** The sections of a file, as a promise that `found` keeps. */
function sectionsLater(file) {
  if (!known.has(file)) {
    let found
    const sections = new Promise((resolve) => (found = resolve))
    known.set(file, { sections, found })
  }
  return known.get(file)
}

/** A plug-in of markdown-it: a page that is rendered leaves its sections for the index. */
export function sectionsPlugin(md) {
  md.core.ruler.push('wb_sections', ({ env, tokens }) => {
    if (env?.realPath) sectionsLater(env.realPath).found(sectionsOf(tokens))
  })
}

/** A build renders every page: to read it a second time costs as much as the first. */
const isBuild = () => process.env.NODE_ENV === 'production'

/** The option `search` of the theme. */
export const search = {
  provider: 'local',
  options: {
    miniSearch: {
      ...miniSearch,
      _splitIntoSections: (file, json) => JSON.parse(json)
    },
    /** Not HTML: colouring all code once more would double the time of a build. */
    async _render(source, env, md) {
      const { data, body } = splitFrontMatter(source)
      if (data.search === 'false') return '[]'
      const sections = isBuild()
        ? await sectionsLater(env.path).sections
        : sectionsOf(md.parse(body, env))
      return JSON.stringify(withOtherNames(sections, data))
    },
    detailedView: true,
    translations: { button: { buttonText: 'Search', buttonAriaLabel: 'Search' } }
  }
}
