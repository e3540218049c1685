import assert from 'node:assert/strict'
import test from 'node:test'
import {
  lessonFacts,
  minutesOf,
  missingFacts,
  parseFacts,
  splitFrontMatter
} from './facts.mjs'
import { duration } from './lesson.mjs'
import { days, read } from './pages.mjs'

test('the line below the title', () => {
  const line =
    '2 hours, hard. Needs chapters 02 and 03. Runs on any GPU; v5 uses sm_80.'
  assert.deepEqual(parseFacts(line), {
    minutes: 120,
    difficulty: 'hard',
    needs: 'chapters 02 and 03',
    runs: 'on any GPU; v5 uses sm_80'
  })
})

test('a lesson with the line over two lines of text', () => {
  const text = '# Title\n\n*45 minutes, easy. Needs\nchapter 01.*\n\n## Why\n'
  const facts = lessonFacts(text)
  assert.equal(facts.minutes, 45)
  assert.equal(facts.needs, 'chapter 01')
  assert.equal(facts.runs, null)
})

test('a front matter goes before the line', () => {
  const text =
    '---\ndifficulty: medium\ntime: 90 minutes\n---\n# T\n\n*1 hour, easy.*\n\n'
  const facts = lessonFacts(text)
  assert.equal(facts.minutes, 90)
  assert.equal(facts.difficulty, 'medium')
})

test('a text without either has no facts', () => {
  assert.equal(lessonFacts('# Title\n\nText with *emphasis* in it.\n'), null)
})

test('times', () => {
  assert.equal(minutesOf('75 min'), 75)
  assert.equal(minutesOf('2.5 hours, hard'), 150)
  assert.equal(minutesOf('some time'), null)
  assert.equal(duration(135), '2 h 15 min')
  assert.equal(duration(45), '45 min')
})

test('front matter with quotes, and none', () => {
  assert.deepEqual(splitFrontMatter('---\ntitle: "A: b"\n---\nx').data, {
    title: 'A: b'
  })
  assert.equal(splitFrontMatter('x\n---\n').body, 'x\n---\n')
})

test('a sentence of its own says where it runs', () => {
  const facts = parseFacts('1 hour, hard. Needs 07. The kernels need 9.0 (H100).')
  assert.equal(facts.needs, '07')
  assert.equal(facts.runs, 'The kernels need 9.0 (H100)')
})

test('every chapter says how long, how difficult, what it needs, where it runs', () => {
  assert.deepEqual(missingFacts('# T\n\n*easy. Needs 01.*\n\n'), ['minutes', 'runs'])
  const chapters = days().flatMap((day) => day.chapters)
  assert.ok(chapters.length > 0)
  for (const { file } of chapters) assert.deepEqual(missingFacts(read(file)), [], file)
})
