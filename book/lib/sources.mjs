// Links to files of the repository that are no pages. Where the address of a code host
// is configured (WARPBOOK_REPOSITORY=https://host/user/warpbook/blob/main), they lead
// there. Otherwise the book carries a copy of each file that it names, as text, so that
// the links also work in a copy without a network.

import fs from 'node:fs'
import path from 'node:path'
import { textOf } from './markers.mjs'
import { ROOT } from './pages.mjs'

const REPOSITORY = process.env.WARPBOOK_REPOSITORY?.replace(/\/+$/, '') ?? ''

/** "https://host/user/warpbook", or nothing. */
export const REPOSITORY_HOME = REPOSITORY.replace(/\/blob\/[^/]+$/, '')

/** Where the book is served from: "/" or, say, "/warpbook/". */
export const BASE = process.env.WARPBOOK_BASE ?? '/'

/** Files that the book has linked to so far. */
const named = new Set()

/**
 * The address of a file of the repository, or null for a folder without a code host.
 * @param {string} file  from the root of the repository
 * @param {?{first: number, last: number}} lines
 */
export function linkToSource(file, lines = null) {
  const name = file.split('/').map(encodeURIComponent).join('/')
  if (REPOSITORY) {
    return `${REPOSITORY}/${name}${lines ? `#L${lines.first}-L${lines.last}` : ''}`
  }
  if (fs.statSync(path.join(ROOT, file)).isDirectory()) return null
  named.add(file)
  return `/source/${name}.txt`
}

/** Copies all files that were linked to below `outDir`/source. */
export function copySources(outDir) {
  for (const file of named) {
    const to = path.join(outDir, 'source', `${file}.txt`)
    fs.mkdirSync(path.dirname(to), { recursive: true })
    fs.writeFileSync(to, textOf(file))
  }
}

/** Serves the same files while the book is being written. */
export function sourcesPlugin() {
  return {
    name: 'warpbook:sources',
    configureServer(server) {
      server.middlewares.use('/source', (request, response, next) => {
        const file = decodeURIComponent(request.url.split(/[?#]/)[0])
          .replace(/^\//, '')
          .replace(/\.txt$/, '')
        if (!named.has(file)) return next()
        response.setHeader('Content-Type', 'text/plain; charset=utf-8')
        response.end(textOf(file))
      })
    }
  }
}
