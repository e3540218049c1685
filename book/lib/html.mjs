// The little that the book's tools need to know about HTML: pages that VitePress wrote,
// whose form is known, so that no parser is needed.

import fs from 'node:fs'
import path from 'node:path'

/** All files below a folder whose names end in `ending`, as paths from that folder. */
export function filesBelow(folder, ending, from = '') {
  const entries = fs.readdirSync(path.join(folder, from), { withFileTypes: true })
  return entries.flatMap((entry) => {
    const name = path.join(from, entry.name)
    if (entry.isDirectory()) return filesBelow(folder, ending, name)
    return name.endsWith(ending) ? [name] : []
  })
}

const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** Text of an attribute or between tags, with its entities resolved. */
export function decodeEntities(text) {
  return text.replace(
    /&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi,
    (all, decimal, hex, name) => {
      if (decimal) return String.fromCodePoint(Number(decimal))
      if (hex) return String.fromCodePoint(parseInt(hex, 16))
      return ENTITIES[name] ?? all
    }
  )
}

/** All values of an attribute of certain tags; `tags` is a pattern such as "a|link". */
export function attributeValues(html, tags, attribute) {
  const tag = new RegExp(`<(?:${tags})\\s[^>]*?\\b${attribute}="([^"]*)"`, 'g')
  return [...html.matchAll(tag)].map((match) => decodeEntities(match[1]))
}

/** Every id on a page. */
export function idsOf(html) {
  return attributeValues(html, '[a-zA-Z][\\w-]*', 'id')
}
