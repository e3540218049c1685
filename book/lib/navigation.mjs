// The sidebar, and with it the order of "previous" and "next"; and the line on top.

import { days, figurePages, glossary, guides } from './pages.mjs'

const item = (p) => ({ text: p.title, link: p.url })

/** "Flash attention: never write the matrix down" is "Flash attention" in a list. */
const shortTitle = (title) => title.split(': ')[0]

const group = (text, pages) =>
  pages.length > 0 ? [{ text, items: pages.map(item) }] : []

/** A day with its chapters, numbered as their folders are. */
function dayGroup(day) {
  const title = day.page ? day.page.title : `Day ${day.number}`
  const overview = { text: 'The day', link: day.page?.url, docFooterText: title }
  return {
    text: title,
    items: [
      ...(day.page ? [overview] : []),
      ...day.chapters.map((chapter) => ({
        text: `${chapter.number} ${shortTitle(chapter.title)}`,
        link: chapter.url,
        docFooterText: chapter.title
      }))
    ]
  }
}

/** What to know first, the days, what to look up. */
function course() {
  const about = guides().filter((p) => p.url !== '/')
  return [
    ...group(
      'Start',
      about.filter((p) => p.order < 50)
    ),
    ...days().map(dayGroup),
    ...group(
      'About the workbook',
      about.filter((p) => p.order >= 50)
    ),
    ...group('Figures', figurePages())
  ]
}

/**
 * The sidebar: the course, or, in the glossary, its terms. No group can be folded: the
 * theme puts one button into another for that, which screen readers cannot tell apart.
 */
export function sidebar() {
  return { '/glossary/': group('Glossary', glossary()), '/': course() }
}

/** The line on top: first chapter, pages that ask for it ("nav: Speed"), glossary. */
export function navigation() {
  const first = days().flatMap((day) => day.chapters)[0]
  const asked = [...guides(), ...glossary()].filter((p) => p.data.nav)
  return [
    ...(first ? [{ text: 'First lesson', link: first.url }] : []),
    ...asked.map((p) => ({ text: p.data.nav, link: p.url })),
    ...(glossary().length > 0 ? [{ text: 'Glossary', link: glossary()[0].url }] : [])
  ]
}
