import { picture } from '../lib/picture.mjs'

const N = 20, BLOCK = 4, THREADS = 8, W = 4, LEFT = 16
const x = (thread) => LEFT + thread * W + (thread >= BLOCK ? 3 : 0)

export default picture({
  title: 'Eight threads go over twenty elements',
  label: 'Three strips of eight elements, one below the other. A thread has the element ' +
    'below it in each strip; the last strip has four elements only.'
}, (p) => {
  p.text(x(2), 0, 'block 0', { anchor: 'middle', strong: true })
    .text(x(6), 0, 'block 1', { anchor: 'middle', strong: true })
    .text(1, 1, 'thread of grid')
  for (let t = 0; t < THREADS; ++t) p.cells(x(t), 1, W, [t])
  for (let strip = 0; strip * THREADS < N; ++strip) {
    const said = ['The first strip: thread t has element t.',
      'One stride further: gridDim.x * blockDim.x = 8 elements.',
      'The last strip: for threads 4 to 7 the next index is past the end.'][strip]
    p.step(said).text(1, 3 + strip, `strip ${strip}`)
    for (let t = 0; t < THREADS; ++t) {
      const i = strip * THREADS + t
      if (i < N) p.cells(x(t), 3 + strip, W, [i], { tone: strip + 1 })
    }
    if (strip > 0) p.text(x(8) + 2, 3 + strip, '+ 8: the stride', { muted: true })
  }
  p.text(x(4), 5, 'done', { muted: true })
})
