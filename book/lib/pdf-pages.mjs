// On which page of a PDF each of its named places is. Chromium writes places and pages as
// plain text: "/NAME [12 0 R /XYZ …]", "/Kids [12 0 R …]"; no more of PDF is needed.

/** The pages of a PDF as numbers of objects, in their order. */
function pageObjects(text) {
  const objects = new Map()
  const object = /^(\d+) 0 obj\n<<\/Type \/Pages?\b([^]*?)>>\s*endobj/gm
  for (const [, number, body] of text.matchAll(object)) {
    const kids = /\/Kids \[([^\]]*)\]/.exec(body)?.[1]
    objects.set(Number(number), kids && [...kids.matchAll(/(\d+) 0 R/g)].map((m) => Number(m[1])))
  }
  const root = Number(/\/Pages (\d+) 0 R/.exec(text)?.[1])
  const below = (number) => {
    if (!objects.has(number)) throw new Error(`the PDF has no page object ${number}`)
    return objects.get(number)?.flatMap(below) ?? [number]
  }
  return below(root)
}

/**
 * @param {Buffer} pdf  as Chromium prints it
 * @returns {Map<string, number>}  the number of the page, from 1, by the name of a place
 */
export function pageNumbers(pdf) {
  const text = pdf.toString('latin1')
  const order = new Map(pageObjects(text).map((object, i) => [object, i + 1]))
  const places = new Map()
  for (const [, name, object] of text.matchAll(/\/([^\s/[\]<>()]+) \[(\d+) 0 R \/XYZ/g)) {
    const plain = name.replace(/#([0-9A-Fa-f]{2})/g, (_, hex) =>
      String.fromCharCode(parseInt(hex, 16)))
    if (name !== 'Dest') places.set(plain, order.get(Number(object)))
  }
  return places
}
