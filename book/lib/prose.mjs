// The language of the lessons: what a reader whose English is a second language stumbles
// over. Rules of style as patterns, and words that no dictionary has.
//
//   npm run prose              what the rules find in all lessons, hints and pages

import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import nspell from 'nspell'
import { markdownFiles } from './numbers.mjs'
import { ROOT } from './pages.mjs'
import { blankCode, lineOf } from './tags.mjs'

/** "for" before a sentence of its own. */
const BECAUSE = new RegExp(
  ',\\s+for\\s+(?:it|they|there|he|she|we|you|this|that|nobody)\\s+' +
    '(?:is|are|has|have|was|were|do|does|can|must|needs?|will)\\b', 'g')

/** What not to write, and what to write in its place. */
export const RULES = [
  [/(?<=^|[.!:;](?:\*\*)?\s)Who (?!\w+ \w+[^.]*\?)[^?.]*\./g,
    'not "Who does it …": "If you do it, …"'],
  [/\bshall\b/g, 'not "shall": say who must do what'],
  [/\bis near\b(?!\s(?:to|the|a|it|its|their|\d+)\b)/g, 'near to what? say what happens'],
  [/\bthen because\b/g, 'not "if …, then because …": one sentence for each thought'],
  [/\bfor nobody\b|\bnobody third\b/g, 'no riddle: say what happens, in figures'],
  [/\boptimist|\bstranger's\b|\bholiday\b/g, 'no aphorism: say what is meant'],
  [/\b(?:error|fault|mistake|finding)s? (?:is|are|was|were) told\b/g, 'not "told": reported'],
  [/(?<!that )\bis no number\b|\bare no numbers\b/g, 'not "is no number": is NaN'],
  [/\b(?:un)?mend(?:s|ed|ing)?\b/gi, 'not "mend": fix'],
  [/\b(?:takes?|needs?|in|costs?) (?:[a-z]+|\d+) passes\b(?=[^.]*\b(?:bank|conflict))/g,
    'not "passes": wavefronts'],
  [/\bplaces? for (?:a )?warps?\b/g, 'not "places for warps": warp slots'],
  [/\bpatients?\b/gi, 'not "patients": the kernels that are profiled'],
  [/\brulers\b|\brods\b/gi, 'not "rulers" or "rods": microbenchmarks'],
  [/\bnumbers of (?:an?|the) (?:array|vector|matrix|tensor|row)\b/g, 'not "numbers": elements'],
  [/(?<!, |by )\brungs?\b(?! by)/gi, 'not "rung": version'],
  [/(?<=\S) +:::+(?=\n|$)/g, 'the end of a fold needs a line of its own'],
  [BECAUSE, 'not "for": because']
]

/** The text with all that is no prose blanked out, so that places stay the same. */
export function proseOf(text) {
  const blank = (part) => part.replace(/[^\n]/g, ' ')
  return blankCode(text)
    .replace(/^---\n[\s\S]*?\n---\n/, blank)
    .replace(/^Sources: [\s\S]*?(?=\n\s*\n|$(?![\s\S]))/gm, blank)
    .replace(/^## Sources\n[\s\S]*/m, blank)
    .replace(/\$\$[\s\S]*?\$\$|\$[^$\n]*(?:\n[^$\n]*)?\$/g, blank)
    .replace(/<!--[\s\S]*?-->|<\/?[A-Za-z][^>]*>/g, blank)
    .replace(/\]\([^)]*\)|\{#[^}]*\}/g, blank)
    .replace(/^<<< .*$|^:::.*$|^\|.*$/gm, blank)
}

/** @returns {{line: number, text: string, why: string}[]} */
export function styleFaults(text) {
  const prose = proseOf(text)
  return RULES.flatMap(([pattern, why]) =>
    [...prose.matchAll(pattern)].map(({ 0: found, index }) => ({
      line: lineOf(text, index), text: found.replace(/\s+/g, ' '), why
    }))
  )
}

/** Words of the book and of the field, and names of the people who are cited. */
const OWN = path.join(ROOT, 'book/lib/words.txt')

const dictionary = (name) => {
  const part = (kind) =>
    fs.readFileSync(path.join(ROOT, `node_modules/dictionary-${name}/index.${kind}`))
  return nspell({ aff: part('aff'), dic: part('dic') })
}

/** Says whether a word is known: in British or American spelling, or as one of ours. */
export function speller() {
  const languages = ['en-gb', 'en'].map(dictionary)
  const own = new Set(fs.readFileSync(OWN, 'utf8').split('\n'))
  const answers = new Map()
  const knows = (word) =>
    own.has(word) || own.has(word.toLowerCase()) ||
    languages.some((each) => each.correct(word) || each.correct(word.toLowerCase()))
  return (word) => {
    if (!answers.has(word)) answers.set(word, knows(word))
    return answers.get(word)
  }
}

/** Words of prose: no identifiers, no abbreviations, no names of files or units. */
const WORD = /(?<![\p{L}\p{N}_.\-/\\])\p{L}[\p{L}’']*(?![\p{L}\p{N}_]|\.\w)/gu

/** Words that no dictionary knows. */
export function spellingFaults(text, known) {
  const prose = proseOf(text)
  return [...prose.matchAll(WORD)]
    .map(({ 0: word, index }) => ({ word: word.replace(/[’']s?$/, ''), index }))
    .filter(({ word }) => word.length > 2 && !/\p{Lu}.*\p{Lu}/u.test(word) && !known(word))
    .map(({ word, index }) => ({
      line: lineOf(text, index), text: word,
      why: 'no dictionary has it: a typing error, or a word for book/lib/words.txt'
    }))
}

/** All faults of all texts, as lines "file:line: …". */
export function faultsOfAll() {
  const known = speller()
  return markdownFiles(ROOT).flatMap((file) => {
    const text = fs.readFileSync(file, 'utf8')
    return [...styleFaults(text), ...spellingFaults(text, known)].map(
      ({ line, text: found, why }) =>
        `${path.relative(ROOT, file)}:${line}: "${found}": ${why}`)
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const faults = faultsOfAll()
  for (const fault of faults) console.log(fault)
  process.exitCode = faults.length > 0 ? 1 : 0
}
