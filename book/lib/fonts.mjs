// The fonts of the book, cut down to the letters that it uses: a reader's browser loads a
// third of what they weigh. Letters that are left out are set in the reader's own fonts.

import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import subsetFont from 'subset-font'
import { ROOT } from './pages.mjs'

const MODULES = path.join(ROOT, 'node_modules')
const INTER = 'vitepress/dist/client/theme-default/fonts/inter-roman-latin.woff2'
const KATEX = 'katex/dist'

/** All characters from one to another. */
const range = (first, last) =>
  Array.from({ length: last - first + 1 }, (_, i) => String.fromCodePoint(first + i))
    .join('')

const ASCII = range(0x20, 0x7e)

/** What prose has; letters with accents are there for names. */
const PROSE = `${ASCII}${range(0xa0, 0xff)}–—‘’“”„…−←↑→↓€™`

const GREEK = `${range(0x391, 0x3a9)}${range(0x3b1, 0x3c9)}ϵϕϱϑ`

/** What formulas have. lib/math.mjs fails the build at any other. */
export const FORMULAS =
  `${ASCII}\u00a0±×÷·¬¯´˙¨ˉˊˋˇ˘˚${GREEK}–′…⋯⋅∘∙∗−∞∑∏∫∣∥∈∉∂∇√⊕⊗⊤⊥∧∨∼≈≅≡≠=≤≥≪≫∝` +
  '→←↔⇒⇔↦↑↓⌈⌉⌊⌋⟨⟩∅∀∃ℓ'

/** Fonts that every page loads, and those that formulas load. */
const FONTS = [
  // The sizes of headings need no drawing of their own, nor the thinnest and fattest.
  { from: INTER, to: 'inter.woff2', letters: PROSE,
    variationAxes: { opsz: 14, wght: { min: 400, max: 700 } } },
  { from: `${KATEX}/fonts/KaTeX_Main-Regular.woff2`, to: 'KaTeX_Main-Regular.woff2',
    letters: FORMULAS },
  { from: `${KATEX}/fonts/KaTeX_Math-Italic.woff2`, to: 'KaTeX_Math-Italic.woff2',
    letters: FORMULAS }
]

/**
 * KaTeX's style sheet with one format of each font, the one that all browsers read.
 * @param {string} css  katex.min.css
 * @param {(name: string) => string} locate  the address of a font
 */
export function formulaStyle(css, locate) {
  return css
    .replace(/,url\([^)]*\.(?:woff|ttf)\) format\("[a-z]+"\)/g, '')
    .replace(/url\(fonts\/([\w-]+\.woff2)\)/g, (all, name) => `url(${locate(name)})`)
}

/** Cuts a font, unless the folder has what the same cut of the same font gave. */
async function cutFont(folder, { from, to, letters, variationAxes }) {
  const font = fs.readFileSync(path.join(MODULES, from))
  const options = { targetFormat: 'woff2', variationAxes }
  const made = createHash('sha256').update(font).update(JSON.stringify([letters, options]))
  const stamp = path.join(folder, `${to}.${made.digest('hex').slice(0, 16)}`)
  const file = path.join(folder, to)
  if (fs.existsSync(stamp) && fs.existsSync(file)) return
  for (const name of fs.readdirSync(folder))
    if (name.startsWith(`${to}.`)) fs.rmSync(path.join(folder, name))
  fs.writeFileSync(file, await subsetFont(font, letters, options))
  fs.writeFileSync(stamp, '')
}

/** Writes the fonts and katex.css into a folder. */
export async function writeFonts(folder) {
  fs.mkdirSync(folder, { recursive: true })
  for (const font of FONTS) await cutFont(folder, font)
  const cut = new Set(FONTS.map(({ to }) => to))
  const whole = path.relative(folder, path.join(MODULES, KATEX, 'fonts'))
  const css = fs.readFileSync(path.join(MODULES, KATEX, 'katex.min.css'), 'utf8')
  const style = formulaStyle(css, (name) => (cut.has(name) ? `./${name}` : `${whole}/${name}`))
  fs.writeFileSync(path.join(folder, 'katex.css'), style)
}
