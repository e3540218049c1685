// The drawn pictures of the lessons: book/pictures/NAME.mjs draws <Picture name="NAME">.
//
//   npm run pictures              writes their text versions between the tags
//   npm run pictures -- --check   changes nothing; fails if anything would change
//
// The text version is what the terminal and a reader of the file see; in the book the
// drawing takes its place.
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

import { pictureSvg } from './picture-svg.mjs'
import { pictureText } from './picture-text.mjs'
import { closest } from './near.mjs'
import { placed } from './place.mjs'
import { findElements, replaceElements } from './tags.mjs'

const ROOT = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..')
const FOLDER = path.join(ROOT, 'book/pictures')

/** All pictures by name. */
export async function loadPictures(folder = FOLDER) {
  const names = fs.readdirSync(folder).filter((name) => name.endsWith('.mjs')).sort()
  const found = await Promise.all(names.map(async (name) => {
    const { default: picture } = await import(pathToFileURL(path.join(folder, name)))
    return [name.slice(0, -4), picture]
  }))
  return new Map(found)
}

/** The text between the tags of a picture. */
export const block = (picture) => `\n\n\`\`\`text\n${pictureText(picture)}\n\`\`\`\n\n`

function named(pictures, { line, attributes: { name } }) {
  const picture = pictures.get(name)
  if (picture) return picture
  const near = closest(name ?? '', [...pictures.keys()], 2)
  const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : ''
  throw new Error(`line ${line}: there is no picture "${name}"${hint}`)
}

/** The text with the text version of each picture. */
export function fillPictures(text, pictures) {
  return replaceElements(text, findElements(text, 'Picture'), (element) =>
    element.open + block(named(pictures, element)) + '</Picture>')
}

/** The text as the book has it: a drawing in place of each text version. */
export function drawPictures(text, pictures) {
  return replaceElements(text, findElements(text, 'Picture'), (element) => {
    const picture = named(pictures, element)
    if (element.inner !== block(picture))
      throw new Error(`line ${element.line}: the text of picture ` +
        `"${element.attributes.name}" is not its drawing's; run: npm run pictures`)
    const { title, label, steps } = picture
    const data = JSON.stringify({ title, label, steps, svg: pictureSvg(picture) })
      .replace(/[&"<>]/g, (c) => `&#${c.codePointAt(0)};`)
    return `<Picture data="${data}" />`
  })
}

/** A plug-in of markdown-it. */
export function picturesPlugin(md, pictures) {
  md.core.ruler.after('normalize', 'wb_pictures', (state) => {
    const file = state.env?.realPath ?? state.env?.path
    if (file === undefined || !state.src.includes('<Picture')) return
    try {
      state.src = drawPictures(state.src, pictures)
    } catch (error) {
      throw new Error(placed(state.env, error.message))
    }
  })
}

async function main(given) {
  const { markdownFiles } = await import('./numbers.mjs')
  const check = given.includes('--check')
  const pictures = await loadPictures()
  let failed = 0
  for (const file of markdownFiles(ROOT)) {
    const before = fs.readFileSync(file, 'utf8')
    const name = path.relative(ROOT, file)
    let text
    try {
      text = fillPictures(before, pictures)
    } catch (error) {
      console.error(`${name}, ${error.message}`)
      failed += 1
      continue
    }
    if (text === before) continue
    console.log(`${name}: ${check ? 'its pictures are old: npm run pictures' : 'written'}`)
    if (check) failed += 1
    else fs.writeFileSync(file, text)
  }
  return failed > 0 ? 1 : 0
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.exitCode = await main(process.argv.slice(2))
