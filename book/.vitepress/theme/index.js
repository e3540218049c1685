// The default theme, with the book's colours and all components of the book.

import DefaultTheme from 'vitepress/theme-without-fonts'
import { useRoute } from 'vitepress'
import { defineAsyncComponent, h, nextTick, onMounted, watch } from 'vue'
import '../cache/fonts/katex.css'
import { boxed, componentName, figureName } from './figures.js'
import BookFooter from './BookFooter.vue'
import { prepareForPrint } from './print.js'
import NotFound from './NotFound.vue'
import './fonts.css'
import 'virtual:code-colours.css'
import './style.css'
import './print.css'

const components = import.meta.glob('../../components/*.vue', {
  eager: true,
  import: 'default'
})
const figures = import.meta.glob('../../figures/*/Figure.vue', { import: 'default' })

/** Scrolls the list of chapters, not the page, to the chapter that is open. */
function showPlace() {
  const bar = document.querySelector('.VPSidebar')
  const open = bar?.querySelector('.VPSidebarItem.is-active > .item')
  if (!open) return
  const { top, bottom } = open.getBoundingClientRect()
  if (top < 80 || bottom > window.innerHeight - 40)
    bar.scrollTop += top - window.innerHeight / 2
}

export default {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      'not-found': () => h(NotFound),
      'doc-after': () => h(BookFooter)
    }),
  setup() {
    const route = useRoute()
    // The list learns only when it is there which of its lines is the open one.
    const show = () => nextTick(() => requestAnimationFrame(showPlace))
    onMounted(() => watch(() => route.path, show, { immediate: true, flush: 'post' }))
  },
  enhanceApp({ app }) {
    for (const [file, component] of Object.entries(components)) {
      app.component(componentName(file), component)
    }
    // A figure is loaded by the pages that have it, after their text.
    for (const [file, load] of Object.entries(figures)) {
      const name = figureName(file)
      app.component(name, boxed(name, defineAsyncComponent(load)))
    }
    if (!import.meta.env.SSR) prepareForPrint(window)
  }
}
