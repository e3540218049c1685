// Every page, on a phone in dark colours and then on a desk in light ones: no complaint
// of the browser, no request that leaves the book, nothing to scroll sideways, no serious
// violation that axe finds, no movement that nobody asked for; and nothing that is cut,
// from a telephone to a large screen. A page is loaded once and becomes the other; one
// of each kind is loaded on the desk as well. Several readers share the pages: each of
// them mostly waits.

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

/** What a phone can have wrong and a desk cannot; colours are looked at on both. */
const PHONE_RULES = ['scrollable-region-focusable', 'label', 'button-name']

/** Looks of text whose contrast was judged on some page. */
const judged = new Set()

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
 * Marks one element for each look that text has on the page and that was judged on none
 * before, and returns these looks: axe takes seconds to judge the contrast of thousands
 * of words, of which all but a few look like another one. A look is what the contrast
 * depends on: the text's colour, size, weight and shadow, and the backgrounds and
 * opacities from the element up to the page; of code, also its class, which has another
 * colour in the other scheme.
 *
 * What is left of code and of formulas, elements without a role, a name or a look that
 * is new, becomes text: axe could find nothing else in it, and it is most of a page.
 */
function markLooks(known) {
  const grounds = new Map()
  const ground = (element) => {
    if (!element) return ''
    if (!grounds.has(element)) {
      const at = getComputedStyle(element)
      const own = [at.backgroundColor, at.backgroundImage, at.opacity, at.position]
      const none = own.join() === 'rgba(0, 0, 0, 0),none,1,static'
      grounds.set(element, (none ? '' : own.join()) + ground(element.parentElement))
    }
    return grounds.get(element)
  }
  const isText = (node) => node.nodeType === Node.TEXT_NODE && node.data.trim()
  const judged = new Set(known)
  const found = new Set()
  const plain = []
  for (const element of document.body.querySelectorAll('*')) {
    element.removeAttribute('data-look')
    if (![...element.childNodes].some(isText) || !element.checkVisibility()) continue
    const word = element.matches('.vp-code .line > span')
    const at = getComputedStyle(element)
    const own = [at.color, at.fontSize, at.fontWeight, at.textShadow, at.fill,
      word ? element.className : '']
    const look = `${own.join()} on ${ground(element)}`
    const isNew = !found.has(look) && !judged.has(look)
    if (isNew) element.setAttribute('data-look', '')
    else if (word && [...element.attributes].every(({ name }) => name === 'class'))
      plain.push(element)
    found.add(look)
  }
  for (const element of plain) element.replaceWith(element.textContent)
  for (const formula of document.querySelectorAll('.katex-html, .katex math > *')) {
    const spoken = '[data-look], [id], [role], [tabindex], [title], a, button, img, input'
    const named = (element) => /\baria-/.test(element.getAttributeNames().join(' '))
    if (!formula.querySelector(spoken) && ![...formula.querySelectorAll('*')].some(named))
      formula.textContent = formula.textContent
  }
  return [...found].filter((look) => !judged.has(look))
}

/**
 * What axe calls serious or critical, with the first place of each: of all rules that
 * can be, or of some; and of contrast, where the page has looks of its own.
 */
async function violations(page, rules = null) {
  const looks = await page.evaluate(markLooks, [...judged])
  const found = await page.evaluate(async ({ rules, contrast }) => {
    const { axe } = window
    const grave = ({ impact }) => ['serious', 'critical'].includes(impact)
    const inUse = ({ enabled, tags }) => enabled && !tags.includes('experimental')
    const all = axe._audit.rules.filter(inUse).filter(grave).map(({ id }) => id)
    const asked = (rules ?? all).filter((id) => id !== 'color-contrast')
    axe.configure({ rules: [{ id: 'color-contrast', selector: '[data-look]' }] })
    const { violations } = await axe.run(document, {
      resultTypes: ['violations'],
      runOnly: contrast ? [...asked, 'color-contrast'] : asked
    })
    return violations.filter(grave).map(({ id, nodes }) => {
      const [first] = nodes
      const why = first.any[0]?.message ?? first.all[0]?.message ?? ''
      return `${id} (${nodes.length}): ${first.target.join(' ')} ${why}`
    })
  }, { rules, contrast: looks.length > 0 })
  for (const look of looks) judged.add(look)
  return found
}

const moving = () =>
  document.getAnimations().filter((a) => a.playState === 'running').length

test('there are pages to look at', () => {
  assert.ok(ALL.length > 20, `${ALL.length} pages; was the book built?`)
  assert.ok(ALL.includes('/'))
})

/** Pages of the glossary are built alike: every eighth is opened. */
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

const isOfEachKind = (url) => OF_EACH_KIND.some((kind) => kind.test(url))

/** What is cut at the widths of a page. The pages of terms are alike: all have none. */
async function cutAtWidths(page, url) {
  if (/^\/glossary\/./.test(url)) return []
  const closed = await page.evaluateHandle(openFolds)
  const found = []
  for (const width of isOfEachKind(url) ? WIDTHS : [1280, 390]) {
    await page.setViewportSize({ width, height: DESK.height })
    for (const what of await page.evaluate(cut)) found.push(`cut at ${width}: ${what}`)
  }
  await closed.evaluate((folds) => folds.forEach((fold) => (fold.open = false)))
  return found
}

const dark = () => document.documentElement.classList.contains('dark')

const wider = async (page) => {
  const wide = await page.evaluate(sideways)
  return wide ? [`wider than the window: ${wide.join(' | ')}`] : []
}

/** A page that was opened on a phone, in dark colours, by a reader who wants no movement. */
async function onPhone(page, url) {
  const closed = await page.evaluateHandle(openFolds)
  const problems = await wider(page)
  await closed.evaluate((folds) => folds.forEach((fold) => (fold.open = false)))
  if (!(await page.evaluate(dark))) problems.push('is not dark')
  if ((await page.evaluate(moving)) > 0)
    problems.push('something moves although nothing should')
  await page.evaluate(AXE)
  return [...problems, ...(await violations(page, PHONE_RULES))]
}

/** The same page in all widths, and on a desk, in light colours. */
async function onDesk(page, url) {
  const problems = await cutAtWidths(page, url)
  await page.setViewportSize(DESK)
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'no-preference' })
  await page.waitForFunction(() => !document.documentElement.classList.contains('dark'))
  return [...problems, ...(await wider(page)), ...(await violations(page))]
}

/** Everything that is wrong with a page. */
async function problemsOf(url, { page, visit }) {
  await page.setViewportSize(PHONE)
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
  const complaints = await visit(url)
  const problems = await onPhone(page, url)
  problems.push(...(await onDesk(page, url)), ...complaints)
  if (!isOfEachKind(url)) return problems
  return [...problems, ...(await visit(url)), ...(await wider(page))]
}

/** So many pages are open at once. */
const READERS = 3

test('every page is sound', async () => {
  const waiting = ALL.filter(isSample)
  const problems = []
  const read = async () => {
    const at = await reader(browser, origin, { viewport: PHONE })
    for (let url = waiting.shift(); url; url = waiting.shift()) {
      const found = await problemsOf(url, at)
      problems.push(...found.map((text) => `${url}  ${text}`))
    }
    await at.close()
  }
  await Promise.all(Array.from({ length: READERS }, read))
  assert.deepEqual(problems, [])
})
