// Lines of code with a mark at their end become the added and removed lines of a diff.
// Shiki's own notation is a comment behind the code, and is not found in lines whose
// comment the grammar has taken apart ("/// @param x").

const MARK = /\u241f([+-])$/

/** A line of a diff in the notation of diffTransformer. */
export function marked({ mark, line }) {
  return mark === ' ' ? line : `${line}\u241f${mark}`
}

/** A transformer for Shiki: takes the marks off and gives the lines their classes. */
export function diffTransformer() {
  return {
    name: 'wb-diff',
    preprocess(code) {
      const lines = code.split('\n')
      if (!lines.some((line) => MARK.test(line))) return undefined
      this.meta.wbDiff = lines.map((line) => MARK.exec(line)?.[1] ?? ' ')
      return lines.map((line) => line.replace(MARK, '')).join('\n')
    },
    pre(node) {
      if (this.meta.wbDiff) this.addClassToHast(node, 'has-diff')
    },
    line(node, number) {
      const mark = this.meta.wbDiff?.[number - 1]
      if (mark === '+') this.addClassToHast(node, ['diff', 'add'])
      if (mark === '-') this.addClassToHast(node, ['diff', 'remove'])
    }
  }
}
