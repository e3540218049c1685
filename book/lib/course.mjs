// The chapters as the map of the course shows them.

import { keyOf, namedIn } from '../figures/course-map/model.js'
import { days } from './pages.mjs'
import { BASE } from './sources.mjs'

/** @returns {{id, day, title, url, key, needs: string[], days: number[], minutes}[]} */
export function courseOf() {
  return days().flatMap(({ number, chapters }) =>
    chapters.map((chapter) => {
      const needs = namedIn(chapter.facts?.needs ?? '', number)
      return {
        id: `${number}.${Number(chapter.number)}`,
        day: number,
        title: chapter.title.split(': ')[0],
        url: chapter.url.replace(/^\//, BASE),
        key: keyOf(number, chapter.name),
        needs: needs.chapters,
        days: needs.days,
        minutes: chapter.facts?.minutes ?? 0
      }
    })
  )
}
