// Which pages somebody may have meant who asked for one that is not there.

/** The number of letters to insert, delete or replace until two words are the same. */
export function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replace = row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replace, row[j] + 1, next[j - 1] + 1))
    }
    row = next
  }
  return row[b.length]
}

/** Words of an address: neither numbers nor what every address has. */
function wordsOf(url) {
  const common = new Set(['index', 'html', 'md', 'lesson', 'readme'])
  const words = decodeURIComponent(url)
    .toLowerCase()
    .split(/[^a-z]+/)
  return words.filter((word) => word.length > 2 && !common.has(word))
}

/** How well a word of the query is found among the words of a page: 0 to 1. */
function bestMatch(word, words) {
  const scores = words.map((other) => {
    const longest = Math.max(word.length, other.length)
    const alike = 1 - distance(word, other) / longest
    return alike >= 0.6 ? alike : 0
  })
  return Math.max(0, ...scores)
}

/**
 * The pages whose addresses and titles are nearest to an address.
 * @param {string} url
 * @param {{text: string, link: string}[]} pages
 * @param {number} count  at most
 */
export function suggest(url, pages, count = 5) {
  const wanted = wordsOf(url)
  const score = (page) => {
    const words = [...wordsOf(page.link), ...wordsOf(page.text)]
    return wanted.reduce((sum, word) => sum + bestMatch(word, words), 0)
  }
  return pages
    .map((page) => ({ page, score: score(page) }))
    .filter((entry) => entry.score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, count)
    .map((entry) => entry.page)
}
