// Finds the tags of the data in a Markdown text: <Measured>, <LadderTable>,
// <ErrorChart>, <RungDiff>, <!-- numbers: … --> and <!-- table: … -->, but not where they
// stand in code.

/**
 * The text with all code blanked out, letter by letter, so that places stay the same.
 * Code is what stands between fences and between backticks.
 */
export function blankCode(text) {
  if (text !== last.text) last = { text, blanked: blanked(text) }
  return last.blanked
}

/** A page is searched for one kind of tags after the other. */
let last = {}

function blanked(text) {
  const blank = (code) => code.replace(/[^\n]/g, ' ')
  return text
    .replace(/^( *)(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^ *\2[`~]* *$|$(?![\s\S]))/gm, blank)
    .replace(/(?<!`)(`+)(?!`)((?:(?!\n\n)[\s\S])*?[^`])\1(?!`)/g, blank)
}

/** key="value" pairs of a tag. @returns {Record<string, string>} */
export function attributesOf(tag) {
  const pairs = tag.matchAll(/([a-z][a-z-]*)="([^"]*)"/g)
  return Object.fromEntries([...pairs].map(([, key, value]) => [key, value]))
}

/**
 * All elements <Name …>…</Name> of a text outside of its code.
 * @returns {{start: number, end: number, open: string, inner: string,
 *            attributes: Record<string, string>, line: number}[]}
 * @throws where an element does not end, or is written <Name … />
 */
export function findElements(text, name) {
  const searched = blankCode(text)
  const close = `</${name}>`
  const found = []
  for (const { index, 0: open } of searched.matchAll(
    new RegExp(`<${name}(?=[\\s>/])[^>]*>`, 'g'))) {
    const line = lineOf(text, index)
    if (open.endsWith('/>')) {
      throw new Error(`line ${line}: write <${name} …></${name}>; what stands ` +
        'between them is filled in')
    }
    const at = searched.indexOf(close, index)
    const next = searched.indexOf(`<${name}`, index + 1)
    if (at < 0 || (next >= 0 && next < at)) {
      throw new Error(`line ${line}: <${name}> has no ${close}`)
    }
    const from = index + open.length
    found.push({
      start: index, end: at + close.length, line,
      open: text.slice(index, from), inner: text.slice(from, at),
      attributes: attributesOf(text.slice(index, from)),
    })
  }
  return found
}

/**
 * All <!-- numbers: kind words --> … <!-- /numbers -->, in the form of findElements; the
 * words that may follow the kind, names of exercises, are attributes.words.
 */
export function findComments(text) {
  const searched = blankCode(text)
  const found = []
  for (const { index, 0: open, 1: kind, 2: rest } of searched.matchAll(
    /<!-- numbers: ([a-z-]+)((?: [a-z0-9_]+)*) -->/g)) {
    const close = '<!-- /numbers -->'
    const at = searched.indexOf(close, index)
    const line = lineOf(text, index)
    if (at < 0) throw new Error(`line ${line}: ${open} has no ${close}`)
    const from = index + open.length
    found.push({
      start: index, end: at + close.length, line, open, inner: text.slice(from, at),
      attributes: { kind, words: rest.split(' ').slice(1) },
    })
  }
  return found
}

/** All <!-- table: kind -->, in the same form. Nothing stands in them. */
export function findTables(text) {
  return [...blankCode(text).matchAll(/<!-- table: ([a-z-]+) -->/g)].map(
    ({ index, 0: open, 1: kind }) => ({
      start: index, end: index + open.length, line: lineOf(text, index), open,
      attributes: { kind },
    }))
}

/** The text with each element replaced by what `write` makes of it. */
export function replaceElements(text, elements, write) {
  let result = ''
  let at = 0
  for (const element of elements) {
    result += text.slice(at, element.start) + write(element)
    at = element.end
  }
  return result + text.slice(at)
}

/** The number of the line that a place is on, from 1. */
export function lineOf(text, index) {
  let line = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < index; at = text.indexOf('\n', at + 1))
    line++
  return line
}
