// What a reader does besides reading: searching, printing, losing the way, looking up a
// term.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { addresses, DESK, open, PHONE, reader, start } from './site.mjs'

const { browser, origin } = await start(after)
const LESSONS = addresses().filter((url) => /^\/day\d\d-[^/]+\/\d\d-/.test(url))
const LONGEST = '/day06-llm-attention/02-flash-attention/'

/** What the search offers for some words, as titles, once it offers what is expected. */
async function search(page, words, expected) {
  await page.keyboard.press('Control+k')
  await page.locator('.VPLocalSearchBox input').fill(words)
  const results = page.locator('.VPLocalSearchBox .result')
  const isThere = (titles) =>
    expected ? titles.some((title) => expected.test(title)) : titles.length === 0
  // Until it has searched, the list is that of the words before.
  const end = Date.now() + 20_000
  let titles = await results.allInnerTexts()
  while (!isThere(titles) && Date.now() < end) {
    await page.waitForTimeout(50)
    titles = await results.allInnerTexts()
  }
  await page.keyboard.press('Escape')
  return titles
}

test('the search finds identifiers, words inside of words, and terms', async () => {
  const { page, complaints, close } = await open(browser, origin, '/')
  for (const [words, expected] of [
    ['__shfl_xor_sync', /./],
    ['__syncthreads', /./],
    ['cudaGetLastError', /Hello|launch/i],
    ['shfl', /./],
    ['block table', /Block table|Paged/i],
    ['swizzel', /swizzle/i],
    ['coalesing', /coalesc/i],
    ['double buffering', /Pipeline stage/i],
    ['thread coarsening', /Register tile/i],
    ['quantisierung xyzzy', null]
  ]) {
    const found = await search(page, words, expected)
    if (expected === null) assert.deepEqual(found, [], words)
    else assert.ok(found.some((title) => expected.test(title)), `${words}: ${found}`)
  }
  assert.deepEqual(complaints, [])
  await close()
})

test('each result shows where the words stand', async () => {
  const { page, complaints, close } = await open(browser, origin, '/')
  await page.keyboard.press('Control+k')
  await page.locator('.VPLocalSearchBox input').fill('bank conflict')
  const excerpts = page.locator('.VPLocalSearchBox .result .excerpt')
  await excerpts.locator('mark').first().waitFor()
  const texts = await excerpts.allInnerTexts()
  assert.ok(texts.length > 5, `${texts.length} excerpts`)
  for (const text of texts) assert.ok(text.trim().length > 20, text)
  assert.ok(texts.some((text) => /bank conflict/i.test(text)), texts.join('\n'))
  assert.deepEqual(complaints, [])
  await close()
})

test('the search opens by a click, and a result leads to the page', async () => {
  const { page, close } = await open(browser, origin, '/')
  await page.locator('.VPNavBarSearch button').first().click()
  await page.locator('.VPLocalSearchBox input').fill('bank conflict')
  await page.locator('.VPLocalSearchBox .result', { hasText: /bank/i }).first().click()
  await page.waitForURL((url) => url.pathname !== '/')
  await page.locator('h1', { hasText: /bank/i }).waitFor()
  await close()
})

/** What paper would show of the page that is open. */
function onPaper() {
  const shown = (element) => element.getClientRects().length > 0
  const all = (selector) => [...document.querySelectorAll(selector)]
  const code = all('.vp-doc pre').filter(shown)
  const cut = code.filter((pre) => pre.scrollWidth > pre.clientWidth + 1)
  return {
    code: code.length,
    cut: cut.map((pre) => pre.innerText.slice(0, 80)),
    closed: all('.vp-doc details:not([open])').length,
    navigation: all('.VPNav, .VPSidebar, .VPLocalNav').filter(shown).length
  }
}

/** What every lesson has in the browser. */
async function assertWhole(page, url) {
  assert.equal(await page.locator('h1').count(), 1, url)
  assert.ok((await page.locator('.wb-facts dt').count()) >= 2, `${url}: facts`)
  assert.ok((await page.locator('.pager-link').count()) >= 1, `${url}: pager`)
  const outline = page.locator('.VPDocAsideOutline a')
  assert.ok((await outline.count()) > 3, `${url}: outline`)
  const about = await page.locator('meta[name="description"]').getAttribute('content')
  assert.ok(about.length > 30 && about.length <= 200, `${url}: ${about}`)
  const footer = await page.locator('.wb-footer').innerText()
  assert.match(footer, /Warpbook contributors, MIT licence\. .*dition/, url)
}

test('a lesson is whole; paper shows its lines, open folds, no navigation', async () => {
  assert.ok(LESSONS.length >= 11, LESSONS.join(' '))
  const { page, visit, close } = await reader(browser, origin, {
    viewport: { width: 720, height: 1000 }
  })
  for (const url of LESSONS) {
    await page.emulateMedia({ media: 'screen' })
    await visit(url)
    await assertWhole(page, url)
    await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')))
    await page.emulateMedia({ media: 'print' })
    const { code, cut, closed, navigation } = await page.evaluate(onPaper)
    assert.ok(code > 5, `${url}: ${code} pieces of code`)
    assert.deepEqual(cut, [], url)
    assert.equal(closed, 0, `${url}: folds that are closed on paper`)
    assert.equal(navigation, 0, `${url}: navigation on paper`)
  }
  await close()
})

test('an address that does not exist says what is there', async () => {
  const { page, close } = await open(browser, origin, '/day06/flash')
  const text = await page.locator('body').innerText()
  assert.match(text, /404|no such page|not.*here|nothing/i)
  const links = page.locator('#VPContent a, .NotFound a')
  assert.ok((await links.count()) > 0, 'it offers a way on')
  await links.first().click()
  await page.waitForURL((url) => url.pathname !== '/day06/flash')
  assert.ok((await page.locator('h1').innerText()).length > 3)
  await close()
})

test('a term is linked once a lesson, with its definition', async () => {
  const { page, close } = await open(browser, origin, LONGEST, { viewport: DESK })
  const terms = await page.locator('.vp-doc a.wb-term').evaluateAll((links) =>
    links.map((link) => ({ href: link.getAttribute('href'), title: link.title }))
  )
  assert.ok(terms.length > 5, `${terms.length} terms`)
  assert.equal(new Set(terms.map(({ href }) => href)).size, terms.length)
  for (const { href, title } of terms) assert.ok(title.length > 20, href)
  const [first] = terms
  await page.locator('.vp-doc a.wb-term').first().click()
  await page.waitForURL((url) => url.pathname === first.href)
  assert.ok((await page.locator('h1').innerText()).length > 1)
  await close()
})

test('on a telephone the scripts wait for a touch, and that touch is not lost', async () => {
  const context = await browser.newContext({ viewport: PHONE, hasTouch: true })
  const page = await context.newPage()
  await page.goto(`${origin}/glossary/warp.html`, { waitUntil: 'load' })
  await page.waitForTimeout(500)
  const alive = () => document.querySelector('#app')?.__vue_app__ !== undefined
  assert.equal(await page.evaluate(alive), false)
  await page.locator('.VPLocalNav .menu').tap()
  await page.locator('.VPSidebar.open').waitFor({ timeout: 5000 })
  assert.equal(await page.evaluate(alive), true)
  await context.close()
})

test('on a telephone a shadow says that a table goes on', async () => {
  const context = await browser.newContext({ viewport: PHONE })
  const page = await context.newPage()
  await page.goto(`${origin}/performance.html`, { waitUntil: 'load' })
  const [image, row] = await page.locator('.vp-doc table').evaluateAll((tables) => {
    for (const table of tables) table.style.contentVisibility = 'visible'
    const wide = tables.find((table) => table.scrollWidth > table.clientWidth)
    const styles = [wide, wide.querySelector('tbody tr')].map((e) => getComputedStyle(e))
    return [styles[0].backgroundImage, styles[1].backgroundColor]
  })
  assert.equal(image.split('linear-gradient').length - 1, 4)
  assert.equal(row, 'rgba(0, 0, 0, 0)')
  await context.close()
})

test('the list of chapters stands at the open one', async () => {
  const { page, close } = await open(browser, origin, LONGEST)
  const item = page.locator('.VPSidebarItem.is-active > .item').last()
  await item.waitFor()
  await page.waitForTimeout(200)
  const { y } = await item.boundingBox()
  assert.ok(y > 60 && y < DESK.height - 40, `at ${y} px`)
  assert.equal(await page.evaluate(() => window.scrollY), 0)
  await close()
})
