// Dead links and dead anchors in the built pages. VitePress finds dead links to pages
// in Markdown; this finds those in HTML, to files, and to headings that are not there.

import fs from 'node:fs'
import path from 'node:path'
import { attributeValues, filesBelow, idsOf } from './html.mjs'
import { BASE } from './sources.mjs'

const isExternal = (href) => /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(href)

/** The file that an address of the site stands for, from its root. */
export function fileOf(url, page, base = '/') {
  const [target] = url.split(/[?#]/)
  let file
  if (target === '') file = page
  else if (target.startsWith(base)) file = target.slice(base.length)
  else if (target.startsWith('/')) file = target.slice(1)
  else file = path.join(path.dirname(page), target)
  file = decodeURIComponent(file)
  return file === '' || file.endsWith('/') ? `${file}index.html` : file
}

/**
 * One line for each link of the site that leads nowhere.
 * @param {string} outDir  the built site
 */
export function checkAnchors(outDir, base = BASE) {
  const pages = new Map()
  const content = (file) => {
    if (!pages.has(file)) {
      const html = fs.readFileSync(path.join(outDir, file), 'utf8')
      pages.set(file, { html, ids: new Set(idsOf(html)) })
    }
    return pages.get(file)
  }
  const faults = []
  for (const page of filesBelow(outDir, '.html')) {
    if (page.startsWith('offline/')) continue
    const { html } = content(page)
    const links = [
      ...attributeValues(html, 'a|area', 'href'),
      ...attributeValues(html, 'img|source', 'src')
    ]
    for (const href of new Set(links)) {
      if (isExternal(href)) continue
      if (href.startsWith('/') && !href.startsWith(base)) {
        faults.push(`${page} links to ${href}, which is not below ${base}`)
        continue
      }
      const file = fileOf(href, page, base)
      const hash = decodeURIComponent(/#(.*)$/.exec(href)?.[1] ?? '')
      if (!fs.existsSync(path.join(outDir, file))) {
        faults.push(`${page} links to ${href}, but there is no such page or file`)
      } else if (hash && file.endsWith('.html') && !content(file).ids.has(hash)) {
        faults.push(`${page} links to ${href}, but that page has no heading "${hash}"`)
      }
    }
  }
  return faults
}
