// An image says in words what it shows, or the build fails.

import { placeOf } from './place.mjs'

/** @returns {string | null} the image of a token that has no description */
function undescribed(token) {
  if (token.type === 'image') {
    return token.content.trim() === '' ? token.attrGet('src') : null
  }
  if (token.type !== 'html_block' && token.type !== 'html_inline') return null
  const [image] = (token.content.match(/<img\b[^>]*>/g) ?? []).filter(
    (tag) => !/\salt="[^"]/.test(tag))
  return image ?? null
}

export function imagesPlugin(md) {
  md.core.ruler.push('wb_images', (state) => {
    for (const token of state.tokens.flatMap((t) => [t, ...(t.children ?? [])])) {
      const image = undescribed(token)
      if (image === null) continue
      throw new Error(`${placeOf(state.env, image)}: the image ${image} has no description`)
    }
  })
}
