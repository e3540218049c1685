// Links in the lessons are relative paths of files, so that they work wherever the
// Markdown is read. The book turns them into addresses of pages, or into links to the
// file where it is no page. A link to nothing fails the build.

import fs from 'node:fs'
import path from 'node:path'
import { readingOrder, ROOT, sourceOf } from './pages.mjs'
import { placeOf } from './place.mjs'
import { recent } from './recent.mjs'
import { linkToSource } from './sources.mjs'

/** WARPBOOK_DRAFT=1 lets one look at a page before those that it links to are there. */
const DRAFT = process.env.WARPBOOK_DRAFT === '1'

/** Addresses of all pages by their source files. */
function addresses() {
  return new Map(readingOrder().map((p) => [p.file, p.url]))
}

const isRelative = (href) => !/^(?:[a-z][a-z0-9+.-]*:|\/|#)/i.test(href) && href !== ''

/** What a folder stands for: the page in it. */
function pageIn(folder, urls) {
  const names = ['lesson.md', 'README.md', 'index.md']
  return names.map((name) => path.join(folder, name)).find((file) => urls.has(file))
}

/**
 * The address that a relative link stands for; null for a folder without a page, which
 * only a code host can show.
 * @param {string} href    as written
 * @param {string} source  the page that has it, from the root of the repository
 * @param {Map<string, string>} urls
 * @param {string} [place]  where in the page, for the message
 */
export function resolveLink(href, source, urls, place = source) {
  const [, target, hash] = /^([^#?]*)[^#]*(#.*)?$/.exec(href)
  const file = path.join(path.dirname(source), decodeURIComponent(target))
  const asPage = urls.has(file) ? file : pageIn(file, urls)
  if (asPage) return urls.get(asPage) + (hash ?? '')
  const absolute = path.join(ROOT, file)
  const inside = !file.startsWith('..')
  if (inside && fs.existsSync(absolute)) {
    return linkToSource(file)
  }
  throw new Error(`${place} links to ${href}, but there is no ${file}`)
}

/** The address that `resolve` finds; in a draft null instead of an error. */
function drafted(resolve) {
  try {
    return resolve()
  } catch (error) {
    if (!DRAFT) throw error
    console.warn(`draft: ${error.message}`)
    return null
  }
}

/** The tokens of a paragraph, links rewritten, or dropped if they lead nowhere. */
function rewritten(tokens, source, urls, env) {
  let dropped = false
  return tokens.filter((token) => {
    if (token.type === 'link_close' && dropped) {
      dropped = false
      return false
    }
    if (token.type !== 'link_open' || !isRelative(token.attrGet('href'))) return true
    const href = token.attrGet('href')
    const url = drafted(() => resolveLink(href, source, urls, placeOf(env, href)))
    if (url) token.attrSet('href', url)
    dropped = !url
    return !dropped
  })
}

/** Rewrites the links of all paragraphs, headings, cells. */
export function linksPlugin(md) {
  const all = recent(addresses)
  md.core.ruler.push('wb_links', (state) => {
    const source = sourceOf(state.env)
    if (!source) return
    const urls = all()
    for (const block of state.tokens) {
      if (block.children) block.children = rewritten(block.children, source, urls, state.env)
    }
  })
}
