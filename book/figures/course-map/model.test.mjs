import assert from 'node:assert/strict'
import test from 'node:test'
import { courseOf } from '../../lib/course.mjs'
import { readDone, writeDone } from './progress.js'
import { keyOf, namedIn, neededFor, nextOf, passedIn, timeOf, TRACKS } from './model.js'

test('needs name chapters of the same day, of another one, and days', () => {
  assert.deepEqual(namedIn('chapters 02 and 03', 6), { chapters: ['6.2', '6.3'], days: [] })
  assert.deepEqual(namedIn('day 1, and tiles from chapter 02', 2), {
    chapters: ['2.2'], days: [1]
  })
  assert.deepEqual(namedIn('a ring from day 4, chapter 03', 5), {
    chapters: ['4.3'], days: []
  })
  assert.deepEqual(namedIn("chapter 02; v4 is day 4's chapter 04", 5).chapters,
    ['4.4', '5.2'])
  assert.deepEqual(namedIn('chapter 01, and days 2 to 4 for more', 6), {
    chapters: ['6.1'], days: [2, 3, 4]
  })
  assert.deepEqual(namedIn('days 1 and 2', 3).days, [1, 2])
  assert.deepEqual(namedIn('C++ and nothing else', 1), { chapters: [], days: [] })
})

const SMALL = [
  { id: '1.1', day: 1, needs: [], days: [], minutes: 45, key: 'day01.a' },
  { id: '1.2', day: 1, needs: ['1.1'], days: [], minutes: 60, key: 'day01.b' },
  { id: '2.1', day: 2, needs: [], days: [1], minutes: 30, key: 'day02.c' },
  { id: '3.1', day: 3, needs: ['2.1'], days: [], minutes: 30, key: 'day03.d' }
]

test('what a chapter needs, with what that needs', () => {
  assert.deepEqual(neededFor('3.1', SMALL), ['1.1', '1.2', '2.1'])
  assert.deepEqual(neededFor('1.1', SMALL), [])
  assert.equal(timeOf(['1.1', '1.2'], SMALL), '1 h 45 min')
  assert.equal(nextOf(['1.1', '1.2'], new Set(['1.1'])), '1.2')
  assert.equal(nextOf(['1.1'], new Set(['1.1'])), null)
})

test('what ./learn has seen pass is read from its file', () => {
  const text =
    '# chapter last-grade\nday01.a passed 2026-11-21 2026-11-21 1\nday01.b failing 2026-11-21 -\n'
  assert.deepEqual(passedIn(text, SMALL), ['1.1'])
  assert.equal(keyOf(2, 'async-copy'), 'day02.async_copy')
})

const course = courseOf()
const byId = new Map(course.map((chapter) => [chapter.id, chapter]))

test('what a chapter needs comes before it, and is there', () => {
  for (const { id, needs, days } of course) {
    for (const need of needs) {
      assert.ok(byId.has(need), `${id} needs ${need}`)
      assert.ok(course.indexOf(byId.get(need)) < course.indexOf(byId.get(id)), `${id}: ${need}`)
    }
    for (const day of days) {
      assert.ok(course.some((chapter) => chapter.day === day), `${id} needs day ${day}`)
      assert.ok(day < byId.get(id).day, `${id} needs day ${day}`)
    }
  }
})

for (const { title, chapters, hours } of TRACKS) {
  test(`${title}: each chapter has what it names, in time`, () => {
    for (const id of chapters) {
      const chapter = byId.get(id)
      assert.ok(chapter, `${id} is there`)
      for (const need of chapter.needs) assert.ok(chapters.includes(need), `${id}: ${need}`)
    }
    const minutes = chapters.reduce((sum, id) => sum + byId.get(id).minutes, 0)
    assert.ok(minutes <= 60 * hours, `${minutes / 60} h`)
  })
}

test('ticks are kept, and a browser that keeps nothing is none the worse', () => {
  const kept = new Map()
  const storage = {
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => kept.set(name, value)
  }
  assert.deepEqual(readDone(storage), [])
  writeDone(new Set(['2.1', '1.1']), storage)
  assert.deepEqual(readDone(storage), ['1.1', '2.1'])
  kept.set('warpbook-done', '{"a": 1}')
  assert.deepEqual(readDone(storage), [])
  assert.deepEqual(readDone(undefined), [])
  assert.doesNotThrow(() => writeDone(new Set(), undefined))
})
