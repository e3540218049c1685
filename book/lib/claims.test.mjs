import assert from 'node:assert/strict'
import test from 'node:test'
import { allClaims, claimFaults, claimsOf } from './claims.mjs'

const sources = (text) => claimsOf(`# T\n\n${text}\n`).map(({ source }) => source)

test('a number is measured, reckoned or typed', () => {
  const tag = '<Measured of="day06/a/v1/n/tflops">41.8</Measured>'
  assert.deepEqual(sources(`v1 has ${tag} TFLOP/s.`), ['measured: day06/a/v1/n/tflops'])
  assert.deepEqual(sources('We predicted 360 µs. At 3,000 GB/s that is 9 µs.'),
    ['reckoned', 'reckoned'])
  assert.deepEqual(sources(`v1 took 165 µs. v2 has ${tag}, and v3 took 2 ms.`),
    ['typed', 'typed'])
  assert.deepEqual(sources('It took 4 warps, and had 12 registers.'), [])
})

test('code, filled tables and sources make no claims', () => {
  assert.deepEqual(sources('`took 3 µs`\n\n```\nv1 took 3 µs.\n```'), [])
  assert.deepEqual(sources('<LadderTable exercise="a">\n\nit took 3 µs\n\n</LadderTable>'), [])
  assert.deepEqual(sources('Sources: A. B, *It took 3 µs*.'), [])
})

test('a claim has its line and its sentence', () => {
  const [claim] = claimsOf('# T\n\nFirst.\nThen v1\ntook 3 µs.\n')
  assert.deepEqual([claim.line, claim.text], [4, 'Then v1 took 3 µs.'])
})

test('a typed measurement needs a reason, and a reason its sentence', () => {
  const claim = { file: 'a.md', line: 3, text: 'v1 took 3 µs.', source: 'typed' }
  const reason = { file: 'a.md', has: 'took 3', why: 'w' }
  assert.match(claimFaults([{ ...claim, reason: null }], [])[0], /^a\.md:3: .* typed: v1/)
  assert.deepEqual(claimFaults([{ ...claim, reason: 'w' }], [reason]), [])
  assert.match(claimFaults([], [reason])[0], /has "took 3" any more/)
})

test('no lesson has a typed measurement without a reason', () => {
  const claims = allClaims()
  assert.ok(claims.length > 300, `${claims.length} claims`)
  assert.deepEqual(claimFaults(claims), [])
})
