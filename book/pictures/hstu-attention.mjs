import { picture } from '../lib/picture.mjs'

/** What row i of five sees of key j, for each mask of the picture. */
export const seesOf = {
  'context 2': (i, j) => j <= i || j < 2,
  'target 2': (i, j) => j === i || (j <= i && j < 3),
  'local 1, 0': (i, j) => j <= i && i - j <= 1,
  causal: (i, j) => j <= i
}

export default picture({
  title: 'Sequences one behind the other, and four masks of five rows and five keys',
  label: 'Eight rows lie in one array: five of sequence 0, none of sequence 1, three of ' +
    'sequence 2; cu_seqlens is 0, 5, 5, 8. Below, for five rows, which keys each mask shows: ' +
    'a context of two, two candidates that see the first three and themselves, a window of ' +
    'one to the left, and causal.'
}, (p) => {
  p.text(1, 0, 'cu_seqlens 0, 5, 5, 8', { strong: true })
  for (let i = 0; i < 5; i += 1) p.box(1 + i * 4, 1, 4, 1, 'a', { tone: 1 })
  for (let i = 0; i < 3; i += 1) p.box(21 + i * 4, 1, 4, 1, 'c', { tone: 2 })
  p.text(36, 1, 'sequence 1 is empty', { muted: true })
  Object.entries(seesOf).forEach(([name, sees], m) => {
    p.step(`${name}: a box is a key that the row sees.`)
    p.text(1 + m * 18, 3, name, { strong: true })
    for (let i = 0; i < 5; i += 1) {
      for (let j = 0; j < 5; j += 1)
        if (sees(i, j)) p.box(1 + m * 18 + j * 3, 4 + i, 3, 1, 'x', { tone: m % 3 + 1 })
    }
  })
})
