import assert from 'node:assert/strict'
import test from 'node:test'
import { editionLine, releasesOf } from './edition.mjs'

test('an edition has its date and its commit', () => {
  const found = { date: '2026-11-24', commit: '1a2b3c4', release: '' }
  assert.equal(editionLine(found), 'Edition of 2026-11-24, commit 1a2b3c4')
  assert.match(editionLine({ ...found, release: 'v2' }), /1a2b3c4, after release v2$/)
  assert.match(editionLine(null), /without a date/)
})

test('a log is cut at its tags; what follows the last one comes first', () => {
  const log =
    '2026-03-03\t (HEAD -> main)\tbook: c\n2026-03-02\t\tMerge branch x\n' +
    '2026-02-02\t (tag: v2, origin/main)\tday01: b\n2026-01-01\t\tbook: a\n'
  assert.deepEqual(releasesOf(log), [
    { name: 'Not released yet', date: '2026-03-03', subjects: ['book: c'] },
    { name: 'v2', date: '2026-02-02', subjects: ['day01: b', 'book: a'] }
  ])
  assert.equal(releasesOf('2026-02-02\t (tag: v2)\tb').length, 1)
})
