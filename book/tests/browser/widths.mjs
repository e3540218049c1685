// What is cut at a width of the window: run in the page, by pages.browser.mjs.

/** Windows from a telephone to a large screen; 1440 to 1519 px once cut the sidebar. */
export const WIDTHS = [1920, 1520, 1440, 1280, 768, 390]

/** All folds open, so that what is in them counts. @returns those that were closed */
export function openFolds() {
  const closed = [...document.querySelectorAll('.vp-doc details:not([open])')]
  for (const fold of closed) fold.open = true
  return closed
}

/**
 * What is cut, in words: parts of the frame that touch or cross the edge of the window,
 * lines of code that are longer than their box where there is room for 88 columns, words
 * of a drawing outside of it, bars of a ladder outside of the page.
 */
export function cut() {
  const found = []
  const width = document.documentElement.clientWidth
  const name = (element) => {
    const own = element.getAttribute('class')?.split(' ')[0] ?? ''
    return `${element.tagName.toLowerCase()}.${own} "${element.textContent.trim().slice(0, 30)}"`
  }
  const shown = (selector) =>
    [...document.querySelectorAll(selector)].filter((e) => e.getClientRects().length > 0)
  const box = (element) => element.getBoundingClientRect()

  if (document.documentElement.scrollWidth > width) {
    found.push(`the page is ${document.documentElement.scrollWidth} px wide`)
  }
  for (const part of shown('.VPNavBarTitle, .VPNavBar .VPSwitchAppearance, .VPNavBarMenuLink')) {
    const { left, right } = box(part)
    if (right > width - 8 || left < 8) found.push(`at the edge: ${name(part)}`)
  }
  for (const bar of shown('.VPSidebar')) {
    if (width < 960) break
    for (const text of bar.querySelectorAll('.text')) {
      if (text.scrollWidth > text.clientWidth + 1) found.push(`sidebar: ${name(text)}`)
    }
    const first = bar.querySelector('.text')
    const room = box(bar).right - box(first).left
    if (room < 200) found.push(`the sidebar has ${Math.round(room)} px`)
  }
  if (width >= 1280) {
    for (const code of shown(".vp-doc div[class*='language-'] > pre")) {
      const more = code.scrollWidth - code.clientWidth
      if (more > 1) found.push(`code, ${more} px: ${name(code)}`)
    }
  }
  for (const text of shown('.vp-doc svg text, .vp-doc svg tspan')) {
    const [inner, outer] = [text, text.closest('svg')].map(box)
    const over = Math.max(outer.left - inner.left, inner.right - outer.right,
      outer.top - inner.top, inner.bottom - outer.bottom)
    if (over > 2) found.push(`outside of its drawing, ${Math.round(over)} px: ${name(text)}`)
  }
  for (const rate of shown('.wb-ladder-chart .rate')) {
    const frame = box(rate.closest('figure'))
    if (box(rate).right > frame.right) found.push(`outside of its chart: ${name(rate)}`)
  }
  return found.slice(0, 6)
}
