// The offline copy: book/dist/offline, which works when its index.html is opened from a
// disk. VitePress's own pages do not: browsers run no module scripts and load no
// absolute paths from file://. So links become relative, VitePress's scripts go, and
// one plain script takes their place (book/.vitepress/offline).

import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import vue from '@vitejs/plugin-vue'
import { build } from 'vite'
import { filesBelow } from './html.mjs'
import { ROOT } from './pages.mjs'
import { BASE } from './sources.mjs'

const ENTRY = path.join(ROOT, 'book/.vitepress/offline/main.js')

/** "a/b/index.html" is two folders below the root: "../../". */
const wayUp = (page) => '../'.repeat(page.split('/').length - 1) || './'

/** An absolute address of the site as one relative to a page. */
export function relativeUrl(url, page, base = '/') {
  const [target, rest] = /^([^?#]*)(.*)$/.exec(url).slice(1)
  const file = target.slice(base.length)
  const isFolder = file === '' || file.endsWith('/')
  return wayUp(page) + file + (isFolder ? 'index.html' : '') + rest
}

/**
 * A page of the site as a page of the copy.
 * @param {string} html
 * @param {string} page  its file, from the root of the site
 */
export function offlinePage(html, page, base = '/') {
  const up = wayUp(page)
  return html
    .replace(/<script type="module"[^>]*><\/script>/g, '')
    .replace(/<link rel="(?:modulepreload|preload|prefetch)"[^>]*>/g, '')
    .replace(/<script id="wb-late">[\s\S]*?<\/script>/, '')
    .replace(/<script id="check-mac-os">[\s\S]*?<\/script>/, '')
    .replace(/<script>window\.__VP_HASH_MAP__[\s\S]*?<\/script>/, '')
    .replace(/(<[^>]*?\s(?:href|src)=")(\/[^"/][^"]*|\/)"/g, (all, before, url) =>
      url.startsWith(base) ? `${before}${relativeUrl(url, page, base)}"` : all
    )
    .replace(/<html\b/, `<html data-wb-root="${up}" data-wb-offline`)
    .replace(
      '</head>',
      `<link rel="stylesheet" href="${up}offline.css">` +
        `<script defer src="${up}offline.js"></script></head>`
    )
}

/** The script of the copy, and its style. */
async function bundle(outDir) {
  await build({
    configFile: false,
    root: path.join(ROOT, 'book'),
    logLevel: 'warn',
    plugins: [vue()],
    define: {
      'process.env.NODE_ENV': '"production"',
      __VUE_OPTIONS_API__: 'false',
      __VUE_PROD_DEVTOOLS__: 'false',
      __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false'
    },
    build: {
      outDir,
      emptyOutDir: false,
      reportCompressedSize: false,
      lib: {
        entry: ENTRY,
        formats: ['iife'],
        name: 'warpbook',
        fileName: () => 'offline.js'
      },
      rollupOptions: { output: { assetFileNames: 'offline[extname]' } }
    }
  })
}

/** VitePress's search index, as a script. */
async function copyIndex(site, copy) {
  const chunks = path.join(site, 'assets/chunks')
  const file = fs
    .readdirSync(chunks)
    .find((name) => name.startsWith('@localSearchIndex'))
  const index = (await import(pathToFileURL(path.join(chunks, file)).href)).default
  const text = JSON.stringify(index).replace(/</g, '\\u003c')
  fs.writeFileSync(path.join(copy, 'search-index.js'), `window.warpbookIndex=${text}\n`)
}

/** From a disk no font is asked for beforehand: it comes late, and takes its place then. */
export const offlineStyle = (css, base = '/') =>
  css.replaceAll(`url(${base}assets/`, 'url(')
    .replace(/font-display:\s*optional/g, 'font-display:swap')

/** Style sheets, fonts and pictures: everything but VitePress's scripts. */
function copyAssets(site, copy, base) {
  const folders = ['assets', 'source'].filter((name) =>
    fs.existsSync(path.join(site, name))
  )
  for (const folder of folders) {
    for (const name of filesBelow(path.join(site, folder), '')) {
      if (name.endsWith('.js') || /KaTeX.*\.(?:ttf|woff)$/.test(name)) continue
      const to = path.join(copy, folder, name)
      fs.mkdirSync(path.dirname(to), { recursive: true })
      fs.copyFileSync(path.join(site, folder, name), to)
      if (!name.endsWith('.css')) continue
      const css = fs.readFileSync(to, 'utf8')
      fs.writeFileSync(to, offlineStyle(css, base))
    }
  }
  const icons = path.join(site, 'vp-icons.css')
  if (fs.existsSync(icons)) fs.copyFileSync(icons, path.join(copy, 'vp-icons.css'))
}

/**
 * Writes the offline copy of a built site into its folder "offline".
 * @param {string} site
 */
export async function writeOffline(site, base = BASE) {
  const copy = path.join(site, 'offline')
  fs.rmSync(copy, { recursive: true, force: true })
  fs.mkdirSync(copy)
  for (const page of filesBelow(site, '.html')) {
    if (page === '404.html' || page.startsWith('offline/')) continue
    const html = fs.readFileSync(path.join(site, page), 'utf8')
    fs.mkdirSync(path.dirname(path.join(copy, page)), { recursive: true })
    fs.writeFileSync(path.join(copy, page), offlinePage(html, page, base))
  }
  copyAssets(site, copy, base)
  await copyIndex(site, copy)
  await bundle(copy)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await writeOffline(path.resolve(process.argv[2] ?? path.join(ROOT, 'book/dist')))
}
