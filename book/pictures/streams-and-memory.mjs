import { picture } from '../lib/picture.mjs'

const CHUNKS = 5, BUFFERS = 3, IN = 6, KERNEL = 8, OUT = 9, LEFT = 15

/** When each chunk is copied in, computed and copied out; a lane does one at a time. */
export function lanes() {
  const chunks = []
  for (let c = 0; c < CHUNKS; ++c) {
    const last = chunks[c - 1]
    const freed = c >= BUFFERS ? chunks[c - BUFFERS].out + OUT : 0
    const begin = Math.max(last ? last.in + IN : 0, freed)
    const kernel = Math.max(begin + IN, last ? last.kernel + KERNEL : 0)
    const out = Math.max(kernel + KERNEL, last ? last.out + OUT : 0)
    chunks.push({ in: begin, kernel, out })
  }
  return chunks
}

export default picture({
  title: 'Three lanes, a ring of three buffers',
  label: 'Time lines of three streams: copies in, kernels, copies out. The chunks follow ' +
    'each other from lane to lane. Chunk 3 may be copied in only when chunk 0 has been ' +
    'copied out, for it uses the same buffer.'
}, (p) => {
  const at = (time) => LEFT + time
  ;['in_lane', 'compute_lane', 'out_lane'].forEach((name, i) => p.text(1, 2 * i, name,
    { mono: true }))
  lanes().forEach((chunk, c) => {
    const said = c < BUFFERS
      ? `Chunk ${c}: copied in, computed, copied out; an event joins the lanes.`
      : `Chunk ${c} waits until chunk ${c - BUFFERS} is copied out: it has the same buffer.`
    const tone = 1 + c % BUFFERS
    p.step(said)
      .box(at(chunk.in), 0, IN, 1, `in ${c}`, { tone })
      .box(at(chunk.kernel), 2, KERNEL, 1, `run ${c}`, { tone })
      .box(at(chunk.out), 4, OUT, 1, `out ${c}`, { tone })
      .link([at(chunk.in + IN) - 0.5, 1], [at(chunk.kernel) + 0.5, 2])
      .link([at(chunk.kernel + KERNEL) - 0.5, 3], [at(chunk.out) + 0.5, 4])
    if (c >= BUFFERS)
      p.link([at(lanes()[c - BUFFERS].out + OUT), 4], [at(chunk.in), 1], { dashed: true, tone })
  })
  p.arrow([[LEFT, 6], [LEFT + 40, 6]]).text(LEFT + 43, 6, 'time')
})
