// What a reader has behind, in this browser.

const NAME = 'warpbook-done'

/** The chapters that are ticked, as "2.1"; none where the browser keeps nothing. */
export function readDone(storage = globalThis.localStorage) {
  try {
    const list = JSON.parse(storage.getItem(NAME) ?? '[]')
    return Array.isArray(list) ? list.filter((id) => /^\d\.\d+$/.test(id)) : []
  } catch {
    return []
  }
}

/** @param {Set<string>} done */
export function writeDone(done, storage = globalThis.localStorage) {
  try {
    storage.setItem(NAME, JSON.stringify([...done].sort()))
  } catch {
    // A browser that keeps nothing forgets it; the map works all the same.
  }
}
