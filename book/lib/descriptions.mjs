// What search engines and previews say of a page: its first sentences.

import fs from 'node:fs'
import path from 'node:path'
import { splitFrontMatter } from './facts.mjs'
import { plain } from './glossary.mjs'
import { ROOT } from './pages.mjs'

const MOST = 200

/** Paragraphs that say something: no headings, facts in italics, code, tags, lists. */
const PROSE = /^(?!#|\*[^*]|```|~~~|:::|<|\||- |\d+\. |\$\$|\[[^\]]*\]:)/

/** As many whole sentences as fit, or as many words. */
function shortened(text) {
  if (text.length <= MOST) return text
  const sentences = text.slice(0, MOST + 1).match(/^.*[.?!](?=\s)/s)?.[0]
  if (sentences && sentences.length > 60) return sentences
  return `${text.slice(0, MOST - 1).replace(/\s+\S*$/, '')} …`
}

/** @param {string} text  Markdown of a page */
export function descriptionOf(text) {
  const { data, body } = splitFrontMatter(text)
  if (data.description) return data.description
  const bare = body.replace(/^(```|~~~)[\s\S]*?^\1/gm, '').replace(/<\/?\w[^>]*>/g, '')
  const paragraphs = bare.split(/\n\s*\n/).map((part) => part.trim())
  const first = paragraphs.find((part) => part !== '' && PROSE.test(part))
  return shortened(plain(first ?? ''))
}

/** For VitePress: gives each page its description. */
export function describePage(page) {
  const file = path.join(ROOT, page.filePath)
  if (!fs.existsSync(file)) return
  page.description = descriptionOf(fs.readFileSync(file, 'utf8'))
}
