// The figures, found by the place of their files: book/figures/kebab-name/Figure.vue is
// <KebabName>.

import { defineComponent, h } from 'vue'

/** "../../figures/bank-conflicts/Figure.vue" is "BankConflicts". */
export function figureName(file) {
  const folder = file.split('/').at(-2)
  return folder.replace(/(^|-)(\w)/g, (_, dash, letter) => letter.toUpperCase())
}

/** "../../components/LadderTable.vue" is "LadderTable". */
export function componentName(file) {
  return file
    .split('/')
    .at(-1)
    .replace(/\.vue$/, '')
}

/**
 * A figure in a box that says which figure it is and with which properties, so that the
 * copy for offline reading can bring it to life without the rest of the page.
 */
export function boxed(name, figure) {
  return defineComponent({
    name: `Box${name}`,
    inheritAttrs: false,
    setup:
      (_, { attrs, slots }) =>
      () =>
        h('div', { 'data-wb-figure': name, 'data-wb-props': JSON.stringify(attrs) }, [
          h(figure, attrs, slots)
        ])
  })
}
