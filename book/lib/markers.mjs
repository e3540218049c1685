// What the book shows of source files. Markers ("// #region x", "// #solution") are read by
// tools/markers.py, for the book as for the build and for ./learn.

import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { days, read, ROOT } from './pages.mjs'

const known = new Map() // file -> { stamp, shown }

/** Changes whenever the file or the solution behind it does. */
function stampOf(file) {
  return [file, path.join('solutions', file)]
    .map((name) => fs.statSync(path.join(ROOT, name), { throwIfNoEntry: false }))
    .map((stat) => (stat ? `${stat.mtimeMs}/${stat.size}` : '-'))
    .join(' ')
}

/** Asks tools/markers.py about files, all at once: to start it takes longer than that. */
function learn(files) {
  const script = path.join(ROOT, 'tools/markers.py')
  const options = { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 30 }
  const answer = execFileSync('python3', ['-I', script, '--json', ...files], options)
  for (const [file, shown] of Object.entries(JSON.parse(answer))) {
    known.set(file, { stamp: stampOf(file), shown })
  }
}

/** The files that lessons show. */
function filesOfLessons() {
  const files = new Set()
  for (const { folder, chapters } of days()) {
    for (const { number, name } of chapters) {
      const chapter = `${folder}/${number}-${name}`
      const lines = read(`${chapter}/lesson.md`).matchAll(/^<<< ([^#{\s]+)/gm)
      for (const [, file] of lines) files.add(path.normalize(`${chapter}/${file}`))
    }
  }
  return [...files]
}

/** All that markers.py knows of a file; null if there is no such file. */
function shownOf(file) {
  if (known.size === 0) learn(filesOfLessons())
  if (known.get(file)?.stamp !== stampOf(file)) learn([file])
  return known.get(file).shown
}

/**
 * The text of a file as the book shows it, or null if there is no such file. The files
 * that learners write in are shown as they were handed out.
 * @param {string} file  from the root of the repository
 */
export function textOf(file) {
  return shownOf(file)?.text ?? null
}

/**
 * The code that a snippet shows, and the numbers of its first and last line.
 * @param {string} file    from the root of the repository
 * @param {string} region  may be empty: the whole file
 * @param {string} language  of an edit, "diff" shows itself, any other what it makes
 * @throws {Error} if there is no such file, or no such region in it
 */
export function snippet(file, region, language = '') {
  const shown = shownOf(file)
  if (!shown) throw new Error(`there is no file ${file}`)
  const names = Object.keys(shown.regions).join(', ') || 'none'
  let part = shown.regions[region]
  if (!region) part = language === 'diff' ? shown.edit : shown.whole
  part ??= { error: `region "${region}" is missing (the file has: ${names})` }
  if (part.error) throw new Error(`${file}: ${part.error}`)
  return part
}
