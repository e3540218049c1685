// What the pages of the offline copy can do without VitePress, whose scripts do not run
// from file://: figures, search, the outline, the switch to dark, menus, tabs, copying.

import { createApp } from 'vue'
import { componentName, figureName } from '../theme/figures.js'
import { prepareForPrint } from '../theme/print.js'
import { startPage } from './page.js'
import { startSearch } from './search.js'
import './offline.css'

const components = import.meta.glob('../../components/*.vue', {
  eager: true,
  import: 'default'
})
const figures = import.meta.glob('../../figures/*/Figure.vue', {
  eager: true,
  import: 'default'
})

/** Brings each figure to life in the box that holds its first view. */
function startFigures(document) {
  const byName = new Map(
    Object.entries(figures).map(([file, figure]) => [figureName(file), figure])
  )
  for (const box of document.querySelectorAll('[data-wb-figure]')) {
    const figure = byName.get(box.dataset.wbFigure)
    if (!figure) continue
    const app = createApp(figure, JSON.parse(box.dataset.wbProps))
    for (const [file, component] of Object.entries(components)) {
      app.component(componentName(file), component)
    }
    app.mount(box)
  }
}

startPage(document)
startSearch(document)
startFigures(document)
prepareForPrint(window)
