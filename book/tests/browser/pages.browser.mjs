// Every page, on a desk in light colours and on a phone in dark ones: no complaint of
// the browser, no request that leaves the book, nothing to scroll sideways, no serious
// violation that axe finds, no movement that nobody asked for; and nothing that is cut,
// from a telephone to a large screen.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import { after, test } from 'node:test'
import { addresses, DESK, PHONE, reader, start } from './site.mjs'
import { cut, openFolds, WIDTHS } from './widths.mjs'

const AXE = fs.readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8'
)
const { browser, origin } = await start(after)
const ALL = addresses()

const READERS = [
  { name: 'desk, light', viewport: DESK, colorScheme: 'light' },
  { name: 'phone, dark', viewport: PHONE, colorScheme: 'dark', reducedMotion: 'reduce',
    rules: ['scrollable-region-focusable', 'label', 'button-name'] }
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

/**
 * One element for each look that text has on the page: axe takes seconds to judge the
 * contrast of thousands of words of code, of which all but a few look like another one.
 * A look is what the contrast depends on: the text's colour, size, weight and shadow,
 * and the backgrounds and opacities from the element up to the page.
 */
function looks() {
  const known = new Map()
  const ground = (element) => {
    if (!element) return ''
    if (!known.has(element)) {
      const at = getComputedStyle(element)
      const own = [at.backgroundColor, at.backgroundImage, at.opacity, at.position]
      const plain = own.join() === 'rgba(0, 0, 0, 0),none,1,static'
      known.set(element, (plain ? '' : own.join()) + ground(element.parentElement))
    }
    return known.get(element)
  }
  const first = new Map()
  for (const element of document.body.querySelectorAll('*')) {
    const isText = (node) => node.nodeType === Node.TEXT_NODE && node.data.trim()
    if (![...element.childNodes].some(isText) || !element.checkVisibility()) continue
    const at = getComputedStyle(element)
    const own = [at.color, at.fontSize, at.fontWeight, at.textShadow, at.fill]
    const look = `${own.join()} on ${ground(element)}`
    if (!first.has(look)) first.set(look, element)
  }
  return [...first.values()]
}

/**
 * What axe calls serious or critical, with the first place of each. On a telephone it
 * looks at contrast and at what scrolls: all else is as on the desk.
 */
async function violations(page, rules) {
  await page.evaluate(AXE)
  await page.evaluate(`window.looks = ${looks}`)
  const found = await page.evaluate(async (asked) => {
    const rule = 'color-contrast'
    const only = { resultTypes: ['violations'] }
    const some = asked ? { runOnly: asked } : { rules: { [rule]: { enabled: false } } }
    const rest = await window.axe.run(document, { ...only, ...some })
    const contrast = await window.axe.run(
      { include: window.looks() },
      { ...only, runOnly: [rule] }
    )
    return [...rest.violations, ...contrast.violations]
  }, rules)
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

/**
 * Pages of the glossary are built alike: the phone opens all of them, as everything
 * else; axe and the desk look at every eighth.
 */
const isSample = (url) => !/^\/glossary\/./.test(url) || ALL.indexOf(url) % 8 === 0

/** Pages of each kind, which are looked at in all widths; the others in two. */
const OF_EACH_KIND = [
  /^\/$/,
  /^\/(?:performance|checklist|bibliography)\.html$/,
  /^\/day01-basics\/(?:01-[^/]+\/)?$/,
  /^\/day0[567][^/]*\/02-/,
  /^\/day06[^/]*\/08-/,
  /^\/figures\/(?:memory-access|roofline|course-map)/
]

/** What is cut at the widths of a page. The pages of terms are alike: all have none. */
async function cutAtWidths(page, url) {
  if (/^\/glossary\/./.test(url)) return []
  const every = OF_EACH_KIND.some((kind) => kind.test(url))
  await page.evaluate(openFolds)
  const found = []
  for (const width of every ? WIDTHS : [1280, 390]) {
    await page.setViewportSize({ width, height: DESK.height })
    for (const what of await page.evaluate(cut)) found.push(`cut at ${width}: ${what}`)
  }
  await page.setViewportSize(DESK)
  return found
}

async function problemsOf(url, { page, visit }, options) {
  const complaints = await visit(url)
  const wide = await page.evaluate(sideways)
  return [
    ...complaints,
    ...(wide ? [`wider than the window: ${wide.join(' | ')}`] : []),
    ...(isSample(url) ? await violations(page, options.rules) : []),
    ...(options.reducedMotion && (await page.evaluate(moving)) > 0
      ? ['something moves although nothing should']
      : []),
    ...(options.viewport === DESK ? await cutAtWidths(page, url) : [])
  ]
}

for (const { name, ...options } of READERS) {
  test(`every page is sound: ${name}`, async () => {
    const { rules, ...look } = options
    const at = await reader(browser, origin, look)
    const problems = []
    for (const url of options.viewport === PHONE ? ALL : ALL.filter(isSample)) {
      const found = await problemsOf(url, at, options)
      problems.push(...found.map((text) => `${url}  ${text}`))
    }
    await at.close()
    assert.deepEqual(problems, [])
  })
}
