// VitePress bundles the book twice, for browsers and for the program that renders its
// pages, and Vue would compile each page and component for both: into functions that make
// nodes, and into functions that write text. Vue's renderer writes the same text from the
// nodes, so that the first kind serves both bundles.
//
// Nine tenths of a page are text that never changes, a few long strings in its module. Vite
// and Rollup would read and copy each of them a dozen times. They see short names instead;
// the text takes its place in the files for browsers when those are written, and the
// program that renders pages, which runs in this process, looks it up.

import { createHash } from 'node:crypto'

const NAME = 'warpbook-text-'
const STATIC = /\b_createStaticVNode\(("[^"\\]*(?:\\.[^"\\]*)*"), (\d+)\)/g

/** name -> text; the server's bundle has no other way to this module than the process. */
const texts = (globalThis.warpbookTexts ??= new Map())

/** A compiled page with names in place of its long texts. */
export function withNames(code) {
  return code.replace(STATIC, (all, literal, count) => {
    const text = JSON.parse(literal)
    // The name of a file for browsers depends on what stands in it: so does this one.
    const name = NAME + createHash('sha256').update(text).digest('hex').slice(0, 24)
    texts.set(name, text)
    return `_createStaticVNode("${name}", ${count})`
  })
}

const named = new RegExp(`["'\`](${NAME}[0-9a-f]{24})["'\`]`, 'g')

/** A text between backticks. */
const literal = (text) => `\`${text.replace(/[\\`]|\$(?=\{)|\r/g, (letter) =>
  (letter === '\r' ? '\\r' : `\\${letter}`))}\``

/** A file for browsers with its texts. */
export const withTexts = (code) => code.replace(named, (all, name) => literal(texts.get(name)))

/** A module for this process, which finds its texts. */
const withSearches = (code) => code.replace(named, 'globalThis.warpbookTexts.get("$1")')

const compiled = new Map() // file -> { code, result }

async function compile(transform, plugin, code, id, options) {
  const result = await transform.call(plugin, code, id, { ...options, ssr: false })
  return id.endsWith('.md') ? { ...result, code: withNames(result.code), map: null } : result
}

/**
 * What a transformation makes of a file for browsers, made once for all bundles.
 * @param {function} transform  (code, id, { ssr }) -> promise of the result
 */
export function once(transform) {
  return async function (code, id, options) {
    if (!/\.(md|vue)$/.test(id)) return transform.call(this, code, id, options)
    if (compiled.get(id)?.code !== code) {
      compiled.set(id, { code, result: compile(transform, this, code, id, options) })
    }
    const result = await compiled.get(id).result
    return options?.ssr ? { ...result, code: withSearches(result.code) } : result
  }
}

/** A plug-in of Vite. */
export function compileOncePlugin() {
  let isForServer
  return {
    name: 'warpbook:compile-once',
    apply: 'build',
    enforce: 'post',
    configResolved({ plugins, build }) {
      isForServer = Boolean(build.ssr)
      const vue = plugins.find(({ name }) => name === 'vite:vue')
      if (!vue) throw new Error('Vite has no plug-in vite:vue any more')
      vue.transform = once(vue.transform)
    },
    // After VitePress has made each page's second file, without its texts.
    generateBundle(_, bundle) {
      if (isForServer) return
      for (const file of Object.values(bundle))
        if (file.type === 'chunk' && file.code.includes(NAME)) file.code = withTexts(file.code)
    }
  }
}
