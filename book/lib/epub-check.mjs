// What an EPUB must be, as far as a small program can say: elements that close, each id
// once, links that lead somewhere, every file in the manifest and in the spine, nothing of
// a script. `npm run epub:check` asks epubcheck, which knows the whole standard.

/** The first fault in the nesting of a text's elements, or null. */
export function nestingFault(text) {
  const open = []
  const tag = /<(\/?)([A-Za-z][\w:-]*)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>|<[?!][^>]*>|</g
  for (const { 0: whole, 1: closing, 2: name, 4: empty } of text.matchAll(tag)) {
    if (whole === '<') return 'a "<" that begins no element'
    if (!name || empty) continue
    if (!closing) open.push(name)
    else if (open.pop() !== name) return `</${name}> closes nothing`
  }
  if (open.length > 0) return `<${open.at(-1)}> is not closed`
  return /&(?!(?:amp|lt|gt|quot|#\d+|#x[\da-fA-F]+);)/.test(text)
    ? 'an entity that XML does not have' : null
}

const idsOf = (text) => [...text.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id)

/** Faults of one file: what it has, and where its links lead. */
function faultsOf(name, text, ids) {
  const faults = []
  const nesting = nestingFault(text)
  if (nesting) faults.push(nesting)
  const seen = new Set()
  for (const id of idsOf(text)) {
    if (seen.has(id)) faults.push(`two elements have the id "${id}"`)
    seen.add(id)
  }
  const never = /<(?:script|button|input|iframe)\b|\son\w+="/.exec(text)
  if (never) faults.push(`has ${never[0].trim()}, which an EPUB without scripts has not`)
  for (const [, href] of text.matchAll(/\s(?:href|src)="([^"]*)"/g)) {
    if (/^(?:https?|mailto):/.test(href)) continue
    const [file, id] = href.split('#')
    const to = file === '' ? name : `EPUB/${decodeURIComponent(file)}`
    if (!ids.has(to)) faults.push(`links to ${href}, which is not there`)
    else if (id && !ids.get(to).has(id)) faults.push(`links to ${href}: no such id`)
  }
  return faults
}

/**
 * @param {Map<string, string>} files  all files by their names
 * @returns {string[]}  one line a fault
 */
export function checkEpub(files) {
  const faults = []
  if ([...files][0]?.[0] !== 'mimetype') faults.push('mimetype: is not the first file')
  const ids = new Map([...files].map(([name, text]) => [name, new Set(idsOf(text))]))
  const pack = files.get('EPUB/package.opf') ?? ''
  const items = new Map([...pack.matchAll(/<item id="([^"]+)" href="([^"]+)"/g)]
    .map(([, id, href]) => [`EPUB/${href}`, id]))
  const spine = new Set([...pack.matchAll(/<itemref idref="([^"]+)"/g)].map((m) => m[1]))
  for (const [name, text] of files) {
    if (name.startsWith('EPUB/') && name !== 'EPUB/package.opf' && !items.has(name)) {
      faults.push(`${name}: is not in the manifest`)
    }
    if (!name.endsWith('.xhtml')) continue
    if (name !== 'EPUB/nav.xhtml' && !spine.has(items.get(name))) {
      faults.push(`${name}: is not in the spine`)
    }
    faults.push(...faultsOf(name, text, ids).map((fault) => `${name}: ${fault}`))
  }
  for (const name of items.keys()) {
    if (!files.has(name)) faults.push(`${name}: is in the manifest, but is not there`)
  }
  return faults
}
