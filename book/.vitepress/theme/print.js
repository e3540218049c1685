// On paper nobody can open a fold: all are opened before printing, and those that were
// closed are closed again afterwards.

/** @param {Window} window */
export function openFoldsForPrint(window) {
  let opened = []
  window.addEventListener('beforeprint', () => {
    opened = [...window.document.querySelectorAll('.vp-doc details:not([open])')]
    opened.forEach((fold) => fold.setAttribute('open', ''))
  })
  window.addEventListener('afterprint', () => {
    opened.forEach((fold) => fold.removeAttribute('open'))
    opened = []
  })
}
