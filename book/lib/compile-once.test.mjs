import assert from 'node:assert/strict'
import test from 'node:test'
import { once, withNames, withTexts } from './compile-once.mjs'

const page = (text) => `_cache[0] || (_cache[0] = _createStaticVNode(${JSON.stringify(text)}, 5))`

/** What the text is when the module runs. */
const run = (code) =>
  new Function('_createStaticVNode', '_cache', `return ${code}`)((text) => text, [])

const AWKWARD = '<p class="a">\\n `x` ${y} $ \\u0041 \u2028</p>\r\n\'"'

test('a long text is not in a module, and in its file it is what it was', () => {
  const named = withNames(page(AWKWARD))
  assert.ok(!named.includes('class'), named)
  assert.equal(run(withTexts(named)), AWKWARD)
})

test("a file is named by its contents: other texts have other names", () => {
  assert.notEqual(withNames(page('<p>a</p>')), withNames(page('<p>b</p>')))
  assert.equal(withNames(page('<p>a</p>')), withNames(page('<p>a</p>')))
})

test('a text that is put together from parts stays', () => {
  const code = '_createStaticVNode("<img src=\\"" + _imports_0 + "\\">", 1)'
  assert.equal(withNames(code), code)
})

test('a page is compiled once, as for browsers, and the server looks its texts up', async () => {
  const calls = []
  const transform = once(async (code, id, { ssr }) => {
    calls.push([id, ssr])
    return { code: page(code), map: null }
  })
  const [browser, server] = await Promise.all([
    transform('<p>once</p>', '/a.md', { ssr: false }),
    transform('<p>once</p>', '/a.md', { ssr: true })
  ])
  assert.deepEqual(calls, [['/a.md', false]])
  assert.equal(run(server.code), '<p>once</p>')
  assert.equal(run(withTexts(browser.code)), '<p>once</p>')
  await transform('<p>changed</p>', '/a.md', { ssr: true })
  assert.equal(calls.length, 2)
})

test('what is neither a page nor a component is left to Vue', async () => {
  const transform = once(async (code, id, { ssr }) => ({ code: `${code} ${ssr}` }))
  const id = '/a.vue?vue&type=style'
  assert.equal((await transform('x', id, { ssr: true })).code, 'x true')
})
