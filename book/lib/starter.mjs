// The files that learners write in are shown as they were handed out, whatever has
// become of them: made from their solutions, by the rules of tools/starter.cpp.

import fs from 'node:fs'
import path from 'node:path'
import { ROOT } from './pages.mjs'

/**
 * The starter that a solution gives: what lies between "// #solution" and "// #end" is
 * left out, and "// #starter TEXT" becomes TEXT.
 * @param {string} solution
 */
export function starterOf(solution) {
  const lines = []
  let inSolution = false
  for (const line of solution.replace(/\n$/, '').split('\n')) {
    const [, indent, text] = /^([ \t]*)(.*)$/.exec(line)
    if (text === '// #solution') inSolution = true
    else if (text === '// #end') inSolution = false
    else if (!inSolution) {
      const only = /^\/\/ #starter (.*)$/.exec(text)
      const shown = only ? indent + only[1] : line
      // What was cut out may leave two blank lines in a row.
      if (shown !== '' || lines.at(-1) !== '') lines.push(shown)
    }
  }
  return `${lines.join('\n')}\n`
}

/** Whether a file is one that learners write in: then it has a solution. */
function isStarter(file) {
  return (
    /^day\d\d-[^/]+\/.+\.cu$/.test(file) &&
    fs.existsSync(path.join(ROOT, 'solutions', file))
  )
}

/**
 * The text of a file as the book shows it, or null if there is no such file.
 * @param {string} file  from the root of the repository
 */
export function textOf(file) {
  const name = isStarter(file) ? path.join('solutions', file) : file
  const absolute = path.join(ROOT, name)
  if (!fs.existsSync(absolute) || !fs.statSync(absolute).isFile()) return null
  const text = fs.readFileSync(absolute, 'utf8')
  return name === file ? text : starterOf(text)
}
