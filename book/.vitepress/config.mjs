// The book: VitePress over the lessons where they lie. book/README.md says how the parts
// fit together.

import { defineConfig } from 'vitepress'
import { markdown } from '../lib/markdown.mjs'
import { sidebar } from '../lib/navigation.mjs'
import { rewrites, srcExclude } from '../lib/pages.mjs'

export default defineConfig({
  title: 'Warpbook',
  description: 'CUDA in seven days, on a GPU or without one',
  lang: 'en',
  srcDir: '..',
  srcExclude,
  rewrites: rewrites(),
  outDir: 'dist',
  cacheDir: '.vitepress/cache',
  lastUpdated: false,
  markdown,
  themeConfig: {
    sidebar: sidebar(),
    outline: { level: [2, 3] },
    search: { provider: 'local' }
  }
})
