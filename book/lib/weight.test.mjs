import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import test, { after } from 'node:test'
import { checkWeight, openElements, weights } from './weight.mjs'

const SITE = fs.mkdtempSync(path.join(os.tmpdir(), 'weight-'))
after(() => fs.rmSync(SITE, { recursive: true }))

/** A file that cannot be compressed. */
function write(name, kB) {
  const file = path.join(SITE, name)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, randomBytes(kB * 1000))
}

const page = (name, ...tags) => fs.writeFileSync(path.join(SITE, name), tags.join('\n'))

const style = '<link rel="stylesheet" href="/assets/style.css">'
const font = '<link rel="preload" as="font" href="/assets/inter.woff2">'
const script = '<script type="module" src="/assets/app.js"></script>'
const formula = '<span class="katex"></span>'

write('assets/style.css', 40)
write('assets/inter.woff2', 30)
write('assets/app.js', 100)
write('assets/KaTeX_Main-Regular.abc.woff2', 20)
write('assets/KaTeX_Math-Italic.abc.woff2', 20)
write('assets/KaTeX_AMS-Regular.abc.woff2', 20)

const close = (bytes, kB) => assert.ok(Math.abs(bytes / 1000 - kB) < 1, `${bytes}: ${kB}`)

test('scripts and the fonts of formulas count, but not before the first paint', () => {
  page('index.html', style, font, script)
  page('formula.html', style, font, script, formula)
  const [heavy, light] = weights(SITE, '/')
  assert.equal(heavy.page, 'formula.html')
  close(heavy.bytes, 210)
  close(heavy.first, 70)
  close(light.bytes, 170)
  assert.deepEqual(checkWeight(SITE), [])
})

test('a page that is too heavy, or painted too late, is a fault', () => {
  write('assets/more.css', 90)
  const more = '<link rel="preload stylesheet" href="/assets/more.css">'
  page('late.html', style, more, font)
  assert.deepEqual(checkWeight(SITE), [
    'late.html loads 160 kB before it is painted, more than 150 kB'
  ])
  write('assets/large.js', 200)
  page('late.html', style, script, '<script src="/assets/large.js"></script>')
  assert.deepEqual(checkWeight(SITE), [
    'late.html weighs 340 kB compressed, more than 300 kB'
  ])
})

test('elements in closed folds do not count, and too many open ones are a fault', () => {
  assert.equal(openElements('<p>a</p><br><details><summary>s</summary><b>c</b></details>'), 3)
  assert.equal(openElements('<details open><b>c</b></details><i></i>'), 3)
  assert.equal(
    openElements('<details><details open><b></b></details><i></i></details><u></u>'), 2)
  page('full.html', '<td></td>'.repeat(6001))
  assert.deepEqual(checkWeight(SITE).filter((fault) => fault.startsWith('full')), [
    'full.html has 6001 elements outside of folds, more than 6000'
  ])
})
