// The default theme, with the book's colours, and every component registered by the
// place that its file has: book/components/Name.vue is <Name>, and
// book/figures/kebab-name/Figure.vue is <KebabName>.

import DefaultTheme from 'vitepress/theme-without-fonts'
import { defineAsyncComponent, h } from 'vue'
import 'katex/dist/katex.min.css'
import { openFoldsForPrint } from './print.js'
import NotFound from './NotFound.vue'
import './fonts.css'
import './style.css'
import './print.css'

const components = import.meta.glob('../../components/*.vue', {
  eager: true,
  import: 'default'
})
const figures = import.meta.glob('../../figures/*/Figure.vue', { import: 'default' })

const stemOf = (file) => file.split('/').pop().replace(/\.vue$/, '')
const pascal = (name) => name.replace(/(^|-)(\w)/g, (_, dash, c) => c.toUpperCase())

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'not-found': () => h(NotFound) }),
  enhanceApp({ app }) {
    for (const [file, component] of Object.entries(components)) {
      app.component(stemOf(file), component)
    }
    // A figure is loaded by the pages that have it, after their text.
    for (const [file, load] of Object.entries(figures)) {
      app.component(pascal(file.split('/').at(-2)), defineAsyncComponent(load))
    }
    if (!import.meta.env.SSR) openFoldsForPrint(window)
  }
}
