import assert from 'node:assert/strict'
import test from 'node:test'
import { faultsOfAll, speller, spellingFaults, styleFaults } from './prose.mjs'

/** Sentences that once stood in the lessons, and what took their place. */
const SENTENCES = [
  ['Who launches a kernel next finds the old error.',
    'If you launch another kernel, it reports the old error.'],
  ['**In a list.** Who reads on is late.', '**In a list.** If you read on, you are late.'],
  ['Who needs the result synchronises.', 'A caller that needs the result synchronises.'],
  ['`float r_o[D]` shall be registers.', 'The compiler must keep `r_o` in registers.'],
  ['When rows are masked, $-\\infty - (-\\infty)$ is near.',
    'This can compute $-\\infty - (-\\infty)$, which is NaN; that is near the limit.'],
  ['If paging costs something, then because pages are looked up.',
    'Paging costs time because pages are looked up.'],
  ['Such a warpgroup computes one block for nobody.',
    'Such a warpgroup computes one block whose result it drops.'],
  ['There is nobody third to use that time.', 'No third warpgroup can use that time.'],
  ['The speedup is an upper bound of an optimist.', 'The speedup is an upper bound.'],
  ["The duration comes from a stranger's life.", 'The duration includes the profiler.'],
  ['The error is told by the next call.', 'The error is reported by the next call.'],
  ['The sum of all weights is no number.', 'The sum of all weights is NaN.'],
  ['The same formula mends it.', 'The same formula corrects it.'],
  ['A column takes 32 passes, for its bank conflicts are perfect.',
    'A column takes 32 wavefronts. The tests take 32 passes.'],
  ['An H100 has 64 places for warps.', 'An H100 has 64 warp slots.'],
  ['Then six patients wait for you.', 'Then six kernels wait for you.'],
  ['The roofs are measured with *rulers*.', 'They are measured with microbenchmarks.'],
  ['The numbers of an array lie side by side.', 'The elements of an array do.'],
  ['A rung need not be faster.', 'The solution, rung by rung. v3 need not be faster.'],
  ['It is the last word. :::', 'It is the last word.\n:::'],
  ['v4 is faster, for it has half as many trees.', 'v4 has room for it, and is fast.']
]

for (const [found, written] of SENTENCES) {
  test(`found: ${found}`, () => {
    assert.ok(styleFaults(`# Title\n\nText. ${found}\n`).length > 0)
    assert.deepEqual(styleFaults(`# Title\n\nText. ${written}\n`), [])
  })
}

test('a fault has its line; code, sources, tables and questions are none', () => {
  const [fault] = styleFaults('# T\n\nGood.\nIt shall be. ')
  assert.deepEqual([fault.line, fault.text], [4, 'shall'])
  const others =
    '---\ntitle: shall\n---\n`shall`\n\n```\nshall\n```\n\n| shall |\n\n' +
    '<b title="shall">x</b>\n\n' +
    '[x](shall.md) $shall$\n\nWho writes this element?\n\nSources: A. Shall, *It shall be*.\n'
  assert.deepEqual(styleFaults(others), [])
})

test('a typing error has no dictionary; identifiers and units need none', () => {
  const known = speller()
  const faults = (text) => spellingFaults(text, known).map(({ text: word }) => word)
  assert.deepEqual(faults('The neighbour’s memroy is normalised and normalized.'), ['memroy'])
  assert.deepEqual(faults('A softmax of `memroy`, thraed_idx, sm_90a, file.cuh, GPUs.'), [])
})

test('all lessons, hints and pages are written so', () => {
  assert.deepEqual(faultsOfAll(), [])
})
