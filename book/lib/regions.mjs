// Regions of source files: what lies between "// #region x" and "// #endregion x".
// VitePress prints the whole file where a region is missing, and the build stays green.
// Here anything but exactly one begin and one end is an error.

const MARKER = /^\s*(?:\/\/|#|\/\*|<!--)\s?#(end)?region\s+([\w-]+)\s*(?:\*\/|-->)?\s*$/

/** The marker in a line, or null. */
function markerOf(line) {
  const match = MARKER.exec(line)
  return match && { end: Boolean(match[1]), name: match[2] }
}

const STARTER_MARKER = /^\s*\/\/ #(?:solution|end|starter .*)$/
const TODO = /^\s*\/\/ TODO\(learner\)/
const COMMENT = /^\s*\/\//

/**
 * Which lines of a solution are not of the solution: the marks from which the starter
 * is made, and what the starter asks of the learner. In any other file there are none.
 * @param {string[]} lines
 * @returns {boolean[]}
 */
export function starterLines(lines) {
  if (!lines.some((line) => STARTER_MARKER.test(line))) return lines.map(() => false)
  let asking = false
  return lines.map((line) => {
    if (STARTER_MARKER.test(line)) {
      asking = false
      return true
    }
    asking = TODO.test(line) || (asking && COMMENT.test(line) && !markerOf(line))
    return asking
  })
}

/** Lines without the indentation that all of them share. */
export function dedent(lines) {
  const indents = lines
    .filter((line) => line.trim() !== '')
    .map((line) => /^[ \t]*/.exec(line)[0].length)
  const shared = indents.length > 0 ? Math.min(...indents) : 0
  return lines.map((line) => line.slice(shared))
}

/** Blank lines at both ends say nothing in a book. */
function trimBlank(lines, first) {
  let begin = 0
  let end = lines.length
  while (begin < end && lines[begin].trim() === '') begin++
  while (end > begin && lines[end - 1].trim() === '') end--
  return { lines: lines.slice(begin, end), first: first + begin }
}

/**
 * A region of a source file, without markers inside it.
 * @param {string} text   the whole file
 * @param {string} name   the region
 * @param {string} file   for the message
 * @returns {{text: string, first: number, last: number}}  lines counted from 1
 * @throws {Error} if the region is missing, doubled, unterminated, reversed or empty
 */
export function extractRegion(text, name, file) {
  const lines = text.replace(/\r\n/g, '\n').split('\n')
  const begins = []
  const ends = []
  lines.forEach((line, index) => {
    const marker = markerOf(line)
    if (marker?.name === name) (marker.end ? ends : begins).push(index)
  })
  const where = (indices) => indices.map((index) => index + 1).join(', ')
  const fault = (what) => {
    throw new Error(`${file}: region "${name}" ${what}`)
  }
  if (begins.length === 0 && ends.length === 0) {
    const known = lines.map(markerOf).filter((m) => m && !m.end)
    const names = known.map((m) => m.name).join(', ') || 'none'
    fault(`is missing (the file has: ${names})`)
  }
  if (begins.length > 1) fault(`begins more than once, in lines ${where(begins)}`)
  if (ends.length > 1) fault(`ends more than once, in lines ${where(ends)}`)
  if (begins.length === 0) fault(`ends in line ${where(ends)} but begins nowhere`)
  if (ends.length === 0) fault(`begins in line ${where(begins)} but ends nowhere`)
  if (ends[0] < begins[0]) fault(`ends in line ${where(ends)}, before it begins`)

  const hidden = starterLines(lines)
  const inside = []
  const numbers = []
  for (let index = begins[0] + 1; index < ends[0]; index++) {
    if (hidden[index] || markerOf(lines[index])) continue
    inside.push(lines[index])
    numbers.push(index + 1)
  }
  const body = trimBlank(inside, 0)
  if (body.lines.length === 0) fault('is empty')
  return {
    text: `${dedent(body.lines).join('\n')}\n`,
    first: numbers[body.first],
    last: numbers[body.first + body.lines.length - 1]
  }
}

/**
 * What an edit of a right text makes of the lines that it names (tools/bundle/edit.h).
 * @param {string} text  the whole .diff
 */
export function afterEdit(text) {
  const lines = text.replace(/\r\n/g, '\n').replace(/\n+$/, '').split('\n')
  const shown = lines
    .filter((line) => !/^[#-]/.test(line))
    .map((line) => (line.startsWith('@@') ? '' : line.slice(1)))
  return { text: `${dedent(shown).join('\n')}\n`, first: 1, last: lines.length }
}

/** A whole file as a book shows it: without markers. */
export function withoutMarkers(text) {
  const lines = text.replace(/\r\n/g, '\n').replace(/\n+$/, '').split('\n')
  const hidden = starterLines(lines)
  return {
    text: `${lines.filter((line, i) => !hidden[i] && !markerOf(line)).join('\n')}\n`,
    first: 1,
    last: lines.length
  }
}
