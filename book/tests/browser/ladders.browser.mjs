// What the data are shown with: ladders, diffs of rungs, numbers and the roofline.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { open, start } from './site.mjs'

const { browser, origin } = await start(after)
const LESSON = '/day06-llm-attention/02-flash-attention/'

test('another size of a ladder brings its own numbers', async () => {
  const { page, complaints, close } = await open(browser, origin, LESSON)
  const ladder = page.locator('.wb-ladder').first()
  const rows = () => ladder.locator('.wb-ladder-scroll tbody').innerText()
  const bars = () => ladder.locator('.wb-ladder-chart').getAttribute('aria-label')
  const before = [await rows(), await bars()]
  const select = ladder.locator('select')
  const others = select.locator('option:not(:checked)')
  await select.selectOption(await others.first().getAttribute('value'))
  assert.notEqual(await rows(), before[0])
  assert.notEqual(await bars(), before[1])
  assert.match(await ladder.innerText(), /NVIDIA.*CUDA/)
  assert.deepEqual(complaints, [])
  await close()
})

test('the table of a ladder has all sizes, ours and the libraries', async () => {
  const { page, close } = await open(browser, origin, LESSON)
  const all = page.locator('.wb-ladder-all').first()
  await all.locator('summary').click()
  const text = await all.locator('table').innerText()
  for (const word of ['v1', 'v5', 'torch', 'B4 H16 N4096 D64']) {
    assert.ok(text.includes(word), word)
  }
  await close()
})

test('a rung shows its code, and by the keyboard what changed in it', async () => {
  const { page, complaints, close } = await open(browser, origin, LESSON)
  await page.evaluate(() => {
    for (const fold of document.querySelectorAll('details')) fold.open = true
  })
  const diff = page.locator('.wb-rung-diff').first()
  const [code, changed] = [diff.locator('.panel.code'), diff.locator('.panel.diff')]
  assert.ok(await code.isVisible())
  assert.ok(!(await changed.isVisible()))
  await diff.locator('input').first().focus()
  await page.keyboard.press('ArrowRight')
  assert.ok(await changed.isVisible())
  assert.ok(!(await code.isVisible()))
  assert.ok((await changed.locator('.line.diff.add').count()) > 0)
  assert.ok((await changed.locator('.line.diff.remove').count()) > 0)
  assert.doesNotMatch(await changed.innerText(), /\u241f|code (\+\+|--)/)
  assert.deepEqual(complaints, [])
  await close()
})

test('a measured number says where it comes from', async () => {
  const { page, close } = await open(browser, origin, LESSON)
  const number = page.locator('.wb-measured').first()
  assert.match(await number.textContent(), /^[\d.,]+$/)
  assert.match(await number.getAttribute('title'), /^measured: .*NVIDIA/)
  await close()
})

test('the roofline goes from point to point by arrow keys and clicks', async () => {
  const { page, complaints, close } = await open(browser, origin, '/performance.html')
  const status = page.locator('.wb-figure [role="status"]').first()
  const chosen = page.locator('circle[tabindex="0"]')
  await chosen.focus()
  const before = await status.innerText()
  await page.keyboard.press('Home')
  const first = await status.innerText()
  assert.notEqual(first, before)
  await page.keyboard.press('ArrowRight')
  assert.notEqual(await status.innerText(), first)
  await page.locator('circle').last().click({ force: true })
  assert.match(await status.innerText(), /TFLOP\/s at .* FLOP for each byte/)
  assert.deepEqual(complaints, [])
  await close()
})

test('lost comparisons are shown, and come first', async () => {
  const { page, close } = await open(browser, origin, '/performance.html')
  const headings = await page.locator('h3').allInnerTexts()
  const [lost, won] = ['Lost', 'Won'].map(
    (word) => headings.findIndex((heading) => heading.startsWith(word)))
  assert.ok(lost >= 0 && lost < won, headings.join('; '))
  await close()
})
