import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import test from 'node:test'
import { days, ROOT } from './pages.mjs'
import { starterOf, textOf } from './starter.mjs'

test('a starter is the solution minus lines', () => {
  const solution = [
    'int f() {',
    '    // #solution',
    '    return 1;',
    '    // #end',
    '    // #starter return 0;',
    '}',
    '',
    '// #solution',
    'int g();',
    '// #end',
    '',
    'int h();',
    ''
  ].join('\n')
  assert.equal(starterOf(solution), 'int f() {\n    return 0;\n}\n\nint h();\n')
})

test('the starters of all chapters are those that were handed out', () => {
  for (const { folder, chapters } of days()) {
    for (const chapter of chapters) {
      const name = chapter.name.replaceAll('-', '_')
      const file = `${folder}/${chapter.number}-${chapter.name}/${name}.cu`
      let committed
      try {
        const options = {
          cwd: ROOT,
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'ignore']
        }
        committed = execFileSync('git', ['show', `HEAD:${file}`], options)
      } catch {
        continue // not committed yet, or no git here
      }
      // Only where nobody has committed an answer.
      if (
        committed.includes('TODO(learner)') &&
        committed.includes('WB_NOT_SOLVED()')
      ) {
        assert.equal(textOf(file), committed, file)
      }
    }
  }
})

test('a file that is not there', () => {
  assert.equal(textOf('day01-basics/nothing.cu'), null)
  assert.equal(textOf('day01-basics'), null)
})
