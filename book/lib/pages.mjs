// Which Markdown files of the repository are pages of the book, under which address and
// in which order. Nothing is listed by hand: a chapter is in the book as soon as it has
// a lesson.md, and a page of book/pages as soon as it is there.

import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { lessonFacts, splitFrontMatter } from './facts.mjs'

/** The root of the repository. */
export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..')

/**
 * The file that is being rendered, from the root of the repository; null for a line on
 * its own, such as the title of a fold.
 */
export function sourceOf(env) {
  const file = env.realPath ?? env.path
  return file ? path.relative(ROOT, file) : null
}

/** The names in a folder that match a pattern, sorted; none if the folder is absent. */
function list(folder, pattern) {
  const absolute = path.join(ROOT, folder)
  if (!fs.existsSync(absolute)) return []
  return fs
    .readdirSync(absolute)
    .filter((name) => pattern.test(name))
    .sort()
}

/** The text of a file of the repository. */
export function read(file) {
  return fs.readFileSync(path.join(ROOT, file), 'utf8')
}

/**
 * The first heading of a Markdown text, without its markup, or the fallback.
 * @param {string} text
 * @param {string} fallback
 */
export function titleOf(text, fallback) {
  const heading = /^# +(.+)$/m.exec(text)
  return heading ? heading[1].replace(/[`*]/g, '').trim() : fallback
}

/** What a page of the book is: its source, its address and what heads it. */
function page(file, url) {
  const text = read(file)
  const { data } = splitFrontMatter(text)
  return {
    file,
    url,
    title: data.title ?? titleOf(text, path.basename(file, '.md')),
    order: Number(data.order ?? 100),
    data
  }
}

/** "01-hello-gpu" without its number. */
const withoutNumber = (name) => name.replace(/^\d+-/, '')

/**
 * All days with their chapters, as far as they are written.
 * @returns {{number, folder, title, page, chapters}[]}
 */
export function days() {
  return list('.', /^day\d\d-/).map((folder) => {
    const readme = path.join(folder, 'README.md')
    const chapters = list(folder, /^\d\d-/)
      .map((name) => ({ name, file: path.join(folder, name, 'lesson.md') }))
      .filter(({ file }) => fs.existsSync(path.join(ROOT, file)))
      .map(({ name, file }) => ({
        ...page(file, `/${folder}/${name}/`),
        number: name.slice(0, 2),
        name: withoutNumber(name),
        facts: lessonFacts(read(file))
      }))
    return {
      number: Number(folder.slice(3, 5)),
      folder,
      page: fs.existsSync(path.join(ROOT, readme)) ? page(readme, `/${folder}/`) : null,
      chapters
    }
  })
}

/** Pages that lie flat in a folder, by the order in their front matter, then title. */
function flat(folder, prefix) {
  return list(folder, /\.md$/)
    .map((name) => {
      const stem = name.replace(/\.md$/, '')
      const url = stem === 'index' ? prefix : `${prefix}${stem}.html`
      return page(path.join(folder, name), url)
    })
    .sort((a, b) => a.order - b.order || a.title.localeCompare(b.title))
}

/** Pages about the workbook itself. */
export const guides = () => [...flat('book/pages', '/'), ...flat('docs', '/')]

/** The glossary, one term a page. */
export const glossary = () => flat('book/pages/glossary', '/glossary/')

/** A page for each figure, without a lesson around it. */
export const figurePages = () => flat('book/pages/figures', '/figures/')

/** Every page of the book in reading order; the landing page comes first. */
export function readingOrder() {
  const about = guides()
  const before = about.filter((p) => p.url === '/' || p.order < 50)
  const after = about.filter((p) => !before.includes(p))
  const course = days()
    .flatMap((day) => [day.page, ...day.chapters])
    .filter(Boolean)
  return [...before, ...course, ...figurePages(), ...after, ...glossary()]
}

/** The address of a page as the path of its Markdown file: "/a/" is "a/index.md". */
export function rewritten(url) {
  if (url.endsWith('/')) return `${url.slice(1)}index.md`
  return url.slice(1).replace(/\.html$/, '.md')
}

/** Source file of each page to its place in the site, for VitePress. */
export function rewrites() {
  return Object.fromEntries(readingOrder().map((p) => [p.file, rewritten(p.url)]))
}

/** What VitePress must not take for a page: all Markdown that is none of ours. */
export const srcExclude = [
  '*.md',
  '!(book|docs|day*)/**',
  'book/!(pages)/**',
  'day*/*/!(lesson).md',
  'day*/!(README).md',
  'day*/*/*/**'
]
