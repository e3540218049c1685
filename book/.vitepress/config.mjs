// The book: VitePress over the lessons where they lie. book/README.md says how the
// parts fit together.

import path from 'node:path'
import { defineConfig } from 'vitepress'
import { coloursPlugin } from '../lib/code-colours.mjs'
import { compileOncePlugin } from '../lib/compile-once.mjs'
import { finishBuild } from '../lib/finish.mjs'
import { describePage } from '../lib/descriptions.mjs'
import { editionLine } from '../lib/edition.mjs'
import { writeFonts } from '../lib/fonts.mjs'
import { withLateScripts } from '../lib/late-scripts.mjs'
import { markdown } from '../lib/markdown.mjs'
import { navigation, sidebar } from '../lib/navigation.mjs'
import { rewrites, ROOT, srcExclude } from '../lib/pages.mjs'
import { search } from '../lib/search.mjs'
import { excerptsPlugin } from '../lib/search-box.mjs'
import { BASE, REPOSITORY_HOME, sourcesPlugin } from '../lib/sources.mjs'

/** A grid of two blocks, one thread lit; drawn here, so that no page asks for it. */
const ICON =
  "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'>" +
  "<rect width='16' height='16' rx='3' fill='%230064a6'/>" +
  "<path d='M3 3h4v10H3zM9 3h4v10H9z' fill='%23fff'/>" +
  "<path d='M9 6h4v3H9z' fill='%23f0a35c'/></svg>"

/**
 * VitePress bundles the book twice: for readers, and for the program that renders the
 * pages on this machine. The second bundle may be as long as it is, and searches nothing.
 */
const plainServerBundle = {
  name: 'warpbook:plain-server-bundle',
  enforce: 'pre',
  apply: (_, { isSsrBuild }) => isSsrBuild,
  config: () => ({ build: { rollupOptions: { treeshake: false } } }),
  load: (id) => (id.startsWith('/@localSearchIndex') ? 'export default {}' : null)
}

/**
 * Modules of which nothing, or 1 kB in all, could be left out; Rollup need not look for it:
 * pages, components, figures with their models, the parts of Vue that all pages use.
 */
const WHOLE =
  /\.md$|\/book\/(components|figures|\.vitepress)\/|\.vue($|\?vue&type=script)|@vue\//

const wholeModules = {
  name: 'warpbook:whole-modules',
  enforce: 'post',
  apply: 'build',
  transform: (code, id) =>
    WHOLE.test(id) ? { code, map: null, moduleSideEffects: 'no-treeshake' } : null
}

/** The style sheets name them there. */
await writeFonts(path.join(ROOT, 'book/.vitepress/cache/fonts'))

export default defineConfig({
  title: 'Warpbook',
  description: 'CUDA in seven days, on a GPU or without one',
  lang: 'en',
  base: BASE,
  srcDir: '..',
  srcExclude,
  rewrites: rewrites(),
  outDir: 'dist',
  cacheDir: '.vitepress/cache',
  head: [['link', { rel: 'icon', href: ICON }]],
  lastUpdated: false,
  metaChunk: true,
  markdown,
  themeConfig: {
    nav: navigation(),
    sidebar: sidebar(),
    outline: { level: [2, 3] },
    externalLinkIcon: true,
    edition: editionLine(),
    repository: REPOSITORY_HOME,
    search
  },
  vite: {
    plugins: [
      sourcesPlugin(), coloursPlugin(), excerptsPlugin(), plainServerBundle, wholeModules,
      compileOncePlugin()
    ],
    // VitePress warns from 500 kB; what a page may weigh is checked in finishBuild.
    build: { chunkSizeWarningLimit: 2000, assetsInlineLimit: 0 }
  },
  transformPageData: describePage,
  // The one font of every page is asked for before its style sheet has been read.
  transformHead: ({ assets }) => assets
    .filter((file) => /\/inter\.[\w-]+\.woff2$/.test(file))
    .map((href) => ['link', {
      rel: 'preload', href, as: 'font', type: 'font/woff2', crossorigin: ''
    }]),
  transformHtml: withLateScripts,
  buildEnd: finishBuild
})
