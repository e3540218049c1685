// The colours of the figures can be read: as text on the figures' ground, and the ink on
// each of the soft fills.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import test from 'node:test'
import { ROOT } from './pages.mjs'

const css = fs.readFileSync(path.join(ROOT, 'book/.vitepress/theme/style.css'), 'utf8')

/** The colours that a block of the style sheet defines, by name. */
function colours(selector) {
  const block = new RegExp(`^${selector} \\{\\n([^}]*--wb-fig-bg[^}]*)\\}`, 'm').exec(css)
  const pairs = block[1].matchAll(/--wb-fig-([\w-]+): (#[0-9a-f]{6});/g)
  return Object.fromEntries([...pairs].map(([, name, value]) => [name, value]))
}

/** Relative luminance and contrast, as WCAG 2 defines them. */
function luminance(colour) {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const value = parseInt(colour.slice(i, i + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

function contrast(a, b) {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y)
  return (light + 0.05) / (dark + 0.05)
}

test('contrast is what WCAG says it is', () => {
  assert.equal(contrast('#000000', '#ffffff'), 21)
  assert.ok(Math.abs(contrast('#777777', '#ffffff') - 4.48) < 0.01)
})

for (const [scheme, selector] of [
  ['light', ':root'],
  ['dark', '\\.dark']
]) {
  test(`${scheme}: every colour is readable`, () => {
    const found = colours(selector)
    const texts = ['ink', 'muted', '1', '2', '3', '4', '5', '6']
    for (const name of texts) {
      const ratio = contrast(found[name], found.bg)
      assert.ok(ratio >= 4.5, `${name} on bg: ${ratio.toFixed(2)}`)
    }
    for (let i = 1; i <= 6; i++) {
      const ratio = contrast(found.ink, found[`${i}-soft`])
      assert.ok(ratio >= 4.5, `ink on ${i}-soft: ${ratio.toFixed(2)}`)
    }
  })
}
