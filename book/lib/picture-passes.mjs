// A row of a matrix that crosses the bus to memory once or several times: shared by the
// pictures of softmax and of the norms.

const LEFT = 18, STEP = 24

/**
 * @param {object} drawing  of picture.mjs
 * @param {{name: string, said: string, parts?: string[], kept?: string[]}[]} ways
 *   parts: what each pass over the row has, the last one writes; kept: what is computed
 *   from a row that was read once
 */
export function passes(p, ways) {
  ways.forEach(({ name, said, parts, kept }, i) => {
    const y = 3 * i
    p.step(said).text(1, y, name)
    if (kept) {
      p.box(LEFT, y, 8, 1, 'row', { tone: 6 }).text(LEFT, y + 1, 'read', { tone: 2 })
      let x = LEFT + 9
      for (const part of ['registers', ...kept, 'y']) {
        const wide = part.length + 4
        p.arrow([[x, y], [x + 2, y]])
          .box(x + 4, y, wide, 1, part, { tone: part === 'y' ? 3 : 1 })
        x += wide + 5
        if (part === 'y') p.text(x - wide - 1, y + 1, 'write', { tone: 2 })
      }
      return
    }
    parts.forEach((part, k) => {
      const isLast = k === parts.length - 1
      const x = LEFT + (isLast ? 2 : k) * STEP
      p.box(x, y, 8, 1, 'row', { tone: 6 }).arrow([[x + 9, y], [x + 11, y]])
        .box(x + 13, y, isLast ? 7 : Math.max(9, part.length + 2), 1, part,
          { tone: isLast ? 3 : 1 })
        .text(x, y + 1, isLast ? 'read, write' : 'read', { tone: 2 })
    })
  })
}
