// What is read from files again and again while the book is built, and is to be read anew
// while it is being written.

const MOMENT_MS = 2000

/**
 * A function that gives what `make` made, as long as it is asked for every other second.
 * @template T
 * @param {() => T} make
 * @returns {() => T}
 */
export function recent(make) {
  let value
  let asked = -Infinity
  return () => {
    const now = Date.now()
    if (now - asked > MOMENT_MS) value = make()
    asked = now
    return value
  }
}
