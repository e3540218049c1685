// The text of a page needs no script. On a telephone Vue's taking over of it kept the one
// slow core busy for longer than all that the page showed. So its scripts are only fetched,
// with the lowest priority, and start when a reader does something, when a figure comes
// near, or, where there is room for "On this page" beside the text, as soon as the page
// is idle.

/** Runs in the page as it stands here; so it must be complete in itself. */
export function startLate() {
  const wide = matchMedia('(min-width: 960px)').matches
  const first = ['pointerdown', 'pointermove', 'touchstart', 'keydown', 'scroll', 'focusin',
    'beforeprint']
  const idle = window.requestIdleCallback ?? setTimeout
  const figures = '.wb-figure, [data-wb-figure]'
  let begun = false
  let waiting = null // what was pressed before anything could answer

  const ready = () => document.querySelector('#app')?.__vue_app__ !== undefined
  const press = (event) => {
    if (ready()) return removeEventListener('click', press, true)
    const button = event.target.closest?.('button')
    if (button) waiting = button
  }
  const again = (tries = 0) => {
    if (!ready()) return tries < 500 && setTimeout(again, 20, tries + 1)
    removeEventListener('click', press, true)
    waiting?.click()
  }
  const begin = () => {
    if (begun) return
    begun = true
    for (const name of first) removeEventListener(name, begin, true)
    for (const link of document.querySelectorAll('link[data-wb-script]')) {
      const script = document.createElement('script')
      script.type = 'module'
      script.async = false
      script.src = link.href
      document.head.append(script)
    }
    again()
  }

  for (const name of first) addEventListener(name, begin, { capture: true, passive: true })
  addEventListener('click', press, true)
  addEventListener('load', () => {
    if (wide) return idle(begin)
    const near = new IntersectionObserver((seen) => {
      if (!seen.some(({ isIntersecting }) => isIntersecting)) return
      near.disconnect()
      idle(begin)
    })
    for (const figure of document.querySelectorAll(figures)) near.observe(figure)
  })
}

const MODULE = /<script type="module" src="([^"]+)"><\/script>/g
const PRELOAD = /<link rel="modulepreload" href="([^"]+)">/g

/** A page of VitePress whose modules wait. */
export function withLateScripts(html) {
  return html
    .replace(MODULE, '<link rel="prefetch" href="$1" as="script" data-wb-script>')
    .replace(PRELOAD, '<link rel="prefetch" href="$1" as="script">')
    .replace('</head>', `<script id="wb-late">(${startLate})()</script></head>`)
}
