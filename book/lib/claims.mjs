// Every sentence of the lessons that has a number with a unit of speed or time, and where
// the number comes from.
//
//   npm run claims             all of them, a line each
//
// measured   between tags that lib/numbers.mjs fills from book/data
// reckoned   a prediction, an assumption, a data sheet, arithmetic: typed, as it may be
// typed      what the text says was measured, and nobody wrote down in book/data: allowed
//            only with a reason, in book/data/typed/reasons.json

import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { markdownFiles } from './numbers.mjs'
import { ROOT } from './pages.mjs'
import { blankCode, lineOf } from './tags.mjs'

const REASONS = path.join(ROOT, 'book/data/typed/reasons.json')

const UNIT = '(?:[µmn]s|seconds|microseconds|milliseconds|nanoseconds|[TGM]FLOP\\/s|[TGM]B\\/s|' +
  'tokens\\/s|cycles|W)'
const NUMBER = new RegExp(`(?<![\\w.,])\\d[\\d,.]*(?: to \\d[\\d,.]*)?\\s${UNIT}(?![\\w])`)

/** The tense of what has been measured. */
const PAST = new RegExp('\\b(?:took|had|reached|measured|gained|were|was|ran|got|came|' +
  'made|lost|won|cost|showed|saved|needed)\\b')

/** Words of a prediction, an assumption, or of a number of others. */
const RECKONED = new RegExp('\\b(?:predict\\w*|expect\\w*|should|would|suppose|assum\\w+|say|let|' +
  'targets?|promis\\w+|model|data sheet|peak|instead of|authors|published|report)\\b', 'i')

/** The text of tables and numbers that are filled in, and code, blanked out. */
function typedText(text) {
  const blank = (part) => part.replace(/[^\n]/g, ' ')
  return blankCode(text)
    .replace(/<(LadderTable|ErrorChart)\b[\s\S]*?<\/\1>/g, blank)
    .replace(/<!-- numbers[\s\S]*?<!-- \/numbers -->/g, blank)
    .replace(/^Sources: [\s\S]*?(?=\n\s*\n|$(?![\s\S]))/gm, blank)
}

/** Sentences of a paragraph, with their places. */
function sentences(text) {
  const found = []
  for (const { 0: part, index } of text.matchAll(/[^\n](?:(?!\n\s*\n)[\s\S])*/g)) {
    let at = index
    for (const piece of part.split(/(?<=[.?!:]["')*]?)\s+(?=[\p{Lu}*`<(]|- |v\d)|\n(?=[-|])/u)) {
      at = text.indexOf(piece, at)
      found.push({ text: piece, index: at })
    }
  }
  return found
}

/**
 * @param {string} text  Markdown of a lesson
 * @returns {{line: number, text: string, source: string}[]}
 */
export function claimsOf(text) {
  const searched = typedText(text)
  return sentences(searched).flatMap(({ text: sentence, index }) => {
    const tags = [...sentence.matchAll(/<Measured of="([^"]+)"/g)].map(([, of]) => of)
    const bare = sentence.replace(/<Measured\b[^>]*>[\s\S]*?<\/Measured>/g, '#')
    const typed = NUMBER.test(bare)
    if (tags.length === 0 && !typed) return []
    const plain = sentence.replace(/<[^>]+>/g, '').replace(/\s+/g, ' ').trim()
    const claim = { line: lineOf(text, index), text: plain }
    if (!typed) return [{ ...claim, source: `measured: ${tags.join(', ')}` }]
    const isPast = PAST.test(bare) && !RECKONED.test(bare) && !bare.startsWith('|')
    return [{ ...claim, source: isPast ? 'typed' : 'reckoned' }]
  })
}

/** Reasons for typed measurements: by file, what the sentence contains, and why. */
const reasons = () => JSON.parse(fs.readFileSync(REASONS, 'utf8'))

const lessons = () =>
  markdownFiles(ROOT).filter((file) => /day\d\d-[^/]+\/(?:README|[^/]+\/lesson)\.md$/.test(file))

/** All claims; a typed one with the reason that allows it, if there is one. */
export function allClaims(allowed = reasons()) {
  return lessons().flatMap((file) => {
    const name = path.relative(ROOT, file)
    return claimsOf(fs.readFileSync(file, 'utf8')).map((claim) => {
      const reason = allowed.find(
        ({ file: of, has }) => of === name && claim.text.includes(has))
      return { file: name, ...claim, reason: reason?.why ?? null }
    })
  })
}

/** Typed measurements without a reason, and reasons that no sentence has any more. */
export function claimFaults(claims = allClaims(), allowed = reasons()) {
  const typed = claims.filter(({ source }) => source === 'typed')
  const without = typed
    .filter(({ reason }) => reason === null)
    .map(({ file, line, text }) => `${file}:${line}: a measurement that was typed: ${text}`)
  const idle = allowed
    .filter(({ file, has }) => !typed.some((c) => c.file === file && c.text.includes(has)))
    .map(({ file, has }) => `${file}: no typed measurement has "${has}" any more`)
  return [...without, ...idle]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const claims = allClaims()
  for (const { file, line, text, source, reason } of claims) {
    console.log(`${file}:${line}\t${source}${reason ? `, because ${reason}` : ''}\t${text}`)
  }
  const faults = claimFaults(claims)
  for (const fault of faults) console.error(fault)
  process.exitCode = faults.length > 0 ? 1 : 0
}
