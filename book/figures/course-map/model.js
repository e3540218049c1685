// The course as a graph: which chapter needs which, two fast tracks through it, and what
// a reader has behind. A chapter is named "2.1": the first one of day 2.

/** The shortest ways to two aims; each holds all chapters that its chapters name. */
export const TRACKS = [
  {
    id: 'attention',
    title: 'Attention in two days',
    chapters: ['1.1', '1.2', '1.3', '1.5', '2.1', '2.2', '3.1', '3.3', '6.1', '6.2', '6.3'],
    hours: 16
  },
  {
    id: 'tuning',
    title: 'Tuning in one day',
    chapters: ['1.1', '1.2', '2.1', '7.1', '7.2'],
    hours: 8
  }
]

/**
 * What a line such as "day 1 and chapters 02 and 03" names: chapters of the same day
 * unless a day stands right behind them ("day 4, chapter 03"), and whole days.
 * @param {string} needs
 * @param {number} day  of the chapter that has the needs
 * @returns {{chapters: string[], days: number[]}}
 */
export function namedIn(needs, day) {
  const chapters = []
  const text = needs.replace(
    /\bday (\d)(?:,|'s)\s+chapters? (\d\d)/g,
    (all, other, chapter) => {
      chapters.push(`${other}.${Number(chapter)}`)
      return ''
    }
  )
  for (const [, list] of text.matchAll(/\bchapters? (\d\d(?:(?:, | and )\d\d)*)/g)) {
    for (const number of list.match(/\d\d/g)) chapters.push(`${day}.${Number(number)}`)
  }
  const days = new Set()
  for (const [, list] of text.matchAll(/\bdays? (\d(?:(?:, | and | to )\d)*)/g)) {
    const numbers = list.match(/\d/g).map(Number)
    if (!list.includes('to')) numbers.forEach((number) => days.add(number))
    else for (let i = numbers[0]; i <= numbers[1]; i++) days.add(i)
  }
  return { chapters: [...new Set(chapters)], days: [...days].sort() }
}

/** All that a chapter needs, and what that needs in turn, in the order of the course. */
export function neededFor(id, chapters) {
  const byId = new Map(chapters.map((chapter) => [chapter.id, chapter]))
  const found = new Set()
  const add = (name) => {
    const chapter = byId.get(name)
    if (!chapter || found.has(name)) return
    found.add(name)
    chapter.needs.forEach(add)
    for (const day of chapter.days) {
      chapters.filter((other) => other.day === day).forEach((other) => add(other.id))
    }
  }
  add(id)
  found.delete(id)
  return chapters.filter((chapter) => found.has(chapter.id)).map((chapter) => chapter.id)
}

/** "5 h 15 min" of reading and writing. */
export function timeOf(ids, chapters) {
  const minutes = chapters
    .filter(({ id }) => ids.includes(id))
    .reduce((sum, chapter) => sum + chapter.minutes, 0)
  return `${Math.floor(minutes / 60)} h${minutes % 60 > 0 ? ` ${minutes % 60} min` : ''}`
}

/** The first chapter of a way that is not behind the reader; null at the end. */
export const nextOf = (ids, done) => ids.find((id) => !done.has(id)) ?? null

/**
 * The chapters that ./learn has seen pass.
 * @param {string} text  .learn/progress: a line a chapter, "day01.vector_add passed …"
 * @param {{id: string, key: string}[]} chapters
 */
export function passedIn(text, chapters) {
  const keys = text.split('\n').map((line) => line.trim().split(/\s+/))
    .filter(([key, , , passed]) => key && !key.startsWith('#') && passed && passed !== '-')
    .map(([key]) => key)
  return chapters.filter(({ key }) => keys.includes(key)).map(({ id }) => id)
}

/** The names of an exercise in .learn/progress: "day01.vector_add". */
export const keyOf = (day, name) =>
  `day0${day}.${name.replace(/-/g, '_')}`
