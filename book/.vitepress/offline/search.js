// Search in the offline copy: the same index and the same words as on the site. The
// index is a script, loaded with the first search, because file:// allows no fetch.

import MiniSearch from 'minisearch'
import { excerptOf } from '../../lib/excerpt.mjs'
import { miniSearch } from '../../lib/search.mjs'

const MOST = 16

/** The way from this page to the folder of the copy, "../../" for instance. */
const rootOf = (document) => document.documentElement.dataset.wbRoot

let loading = null

/** The index, loaded once. */
function loadIndex(document) {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = `${rootOf(document)}search-index.js`
    script.onload = () =>
      resolve(
        MiniSearch.loadJSON(window.warpbookIndex, {
          fields: ['title', 'titles', 'text'],
          ...miniSearch.options,
          searchOptions: miniSearch.searchOptions
        })
      )
    script.onerror = reject
    document.head.append(script)
  })
  return loading
}

/** One line of the result. */
function entry(document, { id, title, titles, text, match }) {
  const [page, hash] = id.replace(/^\//, '').split('#')
  const file = page === '' || page.endsWith('/') ? `${page}index.html` : page
  const link = document.createElement('a')
  link.href = `${rootOf(document)}${file}${hash ? `#${hash}` : ''}`
  link.textContent = [...titles, title].join(' › ')
  const item = document.createElement('li')
  const excerpt = document.createElement('p')
  excerpt.innerHTML = excerptOf(text, Object.keys(match))
  item.append(link, excerpt)
  return item
}

/** The dialog; it is made when it is first asked for. */
function makeDialog(document) {
  const dialog = document.createElement('dialog')
  dialog.className = 'wb-search'
  dialog.setAttribute('aria-label', 'Search')
  dialog.innerHTML =
    '<input type="search" aria-label="Search the book" placeholder="Search">' +
    '<p role="status"></p><ul></ul>'
  document.body.append(dialog)
  const [input, status, list] = dialog.children
  const show = async () => {
    const index = await loadIndex(document)
    const found = index.search(input.value).slice(0, MOST)
    list.replaceChildren(...found.map((result) => entry(document, result)))
    const nothing = input.value.trim() !== '' && found.length === 0
    status.textContent = nothing ? 'Nothing was found.' : ''
  }
  input.addEventListener('input', show)
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') list.querySelector('a')?.click()
  })
  dialog.addEventListener('click', (event) => {
    // The backdrop counts as the dialog itself; a link closes it as well.
    if (event.target === dialog || event.target.tagName === 'A') dialog.close()
  })
  return dialog
}

/** @param {Document} document */
export function startSearch(document) {
  let dialog = null
  const open = () => {
    dialog ??= makeDialog(document)
    if (!dialog.open) dialog.showModal()
    dialog.querySelector('input').select()
  }
  const buttons = document.querySelectorAll('.VPNavBarSearch button')
  buttons.forEach((button) => button.addEventListener('click', open))
  document.addEventListener('keydown', (event) => {
    const asked = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)
    if (!asked) return
    event.preventDefault()
    open()
  })
}
