// What the book makes of the form that every lesson has: the line of facts below the
// title becomes a list, and the hints become folds, one for each.

import { parseFacts, splitFrontMatter } from './facts.mjs'
import { days, sourceOf } from './pages.mjs'
import { recent } from './recent.mjs'
import { BASE } from './sources.mjs'

const escapeHtml = (text) =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')

/** "135" is "2 h 15 min". */
export function duration(minutes) {
  const hours = Math.floor(minutes / 60)
  const rest = minutes % 60
  return [hours > 0 && `${hours} h`, rest > 0 && `${rest} min`]
    .filter(Boolean)
    .join(' ')
}

const course = recent(days)

/** A line of a fact: text, and code between backticks. */
const inlineHtml = (text) =>
  escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>')

/** "chapters 02 and 03", linked to those chapters of the same day; "day 2" likewise. */
function linked(text, folder) {
  const today = course().find((day) => day.folder === folder)
  const anchor = (target, label) => {
    return `<a href="${target.url.replace(/^\//, BASE)}">${label}</a>`
  }
  return inlineHtml(text)
    .replace(/\b\d\d\b/g, (number) => {
      const chapter = today?.chapters.find((c) => c.number === number)
      return chapter ? anchor(chapter, number) : number
    })
    .replace(/\b([dD]ay )(\d)\b/g, (all, word, number) => {
      const day = course().find((d) => d.number === Number(number))
      return day?.page ? anchor(day.page, all) : all
    })
}

/** The list of facts as HTML. */
export function factsHtml(facts, folder) {
  const rows = [
    ['Time', facts.minutes && duration(facts.minutes)],
    ['Difficulty', facts.difficulty],
    ['Needs', facts.needs && linked(facts.needs, folder)],
    ['Runs', facts.runs && inlineHtml(facts.runs)]
  ].filter(([, value]) => value)
  const items = rows.map(
    ([key, value]) => `<div><dt>${key}</dt><dd>${value}</dd></div>`
  )
  return `<dl class="wb-facts">${items.join('')}</dl>\n`
}

/** Replaces the paragraph in italics below the title of a chapter. */
function facts(state) {
  const source = sourceOf(state.env)
  const chapter = /^(day\d\d-[^/]+)\/[^/]+\/lesson\.md$/.exec(source ?? '')
  if (!chapter) return
  const heading = state.tokens.findIndex(
    (t) => t.type === 'heading_close' && t.tag === 'h1'
  )
  const [open, inline, close] = state.tokens.slice(heading + 1, heading + 4)
  if (open?.type !== 'paragraph_open' || close?.type !== 'paragraph_close') return
  const text = /^\*([^*]+)\*$/.exec(inline.content.trim())
  if (!text) return
  const { data } = splitFrontMatter(`---\n${frontMatterOf(state.env)}---\n`)
  const html = new state.Token('html_block', '', 0)
  html.content = factsHtml({ ...parseFacts(text[1]), ...data }, chapter[1])
  state.tokens.splice(heading + 1, 3, html)
}

/** The front matter as lines; VitePress has taken it off the text already. */
function frontMatterOf(env) {
  const used = ['difficulty', 'needs', 'runs']
  return Object.entries(env.frontmatter ?? {})
    .filter(([key]) => used.includes(key))
    .map(([key, value]) => `${key}: ${value}\n`)
    .join('')
}

/** Replaces "## Hint 1" and what follows it, within a fold, by a fold of its own. */
function hints(state) {
  const result = []
  let depth = 0
  let open = false
  const html = (content) => {
    const token = new state.Token('html_block', '', 0)
    token.content = content
    return token
  }
  for (let i = 0; i < state.tokens.length; i++) {
    const token = state.tokens[i]
    if (token.type === 'container_details_open') depth++
    if (token.type === 'container_details_close') {
      if (open) result.push(html('</details>\n'))
      open = false
      depth--
    }
    const title = state.tokens[i + 1]?.content ?? ''
    if (depth === 1 && token.type === 'heading_open' && /^Hint \d+$/.test(title)) {
      const before = open ? '</details>\n' : ''
      const summary = `<summary>${title}</summary>\n`
      result.push(html(`${before}<details class="wb-hint">${summary}`))
      open = true
      i += 2
      continue
    }
    result.push(token)
  }
  state.tokens = result
}

/** Both before headings get their addresses: a hint is none that one could jump to. */
export function lessonPlugin(md) {
  md.core.ruler.after('inline', 'wb_facts', facts)
  md.core.ruler.after('wb_facts', 'wb_hints', hints)
}
