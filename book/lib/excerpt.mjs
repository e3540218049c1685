// What a search shows of the sections that it found. It runs in the reader's browser.

/**
 * What a result shows of its section: what stands around the first word that was found.
 * @param {string} text     of the section
 * @param {string[]} terms  that were found, in small letters
 * @returns {string}  HTML
 */
export function excerptOf(text, terms) {
  const most = 180
  const before = 60
  const flat = (text ?? '').replace(/\s+/g, ' ').trim()
  const small = flat.toLowerCase()
  const places = terms.map((term) => small.indexOf(term)).filter((place) => place >= 0)
  const wanted = Math.max(0, Math.min(...(places.length ? places : [0])) - before)
  const start = wanted === 0 ? 0 : flat.indexOf(' ', wanted) + 1
  const part = flat.slice(start, start + most)
  const whole = start + most >= flat.length
  const end = whole ? part.length : Math.max(part.lastIndexOf(' '), most / 2)
  const shown = (start > 0 ? '… ' : '') + part.slice(0, end) + (whole ? '' : ' …')
  return shown.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
}
