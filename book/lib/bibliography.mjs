// The bibliography: every source that a lesson names, once, with the lessons that use it.
// A lesson ends with a paragraph "Sources: A. Author, *Title*, year (what of it). …", or
// with a list below "## Sources". A title in italics makes a source.

import { days, guides, read } from './pages.mjs'

/** The text of the sources at the end of a lesson, list items as sentences; or null. */
export function sourcesOf(text) {
  const flat = (part) => part.replace(/\s+/g, ' ').trim()
  const list = /^## Sources\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(text)
  if (list) {
    return list[1].split(/^- /m).map(flat).filter(Boolean)
      .map((item) => item.replace(/[.;]?$/, '.')).join(' ')
  }
  const paragraphs = [...text.matchAll(/^Sources: ([\s\S]*?)(?=\n\s*\n|$(?![\s\S]))/gm)]
  return paragraphs.length > 0 ? paragraphs.map(([, part]) => flat(part)).join(' ') : null
}

/** Where a source ends: a point before a capital, but not that of an initial. */
const END = /(?<!(?:^|[\s.(-])\p{Lu}|et al|vol|no|pp)\.\s+(?=[\p{Lu}*])/u

/**
 * The sources that a text names. A sentence without a title belongs to the one before.
 * @returns {{title: string, text: string}[]}
 */
export function entriesOf(text) {
  const entries = []
  for (const sentence of text.split(END)) {
    const titles = [...sentence.matchAll(/\*([^*]+)\*|^(PTX ISA)\b/g)]
    if (titles.length === 0) continue
    const [, title, bare] = titles[0]
    entries.push({ title: title ?? bare, text: sentence.replace(/\.$/, '').trim() })
  }
  return entries
}

/** One spelling for what is the same book: without case, blanks and points. */
const keyOf = (title) => title.toLowerCase().replace(/^nvidia,? /, '').replace(/\W+/g, ' ').trim()

/** The author of an entry: what stands before its title; sections of manuals are dropped. */
function headOf({ text, title }) {
  const at = text.indexOf(title)
  const until = text.indexOf('*', at)
  const rest = until < 0 ? '' : text.slice(until + 1)
  const year = /^,? *(?:\(?\d{4}\)?)(?:, arXiv:[\d.]+)?|^,? arXiv:[\d.]+/.exec(rest)?.[0] ?? ''
  const before = text.slice(0, Math.max(0, at)).replace(/\*$/, '')
  const arxiv = year.includes('arXiv') ? '' : /arXiv:\d+\.\d+/.exec(rest)?.[0] ?? ''
  return `${before}*${title}*${year}${arxiv && `, ${arxiv}`}`
}

/**
 * All sources, by their first words.
 * @param {{title: string, url: string, text: string}[]} lessons
 */
export function bibliography(lessons) {
  const found = new Map()
  for (const { title, url, text } of lessons) {
    for (const entry of entriesOf(sourcesOf(text) ?? '')) {
      const key = keyOf(entry.title)
      const known = found.get(key) ?? { head: '', lessons: new Map() }
      const head = headOf(entry)
      if (head.length > known.head.length) known.head = head
      known.lessons.set(url, title)
      found.set(key, known)
    }
  }
  const plain = (text) => text.replace(/[*`]/g, '').toLowerCase()
  return [...found.values()]
    .map(({ head, lessons: used }) => ({
      head,
      lessons: [...used].map(([url, title]) => ({ url, title }))
    }))
    .sort((a, b) => plain(a.head).localeCompare(plain(b.head), 'en'))
}

/** The lessons, and the pages that name sources. */
const withSources = () => [
  ...days().flatMap(({ number, chapters }) =>
    chapters.map((chapter) => ({
      ...chapter,
      title: `${number}.${Number(chapter.number)} ${chapter.title.split(': ')[0]}`
    }))
  ),
  ...guides()
].map((page) => ({ ...page, text: read(page.file) }))

/** Lessons that name no source, which no lesson should. */
export function withoutSources() {
  return days().flatMap(({ chapters }) => chapters)
    .filter(({ file }) => entriesOf(sourcesOf(read(file)) ?? '').length === 0)
    .map(({ file }) => file)
}

/** The list as Markdown. */
export function bibliographyTable() {
  return bibliography(withSources())
    .map(({ head, lessons }) => {
      const links = lessons.map(({ url, title }) => `[${title}](${url})`)
      return `- ${head}. In ${links.join(', ')}.`
    })
    .join('\n')
}
