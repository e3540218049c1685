import assert from 'node:assert/strict'
import test from 'node:test'
import { afterEdit, extractRegion, withoutMarkers } from './regions.mjs'

const file = `#include "a.h"

// #region outer
struct A {
    // #region inner
    int x;

    int y;
    // #endregion inner
};
// #endregion outer

// #region blank

// #endregion blank
`
const get = (text, name) => extractRegion(text, name, 'a.cu')

test('a region is dedented, and keeps its blank lines', () => {
  const region = get(file, 'inner')
  assert.equal(region.text, 'int x;\n\nint y;\n')
  assert.deepEqual([region.first, region.last], [6, 8])
})

test('markers of regions within a region are left out', () => {
  const region = get(file, 'outer')
  assert.equal(region.text, 'struct A {\n    int x;\n\n    int y;\n};\n')
  assert.deepEqual([region.first, region.last], [4, 10])
})

test('a missing region is an error that names those that are there', () => {
  assert.throws(
    () => get(file, 'iner'),
    /a\.cu: region "iner" is missing .*outer, inner/
  )
  assert.throws(() => get('int x;', 'a'), /has: none/)
})

test('a region without its end, without its beginning or the wrong way round', () => {
  assert.throws(
    () => get('// #region a\nint x;', 'a'),
    /begins in line 1 but ends nowhere/
  )
  assert.throws(() => get('int x;\n// #endregion a', 'a'), /ends in line 2 but begins/)
  const reversed = '// #endregion a\nint x;\n// #region a\n'
  assert.throws(() => get(reversed, 'a'), /ends in line 1, before it begins/)
})

test('the end of another region does not end this one', () => {
  assert.throws(() => get('// #region a\nint x;\n// #endregion b', 'a'), /ends nowhere/)
  assert.throws(() => get('// #region a\nint x;\n// #endregion', 'a'), /ends nowhere/)
})

test('a doubled region is an error, whichever marker is doubled', () => {
  const once = '// #region a\nint x;\n// #endregion a\n'
  assert.throws(() => get(once + once, 'a'), /begins more than once, in lines 1, 4/)
  assert.throws(() => get(`${once}// #endregion a\n`, 'a'), /ends more than once/)
})

test('an empty region is an error', () => {
  assert.throws(() => get(file, 'blank'), /is empty/)
})

test('a name is a whole name', () => {
  assert.throws(
    () => get('// #region v1-kernel\nx\n// #endregion v1-kernel', 'v1'),
    /missing/
  )
})

test('carriage returns and other comment signs', () => {
  assert.equal(get('// #region a\r\nx\r\n// #endregion a\r\n', 'a').text, 'x\n')
  assert.equal(get('# #region a\nx\n# #endregion a\n', 'a').text, 'x\n')
  assert.equal(get('/* #region a */\nx\n/* #endregion a */\n', 'a').text, 'x\n')
})

test('a whole file is shown without markers', () => {
  assert.equal(withoutMarkers('a\n// #region x\nb\n// #endregion x\n').text, 'a\nb\n')
})

const solution = `// #region v1
int f() {
    // Why it is so.
    // TODO(learner): return the sum
    // of both (about 1 line)
    // #starter return 0;
    // #solution
    // Both fit.
    return a + b;
    // #end
}
// #endregion v1
`

test('a solution is shown without its marks and without the task', () => {
  const text =
    'int f() {\n    // Why it is so.\n    // Both fit.\n    return a + b;\n}\n'
  assert.equal(get(solution, 'v1').text, text)
  assert.equal(withoutMarkers(solution).text, text)
})

test('a starter keeps its task', () => {
  const starter = '// TODO(learner): return the sum\n// of both\nreturn 0;\n'
  assert.equal(withoutMarkers(starter).text, starter)
})

test('of an edit the lines after it are shown, dedented', () => {
  const edit = '# off by one\n# Rejected by: a case\n     step();\n-    return 1;\n' +
    '+    return 2;\n@@\n-// gone\n     more();\n'
  assert.equal(afterEdit(edit).text, 'step();\nreturn 2;\n\nmore();\n')
  assert.equal(afterEdit('-a\r\n+b\r\n').text, 'b\n')
})
