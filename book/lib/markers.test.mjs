import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import test from 'node:test'
import { days, ROOT } from './pages.mjs'
import { snippet, textOf } from './markers.mjs'

test('a region is shown with the numbers of its lines', () => {
  const part = snippet('solutions/day01-basics/02-vector-add/vector_add.cu', 'v1-kernel')
  assert.match(part.text, /^__global__ void/m)
  assert.doesNotMatch(part.text, /#solution|TODO/)
  assert.ok(part.last > part.first && part.first > 1)
})

test('a file or a region that is not there', () => {
  assert.throws(() => snippet('day01-basics/nothing.cu', ''), /there is no file/)
  const file = 'day01-basics/02-vector-add/vector_add.cu'
  assert.throws(() => snippet(file, 'v9'), /region "v9" is missing .*has: .*v1-kernel/)
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
