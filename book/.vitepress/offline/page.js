// The small things of a page: dark colours, menus, tabs, copying.

/** Where VitePress keeps the choice, so that both copies of the book share it. */
const APPEARANCE = 'vitepress-theme-appearance'

function startDarkSwitch(document) {
  for (const button of document.querySelectorAll('.VPSwitchAppearance')) {
    button.addEventListener('click', () => {
      const dark = document.documentElement.classList.toggle('dark')
      localStorage.setItem(APPEARANCE, dark ? 'dark' : 'light')
    })
  }
}

/** Menus on top open when one points at them; for the keyboard, with a button. */
function startFlyouts(document) {
  for (const button of document.querySelectorAll('.VPFlyout > .button')) {
    button.addEventListener('click', () => {
      const open = button.getAttribute('aria-expanded') === 'true'
      button.setAttribute('aria-expanded', String(!open))
    })
  }
}

/** The sidebar on a telephone. */
function startSidebar(document) {
  const sidebar = document.querySelector('.VPSidebar')
  const menu = document.querySelector('.VPLocalNav .menu')
  menu?.addEventListener('click', (event) => {
    event.stopPropagation()
    sidebar?.classList.toggle('open')
  })
  document.addEventListener('click', (event) => {
    if (!sidebar?.contains(event.target)) sidebar?.classList.remove('open')
  })
}

/** "On this page": VitePress fills it in the browser. */
function startOutline(document) {
  const outline = document.querySelector('.VPDocAsideOutline')
  const list = outline?.querySelector('ul')
  if (!list) return
  for (const heading of document.querySelectorAll('.vp-doc :is(h2, h3)[id]')) {
    const link = document.createElement('a')
    link.className = `outline-link${heading.tagName === 'H3' ? ' nested' : ''}`
    link.href = `#${heading.id}`
    link.textContent = heading.textContent.replace(/\u200B/g, '').trim()
    const item = document.createElement('li')
    item.append(link)
    list.append(item)
  }
  if (list.children.length > 0) outline.classList.add('has-outline')
}

/** The tabs of a group of code blocks. */
function startTabs(document) {
  for (const group of document.querySelectorAll('.vp-code-group')) {
    const blocks = [...group.querySelectorAll('.blocks > div')]
    group.querySelectorAll('.tabs input').forEach((input, chosen) => {
      input.addEventListener('change', () => {
        blocks.forEach((block, i) => block.classList.toggle('active', i === chosen))
      })
    })
  }
}

function startCopyButtons(document) {
  for (const button of document.querySelectorAll('.vp-doc button.copy')) {
    button.addEventListener('click', async () => {
      const code = button.parentElement.querySelector('pre code')
      await navigator.clipboard.writeText(code.textContent)
      button.classList.add('copied')
      setTimeout(() => button.classList.remove('copied'), 2000)
    })
  }
}

/** @param {Document} document */
export function startPage(document) {
  startDarkSwitch(document)
  startFlyouts(document)
  startSidebar(document)
  startOutline(document)
  startTabs(document)
  startCopyButtons(document)
}
