// Which of the known names was probably meant.

/**
 * The number of letters to insert, delete or replace to make one string of another
 * (Levenshtein), one row of the table at a time.
 */
export function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; ++i) {
    const next = [i]
    for (let j = 1; j <= b.length; ++j) {
      const replaced = row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j] + 1, next[j - 1] + 1))
    }
    row = next
  }
  return row[b.length]
}

/** The `most` strings of `known` that are nearest to `wanted`, nearest first. */
export function closest(wanted, known, most) {
  const lower = wanted.toLowerCase()
  return known
    .map((name) => ({ name, far: distance(lower, name.toLowerCase()) }))
    .sort((a, b) => a.far - b.far)
    .slice(0, most)
    .map(({ name }) => name)
}
