// The sidebar, and with it the order of "previous" and "next".

import { days, glossary, guides } from './pages.mjs'

const item = (p) => ({ text: p.title, link: p.url })

/** "Flash attention: never write the matrix down" is "Flash attention" in a list. */
const shortTitle = (title) => title.split(': ')[0]

/** A day with its chapters, numbered as their folders are. */
function dayGroup(day) {
  const overview = day.page ? [{ text: 'The day', link: day.page.url }] : []
  return {
    text: day.page ? day.page.title : `Day ${day.number}`,
    collapsed: false,
    items: [
      ...overview,
      ...day.chapters.map((chapter) => ({
        text: `${chapter.number} ${shortTitle(chapter.title)}`,
        link: chapter.url
      }))
    ]
  }
}

/** The whole sidebar: what to know first, the days, what to look up, the glossary. */
export function sidebar() {
  const about = guides().filter((p) => p.url !== '/')
  const group = (text, pages, collapsed = false) =>
    pages.length > 0 ? [{ text, collapsed, items: pages.map(item) }] : []
  return [
    ...group('Start', about.filter((p) => p.order < 50)),
    ...days().map(dayGroup),
    ...group('About the workbook', about.filter((p) => p.order >= 50)),
    ...group('Glossary', glossary(), true)
  ]
}
