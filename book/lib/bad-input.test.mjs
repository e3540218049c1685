// What a lesson can have wrong: the build fails, and says in which file and line.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import test, { after } from 'node:test'
import { createMarkdownRenderer } from 'vitepress'
import { markdown } from './markdown.mjs'
import { ROOT } from './pages.mjs'

const md = await createMarkdownRenderer(ROOT, markdown)
// Where no other test looks for lessons.
const FOLDER = fs.mkdtempSync(path.join(ROOT, 'node_modules/.bad-'))
after(() => fs.rmSync(FOLDER, { recursive: true }))

/** What stands before the fault, front matter and code among it. */
const BEFORE = '---\ndifficulty: easy\n---\n# Title\n\n```cuda\n```\n\n'
const LINE = BEFORE.split('\n').length

const CODE = '<<< ../../day01-basics/02-vector-add/vector_add.cu'
const MEASURED = 'day01/vector_add/v1/n = 268435456/percent'

/** A fault, what the message says, and in which of its lines the fault is. */
const FAULTS = [
  ['an unknown component', 'Text <NoFigure /> here.', /no component has that name/],
  ['a component at the head of a line', '<NoFigure />', /no component has that name/],
  ['a component with a body', '<NoFigure>\n\nText.\n\n</NoFigure>', /no component has/],
  ['an unknown region', `${CODE}#v9{cuda}`, /region "v9" is missing/],
  ['a region in a fold', `::: details x\n${CODE}#v9\n:::`, /region "v9" is missing/, 1],
  ['a file of code', '<<< ../nothing.cu#v1{cuda}', /there is no file/],
  ['a region to compare with',
    `<RungDiff before="#v9">\n\n${CODE}#v1-kernel{cuda}\n\n</RungDiff>`,
    /region "v9" is missing/],
  ['a region that is compared',
    `<RungDiff before="#v1-kernel">\n\n${CODE}#v9{cuda}\n\n</RungDiff>`,
    /region "v9" is missing/],
  ['an unknown number', 'It takes <Measured of="no/such">5</Measured> µs.', /"no"/],
  ['an unknown row', '<Measured of="day01/vector_add/v99/x/us">5</Measured>', /v99/],
  ['an unknown exercise', '<LadderTable exercise="no_one"></LadderTable>', /no_one/],
  ['a number that was not measured',
    `It is <Measured of="${MEASURED}" digits="2">5</Measured> %.`, /it says .*the data/],
  ['an unknown picture', '<Picture name="no-one"></Picture>', /no picture "no-one"/],
  ['an unknown term', 'A [term](../../book/pages/glossary/no.md).', /there is no book/],
  ['a dead link', 'A [link](../../day01-basics/99/lesson.md).', /there is no day01/],
  ['an image without description', '![](../picture.png)', /has no description/],
  ['an image in HTML', 'See <img src="picture.png">.', /has no description/],
  ['an unbalanced formula', 'The sum $\\frac{1}{2$ is.', /cannot be set/],
  ['an unbalanced block', '$$\n\\left( x\n$$', /cannot be set/, 1],
  ['a formula without its end', '$$\nx', /has no end/]
]

for (const [name, text, words, below = 0] of FAULTS) {
  test(`bad input, with file and line: ${name}`, () => {
    const file = path.join(FOLDER, 'lesson.md')
    const relativePath = path.relative(ROOT, file)
    fs.writeFileSync(file, `${BEFORE}${text}\n\nThe end.\n`)
    let message = ''
    try {
      const env = { path: file, realPath: file, relativePath, includes: [] }
      md.render(fs.readFileSync(file, 'utf8'), env)
    } catch (error) {
      message = error.message
    }
    assert.match(message, words)
    assert.ok(message.startsWith(`${relativePath}:${LINE + below}`), message)
  })
}
