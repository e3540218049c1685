// Every page, on a desk in light colours and on a phone in dark ones: no complaint of
// the browser, no request that leaves the book, nothing to scroll sideways, no serious
// violation that axe finds, no movement that nobody asked for.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import { after, test } from 'node:test'
import { addresses, DESK, inParallel, open, PHONE, start } from './site.mjs'

const AXE = fs.readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8'
)
const { browser, origin } = await start(after)
const ALL = addresses()

const READERS = [
  { name: 'desk, light', viewport: DESK, colorScheme: 'light' },
  { name: 'phone, dark', viewport: PHONE, colorScheme: 'dark', reducedMotion: 'reduce' }
]

/** What is wider than the window, for the message. */
function sideways() {
  const limit = document.documentElement.clientWidth
  if (document.documentElement.scrollWidth <= limit) return null
  const clipped = (element) => {
    for (let up = element.parentElement; up; up = up.parentElement) {
      if (getComputedStyle(up).overflowX !== 'visible') return true
    }
    return false
  }
  const wide = [...document.body.querySelectorAll('*')].filter(
    (element) => element.getBoundingClientRect().right > limit + 1 && !clipped(element)
  )
  return wide
    .slice(-3)
    .map((element) => `${element.tagName}.${element.className}: ${element.textContent
      .trim().slice(0, 60)}`)
}

/** What axe calls serious or critical, with the first place of each. */
async function violations(page) {
  await page.evaluate(AXE)
  const { violations: found } = await page.evaluate(() =>
    window.axe.run(document, { resultTypes: ['violations'] })
  )
  return found
    .filter(({ impact }) => ['serious', 'critical'].includes(impact))
    .map(({ id, nodes }) => {
      const [first] = nodes
      const why = first.any[0]?.message ?? first.all[0]?.message ?? ''
      return `${id} (${nodes.length}): ${first.target.join(' ')} ${why}`
    })
}

const moving = () =>
  document.getAnimations().filter((a) => a.playState === 'running').length

test('there are pages to look at', () => {
  assert.ok(ALL.length > 20, `${ALL.length} pages; was the book built?`)
  assert.ok(ALL.includes('/'))
})

for (const { name, ...options } of READERS) {
  test(`every page is sound: ${name}`, async () => {
    const problems = []
    await inParallel(ALL, 2, async (url) => {
      const { page, complaints, close } = await open(browser, origin, url, options)
      const note = (list) => problems.push(...list.map((text) => `${url}  ${text}`))
      note(complaints)
      const wide = await page.evaluate(sideways)
      if (wide) note([`wider than the window: ${wide.join(' | ')}`])
      note(await violations(page))
      if (options.reducedMotion && (await page.evaluate(moving)) > 0) {
        note(['something moves although nothing should'])
      }
      await close()
    })
    assert.deepEqual(problems, [])
  })
}
