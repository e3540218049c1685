import { picture } from '../lib/picture.mjs'

const PRODUCTS = [3, 1, 7, 0, 4, 1, 6, 3], W = 6, LEFT = 13

export default picture({
  title: 'A tree adds eight products in three steps',
  label: 'Eight values above, then rows of four, two and one. In each step a thread below ' +
    'the number of active ones adds the value that lies that far to its right. The sum is 25.'
}, (p) => {
  p.text(0, 0, 'tid', { mono: true })
  PRODUCTS.forEach((_, tid) => p.text(LEFT + tid * W + 3, 0, tid, { anchor: 'middle' }))
  p.text(0, 1, 'products').cells(LEFT, 1, W, PRODUCTS, { tone: 1 })
  const values = [...PRODUCTS]
  for (let active = 4, y = 3; active >= 1; active /= 2, y += 2) {
    p.step(`active = ${active}: a thread with tid < ${active} adds the value of ` +
      `tid + ${active}; then all meet at __syncthreads().`)
    p.text(0, y, `active = ${active}`, { mono: true })
    for (let tid = 0; tid < active; ++tid) {
      values[tid] += values[tid + active]
      const [mine, its] = [tid, tid + active].map((at) => LEFT + (at + 0.5) * W)
      p.link([mine, y - 1], [mine, y]).link([its, y - 1], [mine, y], { tone: 2 })
    }
    p.cells(LEFT, y, W, values.slice(0, active), { tone: 3 })
      .text(LEFT + 8 * W + 2, y, `+ [tid + ${active}], barrier`, { mono: true })
  }
})
