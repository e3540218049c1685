// A server for the built book: static files, on this machine only. Used by ./learn book
// and by the tests in a browser.
//
//     node book/lib/serve.mjs [--port N] [FOLDER]

import fs from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.pdf': 'application/pdf',
  '.woff2': 'font/woff2',
  '.woff': 'font/woff',
  '.ttf': 'font/ttf'
}

/**
 * The file below a folder that an address asks for, or null: for what is not there, and
 * for whatever would lead out of the folder.
 */
export function fileFor(url, folder) {
  let name
  try {
    name = decodeURIComponent(url.split(/[?#]/)[0])
  } catch {
    return null
  }
  if (name.includes('\0')) return null
  const file = path.join(folder, path.normalize(`/${name}`))
  for (const candidate of [file, `${file}.html`, path.join(file, 'index.html')]) {
    if (fs.existsSync(candidate) && fs.statSync(candidate).isFile()) {
      // A folder's page has relative links that need the slash.
      const bare = candidate !== file && candidate.endsWith('/index.html')
      return {
        file: candidate,
        redirect: bare && !name.endsWith('/') ? `${name}/` : null
      }
    }
  }
  return null
}

/** What ./learn keeps of the learner's progress, in the repository of the book. */
const PROGRESS = fileURLToPath(new URL('../../.learn/progress', import.meta.url))

function answer(request, response, folder, progress) {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { Allow: 'GET, HEAD' }).end()
    return
  }
  if (progress && request.url === '/.learn/progress') {
    response.writeHead(200, { 'Content-Type': TYPES['.txt'], 'Cache-Control': 'no-store' })
    response.end(fs.readFileSync(progress))
    return
  }
  const found = fileFor(request.url, folder)
  if (found?.redirect) {
    response.writeHead(301, { Location: encodeURI(found.redirect) }).end()
    return
  }
  const missing = path.join(folder, '404.html')
  const file = found?.file ?? missing
  if (!fs.existsSync(file)) {
    response.writeHead(404).end('not found')
    return
  }
  response.writeHead(found ? 200 : 404, {
    'Content-Type': TYPES[path.extname(file)] ?? 'application/octet-stream',
    'Cache-Control': 'no-cache',
    // The map of the course asks for the progress only where there is one.
    ...(progress ? { 'Set-Cookie': 'warpbook-learn=1; SameSite=Strict' } : {})
  })
  if (request.method === 'HEAD') response.end()
  else fs.createReadStream(file).pipe(response)
}

/**
 * Serves a folder until the server is closed.
 * @param {string} folder
 * @param {number} port  0: any that is free
 * @param {?string} progress  the file with what ./learn has seen pass, if there is one
 * @returns {Promise<{server: http.Server, url: string}>}
 */
export function serve(folder, port = 0, progress = null) {
  const server = http.createServer((request, response) => {
    const known = progress && fs.existsSync(progress) ? progress : null
    answer(request, response, path.resolve(folder), known)
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      resolve({ server, url: `http://127.0.0.1:${server.address().port}/` })
    })
  })
}

/** The first free port from `port` on. */
async function serveNear(folder, port) {
  for (let tried = port; tried < port + 20; tried++) {
    try {
      return await serve(folder, tried, PROGRESS)
    } catch (error) {
      if (error.code !== 'EADDRINUSE') throw error
    }
  }
  throw new Error(
    `the ports ${port} to ${port + 19} are all in use; --port names another`
  )
}

async function main(args) {
  const { values, positionals } = parseArgs({
    args,
    options: { port: { type: 'string' } },
    allowPositionals: true
  })
  const port = values.port === undefined ? null : Number(values.port)
  if (port !== null && !(Number.isInteger(port) && port >= 0 && port < 65536)) {
    throw new Error(`--port wants a number below 65536, not "${values.port}"`)
  }
  const folder = positionals[0] ?? fileURLToPath(new URL('../dist', import.meta.url))
  const { url } = await (port === null ? serveNear(folder, 4173) : serve(folder, port, PROGRESS))
  console.log(`The book is at ${url}   (Ctrl-C ends it)`)
  if (process.env.SSH_CONNECTION) {
    const { port: chosen } = new URL(url)
    console.log(`On your own machine first: ssh -L ${chosen}:localhost:${chosen} HOST`)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  main(process.argv.slice(2)).catch((error) => {
    console.error(error.code === 'EADDRINUSE' ? 'that port is in use' : error.message)
    process.exit(1)
  })
}
