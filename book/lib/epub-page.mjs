// A page of the built book as a chapter of the EPUB: strict XHTML without scripts. What
// only a browser can move goes; a figure that has no drawing keeps its words.

import { parseFragment } from 'parse5'

const XHTML = 'http://www.w3.org/1999/xhtml'
const SVG = 'http://www.w3.org/2000/svg'
const MATHML = 'http://www.w3.org/1998/Math/MathML'

const VOID = new Set(['area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link',
  'meta', 'source', 'track', 'wbr'])

/** What has no meaning without a script, and what is there for the eye of a browser. */
const GONE_TAGS = new Set(['button', 'input', 'select', 'script', 'style', 'template'])
const GONE_CLASSES = ['header-anchor', 'lang', 'copy', 'katex-html', 'wb-figure-controls',
  'wb-figure-status', 'wb-figure-more', 'wb-ladder-scroll', 'line-numbers-wrapper']

/** Attributes that belong to scripts, to scrolling or to Vue. */
const GONE_ATTRIBUTES = /^(?:data-|aria-live$|aria-controls$|tabindex$|for$|on)/

const attributeOf = (node, name) => node.attrs?.find((each) => each.name === name)?.value

const classesOf = (node) => (attributeOf(node, 'class') ?? '').split(/\s+/)

const hasClass = (node, name) => classesOf(node).includes(name)

/** Sets an attribute, or takes it away. */
function setAttribute(node, name, value) {
  node.attrs = node.attrs.filter((each) => each.name !== name)
  if (value !== null) node.attrs.push({ name, value })
}

/** The first element below a node for which `wanted` holds. */
function find(node, wanted) {
  for (const child of node.childNodes ?? []) {
    if (child.tagName && wanted(child)) return child
    const found = find(child, wanted)
    if (found) return found
  }
  return null
}

const textOf = (node) =>
  node.nodeName === '#text' ? node.value : (node.childNodes ?? []).map(textOf).join('')

const element = (tagName, attrs, ...childNodes) => ({
  nodeName: tagName, tagName, namespaceURI: XHTML, childNodes,
  attrs: Object.entries(attrs).map(([name, value]) => ({ name, value }))
})

const text = (value) => ({ nodeName: '#text', value })

const isGone = (node) =>
  node.nodeName === '#comment' || GONE_TAGS.has(node.tagName) ||
  (node.namespaceURI === XHTML && node.tagName !== 'math' &&
    classesOf(node).some((name) => GONE_CLASSES.includes(name)))

/** A figure that only a script draws: its title and what its drawing shows. */
function inWords(figure) {
  const drawing = find(figure, (each) => hasClass(each, 'wb-figure-drawing'))
  if (!drawing || find(drawing, (each) => hasClass(each, 'wb-picture'))) return
  const label = attributeOf(drawing, 'aria-label') ?? ''
  drawing.childNodes = [element('p', {}, text(label)),
    element('p', { class: 'note' }, text('On the web, this figure moves.'))]
}

/** Tabs, one below the other: the label of each panel stands before it. */
function untabbed(group) {
  const labels = []
  const takeLabels = (node) => {
    node.childNodes = (node.childNodes ?? []).filter((each) => {
      if (each.tagName === 'label') labels.push(textOf(each).trim())
      else if (each.tagName) takeLabels(each)
      return each.tagName !== 'label'
    })
  }
  takeLabels(group)
  const holder = find(group, (each) => hasClass(each, 'blocks')) ?? group
  const isPanel = (each) =>
    hasClass(each, 'panel') || /language-/.test(attributeOf(each, 'class'))
  holder.childNodes = holder.childNodes.flatMap((each) =>
    each.tagName && isPanel(each)
      ? [element('p', { class: 'tab' }, text(labels.shift() ?? '')), each] : [each])
}

/** Replaces a fold of the lesson by a way to its place at the back. */
function taken(fold, answers, way) {
  const summary = find(fold, (each) => each.tagName === 'summary')
  const id = `fold${answers.length + 1}`
  const title = textOf(summary).trim()
  const body = fold.childNodes.filter((each) => each !== summary)
  answers.push({ id, title, body })
  return element('p', { class: 'fold' }, element('a', { href: way(id) }, text(title)))
}

/** KaTeX writes "mod" as an operator with elements in it; MathML wants plain text there. */
const isToken = (node) =>
  node.namespaceURI === MATHML && ['mi', 'mn', 'mo', 'mtext'].includes(node.tagName)

/** Cleans the children of a node, all the way down. */
function clean(node, context) {
  node.childNodes = node.childNodes.filter((child) => !isGone(child)).map((child) => {
    if (!child.tagName) return child
    if (hasClass(child, 'wb-figure')) inWords(child)
    let now = child
    if (child.tagName === 'details' && hasClass(child, 'custom-block') && context.answers) {
      // What is in the fold is cleaned too, but its own folds stay in it.
      clean(child, { ...context, answers: null, file: context.answersFile })
      return taken(child, context.answers, context.way)
    }
    if (child.tagName === 'details') {
      now = element('div', { class: 'open' }, ...child.childNodes)
      const title = now.childNodes.find((each) => each.tagName === 'summary')
      if (title) Object.assign(title, { tagName: 'p', nodeName: 'p' })
      if (title) setAttribute(title, 'class', 'fold-title')
    }
    if (hasClass(child, 'wb-rung-diff') || hasClass(child, 'vp-code-group')) untabbed(child)
    now.attrs = now.attrs.filter(({ name }) => !GONE_ATTRIBUTES.test(name))
    if (now.tagName === 'a') {
      const href = attributeOf(now, 'href')
      const to = href === undefined ? null : context.target(href, context.file)
      setAttribute(now, 'href', to)
      setAttribute(now, 'target', null)
      setAttribute(now, 'rel', null)
    }
    for (const name of ['id', 'aria-labelledby', 'aria-describedby']) {
      const ids = attributeOf(now, name)
      if (ids) setAttribute(now, name, ids.split(' ').map(context.ownId).join(' '))
    }
    const level = /^h([1-5])$/.exec(now.tagName)?.[1]
    if (level && context.deeper) {
      now.tagName = now.nodeName = `h${Number(level) + context.deeper}`
    }
    if (isToken(now)) now.childNodes = [text(textOf(now))]
    clean(now, context)
    return now
  })
}

const escapeText = (value) =>
  value.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')

const escapeAttribute = (value) => escapeText(value).replace(/"/g, '&quot;')

/** Characters that XML does not have, and that of Vue which marks an empty link. */
const plain = (value) =>
  value.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u200b]/g, '')

/** Nodes as XHTML; `namespace` is that of the element around them. */
export function serialize(nodes, namespace = XHTML) {
  return nodes.map((node) => {
    if (node.nodeName === '#text') return escapeText(plain(node.value))
    if (!node.tagName) return ''
    const own = node.namespaceURI ?? XHTML
    const attributes = node.attrs
      .filter(({ name, prefix }) => name !== 'xmlns' && prefix !== 'xmlns')
      .map(({ name, prefix, value }) =>
        ` ${prefix ? `${prefix}:` : ''}${name}="${escapeAttribute(plain(value))}"`)
    if (own !== namespace) attributes.unshift(` xmlns="${own}"`)
    const open = `<${node.tagName}${attributes.join('')}`
    if (node.childNodes.length === 0 && (own !== XHTML || VOID.has(node.tagName))) {
      return `${open}/>`
    }
    return `${open}>${serialize(node.childNodes, own)}</${node.tagName}>`
  }).join('')
}

/**
 * The <main> of a page.
 * @param {string} html
 * @param {object} context
 *   file         its file in the EPUB; answersFile: that of its folds
 *   target       (href, file) => the address in the EPUB, or null if it is not there
 *   ownId        (id) => the id in the EPUB
 *   keepFolds    the folds stay where they are
 *   deeper       by how many levels the headings go down
 * @returns {{body: string, answers: {id: string, title: string, body: string}[]}}
 */
export function epubPage(html, { keepFolds = false, ...context }) {
  const root = parseFragment(html)
  const answers = []
  const way = (id) => `${context.answersFile}#${id}`
  clean(root, { ...context, way, answers: keepFolds ? null : answers })
  return {
    body: serialize(root.childNodes),
    answers: answers.map(({ id, title, body }) => ({ id, title, body: serialize(body) }))
  }
}

/** What a file must declare in the package, by what it has. */
export const propertiesOf = (xhtml) =>
  [['mathml', MATHML], ['svg', SVG]]
    .filter(([, namespace]) => xhtml.includes(`xmlns="${namespace}"`))
    .map(([name]) => name)
