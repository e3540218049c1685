// On paper nobody can open a fold, and dark pages drink ink: before printing, all folds
// are opened and the colours are light; afterwards everything is as it was.

/** @param {Window} window */
export function prepareForPrint(window) {
  const root = window.document.documentElement
  let opened = []
  let wasDark = false
  window.addEventListener('beforeprint', () => {
    opened = [...window.document.querySelectorAll('.vp-doc details:not([open])')]
    opened.forEach((fold) => fold.setAttribute('open', ''))
    wasDark = root.classList.contains('dark')
    root.classList.remove('dark')
  })
  window.addEventListener('afterprint', () => {
    opened.forEach((fold) => fold.removeAttribute('open'))
    opened = []
    root.classList.toggle('dark', wasDark)
  })
}
