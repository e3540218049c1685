// Every figure says something at once, also without JavaScript, and answers to the
// keyboard and to the mouse.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { addresses, open, PHONE, reader, start } from './site.mjs'

const { browser, origin } = await start(after)
const FIGURES = addresses().filter((url) => url.startsWith('/figures/'))
/** A page with JavaScript and one without, for all figures one after the other. */
const player = await reader(browser, origin)
const still = await (await browser.newContext({ javaScriptEnabled: false })).newPage()
const FRAME = '.wb-figure'
const STATUS = `${FRAME} [role="status"]`
const CONTROLS = [
  'input[type="range"]',
  'input[type="number"]',
  'input[type="checkbox"]',
  'input[type="radio"]',
  'select',
  '[role="slider"]',
  'button:not(:disabled)',
  'svg'
]
  .map((control) => `${FRAME} ${control}`)
  .join(', ')

const statusOf = (page) => page.locator(STATUS).first().innerText()

/** Whether the status line becomes another one, within two frames. */
function changes(page, before) {
  return page.locator(STATUS).first().evaluate(async (status, old) => {
    for (let frame = 0; frame < 2 && status.innerText === old; frame++) {
      await new Promise(requestAnimationFrame)
    }
    return status.innerText !== old
  }, before)
}

/**
 * Whether Vue has given a listener to some part of the figure, which is loaded late; the
 * trace makes its own controls.
 */
function isAlive(frame) {
  const listens = (element) =>
    Object.getOwnPropertySymbols(element).some(({ description }) =>
      ['_vei', '_assign'].includes(description)
    )
  const parts = [...document.querySelectorAll(`${frame}, ${frame} *`)]
  return parts.some(listens) || document.querySelector('.kt input') !== null
}

/** Presses the keys that a control has; true if one of them changes the status. */
async function byKeyboard(page, control) {
  const before = await statusOf(page)
  await control.focus()
  const tag = await control.evaluate((element) => element.tagName)
  const arrows = ['ArrowRight', 'ArrowDown', 'ArrowLeft', 'ArrowUp']
  const keys = tag === 'BUTTON' ? ['Enter', 'Space'] : [...arrows, 'Space']
  for (const key of keys) {
    await page.keyboard.press(key)
    if (await changes(page, before)) return true
  }
  return false
}

/** Clicks a control, a range far from its value, a picture at a few places. */
async function byMouse(page, control) {
  const before = await statusOf(page)
  await control.scrollIntoViewIfNeeded()
  const box = await control.boundingBox()
  if (!box) return false
  for (const at of [0.5, 0.15, 0.85]) {
    const position = { x: box.width * at, y: box.height * at }
    await control.click({ position, force: true })
    if (await changes(page, before)) return true
  }
  return false
}

async function firstThatChanges(page, how) {
  const controls = await page.locator(CONTROLS).all()
  assert.ok(controls.length > 0, 'the figure has no controls')
  for (const control of controls) {
    if ((await control.isEnabled()) && (await how(page, control))) return true
  }
  return false
}

test('there are figures to look at', () => {
  assert.ok(FIGURES.length >= 9, FIGURES.join(' '))
})

for (const url of FIGURES) {
  test(`${url} answers to the keyboard and to the mouse`, async () => {
    const { page, visit } = player
    for (const [what, how] of [['keyboard', byKeyboard], ['mouse', byMouse]]) {
      const complaints = await visit(url)
      await page.waitForFunction(isAlive, FRAME)
      assert.ok((await statusOf(page)).length > 10, 'it says something at once')
      assert.ok(await firstThatChanges(page, how), `the ${what} changes nothing`)
      assert.deepEqual(complaints, [])
    }
  })

  test(`${url} shows the same without JavaScript`, async () => {
    await still.goto(origin + url)
    assert.ok((await statusOf(still)).length > 10, 'the status line is there')
    const drawn = still.locator(`${FRAME} svg *, ${FRAME} table td, ${FRAME} canvas`)
    assert.ok((await drawn.count()) > 5, 'the drawing is there')
  })
}

test('bits are set by dragging, and a number is rounded as it is typed', async () => {
  const { page, close } = await open(browser, origin, '/figures/number-formats.html')
  const bit = (place) => page.locator(`${FRAME} button[aria-label*="bit ${place}:"]`)
  const number = page.getByLabel('Number', { exact: true })
  await number.fill('65520')
  assert.match(await statusOf(page), /overflow/)
  await number.fill('one')
  assert.match(await statusOf(page), /no number/)
  await number.fill('0')
  await bit(9).hover()
  await page.mouse.down()
  await bit(8).hover()
  await page.mouse.up()
  assert.match(await statusOf(page), /0x0300/)
  await close()
})

test('the paged cache tells its story to the end, on a phone', async () => {
  const viewport = PHONE
  const { page, close } = await open(browser, origin, '/figures/paged-cache.html', {
    viewport
  })
  const next = page.locator(`${FRAME} button`).first()
  const said = []
  while (said.length < 20 && (await next.isEnabled())) {
    await next.click()
    said.push(await statusOf(page))
  }
  assert.ok(said.some((text) => text.startsWith('Out of pages')), said.join('\n'))
  assert.match(await next.innerText(), /over/)
  await close()
})
