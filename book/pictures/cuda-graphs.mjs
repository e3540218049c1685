import { picture } from '../lib/picture.mjs'

export default picture({
  title: 'One layer: seven kernels, launched one by one or as a graph',
  label: 'Above, the kernels of a layer: a norm; projections of query and key; the key is ' +
    'appended to the cache; attention; a projection; an addition. Below, the host launches ' +
    'one kernel after the other while the GPU waits, or one graph.'
}, (p) => {
  p.box(1, 0, 8, 1, 'norm', { tone: 1 }).arrow([[10, 0], [12, 0]])
    .box(14, 0, 17, 1, 'project query', { tone: 2 }).arrow([[32, 0], [51, 0]])
    .box(53, 0, 10, 1, 'attend', { tone: 3 }).arrow([[64, 0], [65, 0]])
    .box(67, 0, 11, 1, 'project', { tone: 2 }).arrow([[79, 0], [80, 0]])
    .box(82, 0, 5, 1, '+', { tone: 1 })
    .arrow([[4, 1], [4, 2], [12, 2]]).box(14, 2, 15, 1, 'project key', { tone: 2 })
    .arrow([[30, 2], [31, 2]]).box(33, 2, 12, 1, 'append', { tone: 4 })
    .arrow([[46, 2], [57, 2], [57, 1]])
    .text(33, 3, 'needs the position', { muted: true })
    .text(60, 1, 'needs the position', { muted: true })
  p.step('One by one: each launch takes the host longer than the kernel takes the GPU.')
    .text(1, 5, 'one by one', { strong: true }).text(1, 6, 'host').text(1, 7, 'GPU')
  for (let k = 0; k < 7; ++k)
    p.box(12 + k * 5, 6, 5, 1, 'L', { tone: 6 }).box(17 + k * 5, 7, 3, 1, 'k', { tone: 3 })
  p.step('As a graph: one launch, and the kernels follow each other.')
    .text(56, 5, 'as a graph', { strong: true }).box(56, 6, 6, 1, 'G', { tone: 6 })
  for (let k = 0; k < 7; ++k) p.box(62 + k * 3, 7, 3, 1, 'k', { tone: 3 })
})
