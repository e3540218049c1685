// The small things of a page: dark colours, menus, folding groups, tabs, copying.

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

/** The sidebar's groups, and the sidebar itself on a telephone. */
function startSidebar(document) {
  for (const item of document.querySelectorAll('.VPSidebarItem.collapsible')) {
    const head = item.querySelector(':scope > .item')
    head?.addEventListener('click', () => item.classList.toggle('collapsed'))
    head?.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') item.classList.toggle('collapsed')
    })
  }
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

/** Tabs that say with their roles what they are, as those of <RungDiff> do. */
function startTabLists(document) {
  for (const list of document.querySelectorAll('[role="tablist"]')) {
    const tabs = [...list.querySelectorAll('[role="tab"]')]
    const choose = (chosen) => {
      for (const tab of tabs) {
        const panel = document.getElementById(tab.getAttribute('aria-controls'))
        tab.setAttribute('aria-selected', String(tab === chosen))
        tab.tabIndex = tab === chosen ? 0 : -1
        panel.style.display = tab === chosen ? '' : 'none'
      }
      chosen.focus()
    }
    tabs.forEach((tab, i) => {
      tab.addEventListener('click', () => choose(tab))
      tab.addEventListener('keydown', ({ key }) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[key]
        if (step) choose(tabs[(i + step + tabs.length) % tabs.length])
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
  startSidebar(document)
  startOutline(document)
  startTabs(document)
  startTabLists(document)
  startCopyButtons(document)
}
