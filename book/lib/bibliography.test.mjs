import assert from 'node:assert/strict'
import test from 'node:test'
import { bibliography, entriesOf, sourcesOf, withoutSources } from './bibliography.mjs'

const SOURCES =
  'Sources: S. Boehm, *How to optimize*, 2022 (v7. And more). NVIDIA, *PTX ISA*,\n' +
  '"mma.m16n8k16". J.-M. Muller, *On ulp(x)*, no. 5, 2005. R. Child et al., *Sparse*, 2019.'

test('sources end where the next begins, not at an initial', () => {
  const entries = entriesOf(sourcesOf(`Text.\n\n${SOURCES}\n`))
  assert.deepEqual(
    entries.map(({ title }) => title),
    ['How to optimize', 'PTX ISA', 'On ulp(x)', 'Sparse']
  )
  assert.match(entries[2].text, /^J\.-M\. Muller.* no\. 5, 2005$/)
  assert.match(entries[3].text, /^R\. Child et al\., /)
})

test('a list below a heading is read, too', () => {
  const text = '# T\n\n## Sources\n\n- PTX ISA, "mbarrier".\n- J. Shah et al., *FA3*: v3.\n'
  assert.deepEqual(entriesOf(sourcesOf(text)).map(({ title }) => title), ['PTX ISA', 'FA3'])
})

test('a source stands once, with its lessons; the longest name of it wins', () => {
  const lesson = (title, text) => ({ title, url: `/${title}/`, text: `Sources: ${text}` })
  const list = bibliography([
    lesson('a', 'M. Harris, *Scan* (2007), arXiv:1234.5678. *PTX ISA*, "ld".'),
    lesson('b', 'NVIDIA, *PTX ISA*, "st".'),
    lesson('c', '*Scan*.')
  ])
  assert.deepEqual(
    list.map(({ head, lessons }) => `${head}: ${lessons.map(({ title }) => title)}`),
    ['M. Harris, *Scan* (2007), arXiv:1234.5678: a,c', 'NVIDIA, *PTX ISA*: a,b']
  )
})

test('every lesson names a source', () => {
  assert.deepEqual(withoutSources(), [])
})
