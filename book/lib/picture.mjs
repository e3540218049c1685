// A drawn picture of a lesson, as data: texts, rows of cells, boxes and arrows on a grid
// of columns and lines, as wide and high as letters. picture-svg.mjs draws it for the
// book, picture-text.mjs writes it for the terminal; both read the same elements.
//
// The elements of a step come with its words, one step after the other: a reader may
// play them. Without steps, or on paper, the picture shows all of it.

/**
 * @typedef {object} Element
 * @property {'text' | 'cell' | 'box' | 'arrow' | 'link'} kind
 * @property {number} x       first column
 * @property {number} y       first line
 * @property {number} step    0: there from the beginning
 * @property {number} [w]     columns
 * @property {number} [h]     lines; of a box of more than two, the outer ones are its frame
 * @property {string} [text]
 * @property {number} [tone]  1 to 6, the colours of figures; 0: none
 */

const TONES = 6

/** Builds the elements of a picture. All methods return the picture. */
class Drawing {
  elements = []
  steps = []

  #add(element) {
    const { x, y, tone = 0 } = element
    if (![x, y].every((n) => Number.isFinite(n) && n >= 0))
      throw new Error(`"${element.text ?? element.kind}" is not on the grid: ${x}, ${y}`)
    if (!Number.isInteger(tone) || tone < 0 || tone > TONES)
      throw new Error(`there is no tone ${tone}`)
    this.elements.push({ tone: 0, step: this.steps.length, ...element })
    return this
  }

  /** What follows belongs to a new step, with these words. */
  step(words) {
    this.steps.push(words)
    return this
  }

  /**
   * A line of text.
   * @param {{anchor?: 'start' | 'middle' | 'end', tone?: number, mono?: boolean,
   *   muted?: boolean, strong?: boolean}} [look]  x is where the anchor is
   */
  text(x, y, text, look = {}) {
    return this.#add({ kind: 'text', x, y, text: String(text), ...look })
  }

  /**
   * A row of cells of w columns each. A value of null leaves its place empty.
   * @param {(string | number | null)[]} values
   * @param {{tone?: number, tones?: number[], ascii?: string[], muted?: boolean,
   *   bars?: boolean, mono?: boolean}} [look]  tones: of each cell; ascii: what the text
   *   version shows in place of the values; bars: the text version draws | between
   */
  cells(x, y, w, values, look = {}) {
    const { tones, ascii, ...rest } = look
    values.forEach((value, i) => {
      if (value === null) return
      const tone = tones?.[i] ?? rest.tone ?? 0
      this.#add({
        kind: 'cell', ...rest, x: x + i * w, y, w, h: 1, text: String(value), tone,
        ascii: ascii?.[i]
      })
    })
    return this
  }

  /** Rows of cells, one below the other. tones: of each row, of each cell. */
  grid(x, y, w, rows, look = {}) {
    const { tones, ascii, ...rest } = look
    rows.forEach((row, r) =>
      this.cells(x, y + r, w, row, { ...rest, tones: tones?.[r], ascii: ascii?.[r] })
    )
    return this
  }

  /**
   * A box with words in it, one or more lines. h = 1: no frame in the text version but
   * brackets. @param {{tone?: number, dashed?: boolean}} [look]
   */
  box(x, y, w, h, text = '', look = {}) {
    return this.#add({ kind: 'box', x, y, w, h, text, ...look })
  }

  /**
   * An arrow through points, horizontal and vertical pieces only; of columns and lines.
   * @param {[number, number][]} points
   * @param {{tone?: number, head?: boolean, dashed?: boolean}} [look]  head = false: a line
   */
  arrow(points, look = {}) {
    points.forEach(([x, y], i) => {
      const [px, py] = points[i - 1] ?? [x, y]
      if (x !== px && y !== py)
        throw new Error(`an arrow is crooked from ${px}, ${py} to ${x}, ${y}`)
    })
    const [x, y] = points[0]
    return this.#add({ kind: 'arrow', head: true, ...look, x, y, points })
  }

  /** A straight line from here to there, in any direction; the drawing alone has it. */
  link([x, y], to, look = {}) {
    return this.#add({ kind: 'link', head: false, ...look, x, y, points: [[x, y], to] })
  }
}

/** Columns and lines that an element takes: [left, top, right, bottom), in the text. */
export function extent({ kind, x, y, w, h, text, anchor, points }) {
  if (points) {
    const [xs, ys] = [points.map((p) => p[0]), points.map((p) => p[1])]
    return [Math.min(...xs), Math.min(...ys), Math.max(...xs) + 1, Math.max(...ys) + 1]
  }
  if (kind !== 'text') return [x, y, x + w, y + h]
  const long = text.length
  const left = anchor === 'end' ? x - long : anchor === 'middle' ? x - long / 2 : x
  return [left, y, left + long, y + 1]
}

/**
 * A picture.
 * @param {{title: string, label: string, lineHeight?: number}} words  the heading, and what
 *   a reader who does not see the drawing should know of it; pixels of a line, if not 23
 * @param {(drawing: Drawing) => void} draw
 */
export function picture({ title, label, lineHeight }, draw) {
  if (!title || !label || label.length < 40)
    throw new Error(`picture "${title}": it needs a title and a label that describes it`)
  const drawing = new Drawing()
  draw(drawing)
  const { elements, steps } = drawing
  if (elements.length === 0) throw new Error(`picture "${title}" is empty`)
  steps.forEach((words, i) => {
    if (!elements.some(({ step }) => step === i + 1))
      throw new Error(`picture "${title}": step ${i + 1} ("${words}") adds nothing`)
  })
  const all = elements.map(extent)
  if (all.some(([left]) => left < 0)) throw new Error(`picture "${title}" is cut on the left`)
  return {
    title, label, elements, steps, lineHeight,
    width: Math.ceil(Math.max(...all.map((e) => e[2]))),
    height: Math.ceil(Math.max(...all.map((e) => e[3])))
  }
}
