// A picture as text, for the terminal and for whoever reads a lesson as a file. Only
// letters that every terminal has.

const LIMIT = 88

/**
 * @param {object} picture  from picture.mjs
 * @returns {string}  lines without blanks at their ends
 * @throws where two elements want the same place, or a line is too long
 */
export function pictureText({ title, elements }) {
  const lines = []
  const at = (x, y) => lines[y]?.[x] ?? ' '
  const put = (x, y, letter) => {
    lines[y] ??= []
    while (lines[y].length <= x) lines[y].push(' ')
    lines[y][x] = letter
  }
  const write = (x, y, text) => {
    const left = Math.round(x)
    ;[...text].forEach((letter, i) => {
      const old = at(left + i, y)
      if (letter !== ' ' && old !== ' ' && old !== letter)
        throw new Error(
          `picture "${title}": "${text}" lies on "${old}", column ${left + i}, line ${y}`)
      if (letter !== ' ') put(left + i, y, letter)
    })
  }
  /** A piece of a line; where it crosses another one, or is a corner: +. */
  const line = (x, y, letter) => {
    const old = at(x, y)
    if (old === ' ' || old === letter) put(x, y, letter)
    else if ('-|+'.includes(old)) put(x, y, '+')
    else if (!'<>^v'.includes(old))
      throw new Error(`picture "${title}": a line crosses "${old}", column ${x}, line ${y}`)
  }
  const draw = {
    text({ x, y, text, anchor }) {
      const left = anchor === 'end' ? x - text.length
        : anchor === 'middle' ? x - text.length / 2 : x
      write(left, y, text)
    },
    cell({ x, y, w, text, ascii, bars }) {
      const shown = ascii ?? text
      const room = bars ? w - 1 : w
      // Numbers of one and of two digits end in the same column.
      const rounded = room % 2 === 0 ? Math.ceil : Math.floor
      const left = x + (bars ? 1 : 0) + rounded((room - shown.length) / 2)
      if (bars) for (const side of [x, x + w]) line(side, y, '|')
      write(left, y, shown)
    },
    box({ x, y, w, h, text, dashed }) {
      const words = text.split('\n')
      if (h === 1) {
        const between = words[0].length + 2 <= w - 2 ? ` ${words[0]} ` : words[0]
        const room = w - 2 - between.length
        const before = ' '.repeat(Math.max(0, Math.floor(room / 2)))
        write(x, y, `[${(before + between).padEnd(w - 2)}]`)
        return
      }
      for (let i = 0; i < w; ++i)
        for (const edge of [y, y + h - 1])
          line(x + i, edge, i === 0 || i === w - 1 ? '+' : dashed ? '.' : '-')
      for (let i = 1; i < h - 1; ++i)
        for (const side of [x, x + w - 1]) line(side, y + i, dashed ? ':' : '|')
      const first = y + Math.max(1, Math.floor((h - words.length) / 2))
      words.forEach((each, i) =>
        write(x + Math.ceil((w - each.length) / 2), first + i, each))
    },
    link() {}, // the words of a picture say it
    arrow({ points, head, dashed }) {
      points.slice(1).forEach(([x, y], i) => {
        const [px, py] = points[i].map(Math.round)
        const [ex, ey] = [Math.round(x), Math.round(y)]
        const letter = ey === py ? (dashed ? '.' : '-') : (dashed ? ':' : '|')
        const steps = Math.max(Math.abs(ex - px), Math.abs(ey - py))
        const last = i === points.length - 2
        for (let s = 0; s <= steps; ++s) {
          const [cx, cy] = [
            px + Math.sign(ex - px) * s, py + Math.sign(ey - py) * s]
          if (last && s === steps && head)
            put(cx, cy, ey === py ? (ex > px ? '>' : '<') : ey > py ? 'v' : '^')
          else if (s === 0 && i > 0) put(cx, cy, '+')
          else line(cx, cy, letter)
        }
      })
    }
  }
  // Frames first, so that words and the heads of arrows stand in them.
  const order = { box: 0, cell: 1, arrow: 2, link: 2, text: 3 }
  for (const element of [...elements].sort((a, b) => order[a.kind] - order[b.kind]))
    draw[element.kind](element)
  const text = Array.from(lines, (letters) => (letters ?? []).join('').trimEnd())
  const long = text.find((each) => each.length > LIMIT)
  if (long) throw new Error(`picture "${title}": more than ${LIMIT} columns: ${long}`)
  return text.join('\n')
}
