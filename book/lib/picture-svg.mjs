// A picture as SVG: text that can be selected, colours that follow light and dark.

/** Pixels of a column and of a line; a picture of small squares has lower lines. */
const COLUMN = 8
const LINE_HEIGHT = 23
const MARGIN = 6

const escaped = (text) =>
  text.replace(/[&<>"{}]/g, (c) => `&#${c.codePointAt(0)};`)
const px = (n) => String(Math.round(n * 10) / 10)

const RAISED = { '-': '⁻', ...'⁰¹²³⁴⁵⁶⁷⁸⁹' }
const raised = (digits) => [...digits].map((digit) => RAISED[digit]).join('')

/** Shown in place of what a terminal lacks. */
const TYPESET = [
  [/<->/g, '↔'], [/->/g, '→'], [/<-/g, '←'], [/\.\.\./g, '…'],
  [/([0-9A-Z]) x (?=[0-9A-Z])/g, '$1 × '], [/(\d) ?\* ?(\d)/g, '$1 · $2'],
  [/\^(-?\d+)/g, (_, digits) => raised(digits)]
]
const drawnText = (text) =>
  TYPESET.reduce((result, [from, to]) => result.replace(from, to), text)

const classes = (element, more = []) => {
  const list = [...more]
  if (element.tone > 0) list.push(`t${element.tone}`)
  for (const flag of ['mono', 'muted', 'strong', 'dashed'])
    if (element[flag]) list.push(flag)
  return list.length > 0 ? ` class="${list.join(' ')}"` : ''
}

/** Set for each picture: nothing here waits for anything. */
let line = LINE_HEIGHT

const middle = (y) => y * line + line / 2

/** The rectangle of a cell or a box. A box's frame lies in the middle of its lines. */
function rectangle(element) {
  const { kind, x, y, w, h } = element
  const isFrame = kind === 'box' && h > 2
  const top = isFrame ? middle(y) - 4 : y * line + line / 15
  const high = isFrame ? middle(y + h - 1) + 4 - top : h * line - line / 7.5
  const inset = kind === 'cell' ? 0.5 : isFrame ? COLUMN / 2 - 3 : 0.5
  return `<rect x="${px(x * COLUMN + inset)}" y="${px(top)}" ` +
    `width="${px(w * COLUMN - 2 * inset)}" height="${px(high)}" ` +
    `rx="${kind === 'cell' ? px(line / 12) : 5}"${classes(element)}/>`
}

/** Cells without words, all of one tone: one path for hundreds of them. */
function blanks(cells) {
  const d = cells.map(({ x, y, w }) => {
    const [wide, high] = [w * COLUMN - 1, line - line / 7.5]
    return `M${px(x * COLUMN + 0.5)} ${px(y * line + line / 15)}` +
      `h${px(wide)}v${px(high)}h${px(-wide)}z`
  })
  return `<path d="${d.join('')}"${classes(cells[0], ['cells'])}/>`
}

function word(x, y, text, look, anchor = 'middle') {
  const attribute = anchor === 'start' ? '' : ` text-anchor="${anchor}"`
  return `<text x="${px(x)}" y="${px(y + 4.7)}"${attribute}${look}>` +
    `${escaped(drawnText(text))}</text>`
}

function wordsOf(element) {
  const { kind, x, y, w, h, text, anchor = 'start' } = element
  if (kind === 'text')
    return word(x * COLUMN, middle(y), text, classes(element, ['w']), anchor)
  const look = element.mono ? ' class="mono"' : element.muted ? ' class="muted"' : ''
  const lines = text.split('\n')
  const center = (y + h / 2) * line
  return lines.map((each, i) =>
    each === '' ? '' : word((x + w / 2) * COLUMN,
      center + (i - (lines.length - 1) / 2) * line * 0.8, each, look)).join('')
}

/** A path with rounded corners, and a head. */
function arrow(element) {
  const half = COLUMN / 2
  const points = element.points.map(([x, y]) => [x * COLUMN + half, middle(y)])
  const last = points.length - 1
  // In the text an arrow fills letters; drawn, it begins and ends at their edges.
  const push = (i, towards, by) => {
    const [dx, dy] = [0, 1].map((k) => Math.sign(points[i][k] - points[towards][k]))
    points[i] = [points[i][0] + dx * by, points[i][1] + dy * (dy === 0 ? 0 : by)]
  }
  push(0, 1, half)
  push(last, last - 1, element.head ? half - 3 : half)
  let d = `M${px(points[0][0])} ${px(points[0][1])}`
  const RADIUS = 6
  for (let i = 1; i < last; ++i) {
    const [before, here, next] = [points[i - 1], points[i], points[i + 1]]
    const toward = (from, to) => {
      const length = Math.hypot(to[0] - from[0], to[1] - from[1])
      const part = Math.min(RADIUS, length / 2) / (length || 1)
      return [0, 1].map((k) => px(from[k] + (to[k] - from[k]) * part)).join(' ')
    }
    d += `L${toward(here, before)}Q${here.map(px).join(' ')} ${toward(here, next)}`
  }
  d += `L${px(points[last][0])} ${px(points[last][1])}`
  let head = ''
  if (element.head) {
    const [[x, y], [bx, by]] = [points[last], points[last - 1]]
    const [dx, dy] = [Math.sign(x - bx), Math.sign(y - by)]
    const side = (s) => `${px(x - 7 * dx - 4 * s * dy)} ${px(y - 7 * dy - 4 * s * dx)}`
    head = `<path d="M${px(x)} ${px(y)}L${side(1)}L${side(-1)}z"` +
      `${classes(element, ['head'])}/>`
  }
  return `<path d="${d}"${classes(element, ['line'])}/>${head}`
}

/** Through the points as they are: [column, line] is the corner of a letter. */
function link(element) {
  const [from, to] = element.points.map(([x, y]) => `${px(x * COLUMN)} ${px(y * line)}`)
  return `<path d="M${from}L${to}"${classes(element, ['line'])}/>`
}

/**
 * @param {object} picture  from picture.mjs
 * @returns {string}  one line of SVG; what belongs to step k is in <g data-step="k">
 */
export function pictureSvg({ label, elements, steps, width, height, lineHeight }) {
  line = lineHeight ?? LINE_HEIGHT
  const size = [width * COLUMN + 2 * MARGIN, height * line + 2 * MARGIN]
  const layer = (step) => {
    const all = elements.filter((element) => element.step === step)
    const isBlank = ({ kind, text }) => kind === 'cell' && text === ''
    const own = all.filter((element) => !isBlank(element))
    const tones = [...new Set(all.filter(isBlank).map(({ tone }) => tone))]
    const byTone = tones.map((tone) => all.filter((e) => isBlank(e) && e.tone === tone))
    const shapes = own.map((element) =>
      ({ arrow, link, text: () => '' }[element.kind] ?? rectangle)(element))
    const frames = own.map(({ kind, h }) => (kind === 'box' && h > 2 ? 0 : 1))
    const drawn = [0, 1].flatMap((z) => shapes.filter((_, i) => frames[i] === z)).join('') +
      byTone.map(blanks).join('')
    const words = own.filter(({ points }) => !points).map(wordsOf).join('')
    return step === 0 ? drawn + words : `<g data-step="${step}">${drawn}${words}</g>`
  }
  const layers = Array.from({ length: steps.length + 1 }, (_, step) => layer(step))
  return `<svg class="wb-picture" viewBox="${-MARGIN} ${-MARGIN} ${size.join(' ')}" ` +
    `width="${size[0]}" height="${size[1]}" ` +
    `style="min-width:${Math.min(560, size[0])}px" role="img" aria-label="${escaped(label)}">` +
    `${layers.join('')}</svg>`
}
