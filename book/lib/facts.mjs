// What a lesson says about itself in its first line in italics: how long it takes, how
// difficult it is, what it needs and where it runs. A front matter may say it instead.

/**
 * The front matter of a Markdown text and the text without it. Only what the book uses
 * is understood: lines "key: value".
 * @param {string} text
 * @returns {{data: Object<string, string>, body: string}}
 */
export function splitFrontMatter(text) {
  const match = /^---\r?\n([\s\S]*?)\r?\n---\r?\n/.exec(text)
  if (!match) return { data: {}, body: text }
  const data = {}
  for (const line of match[1].split('\n')) {
    const pair = /^([\w-]+):\s*(.*?)\s*$/.exec(line)
    if (pair) data[pair[1]] = pair[2].replace(/^(["'])(.*)\1$/, '$2')
  }
  return { data, body: text.slice(match[0].length) }
}

const DIFFICULTIES = ['easy', 'medium', 'hard']

/** "2 hours" is 120, "2.5 hours" is 150; null if there is no time in the text. */
export function minutesOf(text) {
  const match = /(\d+(?:\.\d+)?)\s*(hours?|h|minutes?|min)\b/.exec(text)
  if (!match) return null
  return Number(match[1]) * (match[2].startsWith('h') ? 60 : 1)
}

/**
 * Reads a line such as "45 minutes, easy. Needs chapter 01. Runs on any GPU." What is
 * neither time nor need says where it runs.
 * @param {string} line  without the asterisks
 */
export function parseFacts(line) {
  const sentences = line
    .replace(/\s+/g, ' ')
    .split(/(?<=\.)\s+/)
    .map((sentence) => sentence.replace(/\.$/, '').trim())
    .filter(Boolean)
  const first = sentences[0] ?? ''
  const rest = sentences.slice(1)
  const needs = rest.filter((sentence) => sentence.startsWith('Needs '))
  const runs = rest.filter((sentence) => !sentence.startsWith('Needs '))
  const text = (list, word) => list.join('. ').replace(word, '') || null
  return {
    minutes: minutesOf(first),
    difficulty: DIFFICULTIES.find((word) => first.toLowerCase().includes(word)) ?? null,
    needs: text(needs, /^Needs /),
    runs: text(runs, /^Runs /)
  }
}

/**
 * The facts of a lesson, or null where it states none.
 * @param {string} text  the whole lesson
 */
export function lessonFacts(text) {
  const { data, body } = splitFrontMatter(text)
  const italic = /^# .+\n\s*\n\*([^*]+)\*\s*\n/m.exec(body)
  const facts = parseFacts(italic?.[1] ?? '')
  if (data.time) facts.minutes = minutesOf(data.time)
  for (const key of ['difficulty', 'needs', 'runs']) {
    if (data[key]) facts[key] = data[key]
  }
  return Object.values(facts).some((value) => value !== null) ? facts : null
}

/** What a lesson does not say about itself, and should. */
export function missingFacts(text) {
  const facts = lessonFacts(text) ?? {}
  return ['minutes', 'difficulty', 'needs', 'runs'].filter((key) => !facts[key])
}
