// The style sheet of the EPUB: small, so that a reader's own choice of letters, sizes and
// colours stays in force. The colours are those of the site.

import fs from 'node:fs'
import path from 'node:path'
import { lightColours } from './code-colours.mjs'
import { ROOT } from './pages.mjs'

const STYLE = `
body { line-height: 1.45; }
h1, h2, h3, h4 { line-height: 1.2; break-after: avoid; }
.cover { margin-top: 20%; text-align: center; }
pre { margin: 0.6em 0; padding: 0.4em 0.6em; border: 1px solid #d1d9e0; font-size: 0.78em;
  line-height: 1.35; white-space: pre-wrap; overflow-wrap: anywhere; }
code { font-family: monospace; }
table { border-collapse: collapse; font-size: 0.85em; }
th, td { padding: 0.15em 0.5em; border: 1px solid #d1d9e0; text-align: left; }
dl.wb-facts dt { font-weight: bold; }
figure { margin: 1em 0; padding: 0.6em; border: 1px solid #d1d9e0; break-inside: avoid; }
figcaption, .fold-title, .tab { font-weight: bold; }
.wb-source, .note, .wb-figure-static { font-size: 0.85em; color: #59636e; }
.fold { font-style: italic; }
a.wb-term { color: inherit; }
.custom-block, .open { padding-left: 0.8em; border-left: 3px solid #d1d9e0; }
.diff.add { background: #d3f0dc; }
.diff.remove { background: #fbdcdc; }
.math { overflow-x: auto; }
svg.wb-picture { max-width: 100%; height: auto; font-family: sans-serif; font-size: 13px; }
`

/** "a:is(.b, .c)" as "a.b, a.c": not every reader knows :is(). */
const withoutIs = (selector) => {
  const [all, before, inner, after] = /^(.*?):is\(([^)]*)\)(.*)$/s.exec(selector) ?? []
  if (!all) return selector
  return inner.split(',').map((each) => `${before}${each.trim()}${after}`).join(', ')
}

/** The rules of a component's <style> that begin with one of some selectors. */
function rulesOf(component, wanted) {
  const text = fs.readFileSync(path.join(ROOT, 'book/components', component), 'utf8')
  const style = /<style>([\s\S]*)<\/style>/.exec(text)[1].replace(/\/\*[\s\S]*?\*\//g, '')
  return [...style.matchAll(/([^{}@]+)\{([^{}]*)\}/g)]
    .filter(([, selector]) => wanted.test(selector.trim()))
    .map(([, selector, body]) => `${withoutIs(selector.trim())} {${body}}`)
}

/** The site's colours of figures, by their names. */
function figureColours() {
  const file = path.join(ROOT, 'book/.vitepress/theme/style.css')
  const light = fs.readFileSync(file, 'utf8').split('.dark')[0]
  return new Map([...light.matchAll(/(--wb-fig-[\w-]+):\s*([^;]+);/g)]
    .map(([, name, value]) => [name, value.trim()]))
}

/** All of it, with colours in place of their names: not every reader knows var(). */
export function styleOfEpub() {
  const colours = figureColours()
  const picture = rulesOf('Picture.vue', /^(?:\.wb-figure-drawing )?\.wb-picture\b/)
    .filter((rule) => !/later|data-step/.test(rule))
    .join('\n')
    .replace(/var\((--wb-fig-[\w-]+)\)/g, (all, name) => {
      if (!colours.has(name)) throw new Error(`style.css has no colour ${name}`)
      return colours.get(name)
    })
    .replace(/var\(--vp-font-family-mono\)/g, 'monospace')
  return `${STYLE}${picture}\n${lightColours()}`
}
