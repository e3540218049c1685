// The copy of the book for a disk, read from file://: every page without a complaint and
// without a request that leaves the copy, and what its own script does.

import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { filesBelow } from '../../lib/html.mjs'
import { launchBrowser } from '../../lib/browser.mjs'
import { DIST } from './site.mjs'

/** Wide enough for everything on top to be seen. */
const DESK = { width: 1400, height: 900 }
const COPY = path.join(DIST, 'offline')
const browser = await launchBrowser()
after(() => browser.close())

const address = (page) => pathToFileURL(path.join(COPY, page)).href

async function open(page) {
  const tab = await browser.newPage({ viewport: DESK })
  await tab.goto(address(page))
  return tab
}

test('every page loads from a disk', async () => {
  const tab = await browser.newPage({ viewport: DESK })
  const complaints = []
  let file = ''
  tab.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${file}: ${message.text()}`)
  })
  tab.on('pageerror', (error) => complaints.push(`${file}: ${error.message}`))
  tab.on('requestfailed', (request) => complaints.push(`${file}: no ${request.url()}`))
  tab.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(pathToFileURL(COPY).href) && !url.startsWith('data:')) {
      complaints.push(`${file} asks for ${url}`)
    }
  })
  const pages = filesBelow(COPY, '.html')
  assert.ok(pages.length > 20)
  for (file of pages) await tab.goto(address(file))
  assert.deepEqual(complaints, [])
  await tab.close()
})

test('search finds an identifier, and Enter goes there', async () => {
  const tab = await open('day01-basics/index.html')
  await tab.keyboard.press('Control+k')
  await tab.keyboard.type('__shfl_xor_sync')
  await tab.locator('.wb-search li').first().waitFor()
  assert.match(await tab.locator('.wb-search li p').first().innerText(), /shfl/)
  await tab.keyboard.press('Enter')
  await tab.waitForURL(/shfl|shuffle|#/)
  assert.match(await tab.textContent('.vp-doc'), /__shfl_xor_sync/)
  await tab.keyboard.press('Control+k')
  await tab.locator('.wb-search input').fill('nosuchwordatall')
  await tab.getByText('Nothing was found.').waitFor()
  await tab.close()
})

test('a figure works', async () => {
  const tab = await open('figures/number-formats.html')
  const status = tab.locator('.wb-figure [role="status"]').first()
  const before = await status.innerText()
  const choice = tab
    .locator('.wb-figure')
    .locator('select, input[type="range"]')
    .first()
  await choice.focus()
  await tab.keyboard.press('ArrowDown')
  await tab.keyboard.press('ArrowRight')
  await tab.waitForFunction(
    (old) => document.querySelector('.wb-figure [role="status"]').innerText !== old,
    before
  )
  await tab.close()
})

test('dark colours are kept, the outline is there', async () => {
  const tab = await open('index.html')
  const isDark = () =>
    tab.evaluate(() => document.documentElement.classList.contains('dark'))
  await tab.locator('.VPSwitchAppearance').first().click()
  assert.equal(await isDark(), true)
  await tab.goto(address('day01-basics/02-vector-add/index.html'))
  assert.equal(await isDark(), true)
  assert.ok((await tab.locator('.VPDocAsideOutline a.outline-link').count()) > 5)
  await tab.close()
})
