// Which edition of the book this is, and what has changed: from git, where the book is
// built in a clone of its repository.

import { execFileSync } from 'node:child_process'
import { days, ROOT } from './pages.mjs'

/** What git says, or null: without git, in an archive, in a clone without history. */
function git(...words) {
  try {
    const options = { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }
    return execFileSync('git', words, { ...options, maxBuffer: 1 << 26 }).trim()
  } catch {
    return null
  }
}

/** @returns {?{date: string, commit: string, release: string}} */
export function edition() {
  const line = git('log', '-1', '--format=%cs %h')
  if (!line) return null
  const [date, commit] = line.split(' ')
  return { date, commit, release: git('describe', '--tags', '--abbrev=0') ?? '' }
}

/** "Edition of 2026-11-24, commit 1a2b3c4". */
export function editionLine(found = edition()) {
  if (!found) return 'An edition without a date: it was built outside of its repository'
  const release = found.release && `, after release ${found.release}`
  return `Edition of ${found.date}, commit ${found.commit}${release}`
}

const escapeHtml = (text) =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')

/**
 * A log as releases, the newest first; what follows the last tag comes before them.
 * @param {string} log  lines "date<tab>names of tags<tab>subject"
 * @returns {{name: string, date: string, subjects: string[]}[]}
 */
export function releasesOf(log) {
  const releases = []
  for (const line of log.split('\n').filter(Boolean)) {
    const [date, names, subject] = line.split('\t')
    const tag = /tag: ([^,)]+)/.exec(names)?.[1]
    if (tag || releases.length === 0) {
      releases.push({ name: tag ?? 'Not released yet', date, subjects: [] })
    }
    if (!/^Merge /.test(subject)) releases.at(-1).subjects.push(subject)
  }
  return releases
}

/** Subjects by their area: "day04: add wmma" is of day04. */
function areas(subjects) {
  const found = new Map()
  for (const subject of subjects) {
    const [, area, what] = /^([\w/-]+): (.*)$/.exec(subject) ?? [null, 'other', subject]
    found.set(area, [...(found.get(area) ?? []), what])
  }
  return [...found].sort(([a], [b]) => a.localeCompare(b))
}

/** The chapters by the day on which their lessons came, the newest day first. */
function newChapters() {
  const log = git('log', '--diff-filter=A', '--format=>%cs', '--name-only', '--',
    'day*/*/lesson.md')
  const chapters = new Map(days().flatMap((day) => day.chapters).map((c) => [c.file, c]))
  const byDate = new Map()
  let date = ''
  for (const line of (log ?? '').split('\n')) {
    if (line.startsWith('>')) date = line.slice(1)
    const chapter = chapters.get(line)
    if (!chapter) continue
    chapters.delete(line)
    byDate.set(date, [...(byDate.get(date) ?? []), chapter])
  }
  return [...byDate]
}

/** The changes as Markdown: new chapters by their dates, all commits by their areas. */
export function changelog() {
  const log = git('log', '--format=%cs%x09%d%x09%s')
  if (!log) return 'This copy was built outside of its repository, which has the history.'
  const link = ({ title, url }) => `[${title.split(': ')[0]}](${url})`
  const chapters = newChapters()
    .map(([date, list]) => `- ${date}: ${list.map(link).join(', ')}`)
  const releases = releasesOf(log).map(({ name, date, subjects }) => {
    const parts = areas(subjects).map(([area, list]) => {
      const items = list.map((what) => `<li v-pre>${escapeHtml(what)}</li>`)
      return `<h4>${escapeHtml(area)} (${list.length})</h4><ul>${items.join('')}</ul>`
    })
    const fold = `<details><summary>${subjects.length} changes, by area</summary>` +
      `${parts.join('')}</details>`
    return `### ${name}, ${date}\n\n${fold}`
  })
  return `## New chapters\n\n${chapters.join('\n')}\n\n## All changes\n\n` +
    releases.join('\n\n')
}
