import { picture } from '../lib/picture.mjs'

const HOST = 1, QUEUE = 30, DEVICE = 60

export default picture({
  title: 'A launch goes into a queue, and the host goes on',
  label: 'Three columns: what the host calls, the stream, and what the device does. The ' +
    'launch puts a kernel into the stream; the device runs its two blocks of four ' +
    'threads while the host does other work, until cudaStreamSynchronize waits for them.'
}, (p) => {
  p.text(HOST, 0, 'host (CPU)', { strong: true })
    .text(QUEUE, 0, 'stream', { strong: true })
    .text(DEVICE, 0, 'device (GPU)', { strong: true })
  p.step('Memory is set aside on the device; the host waits for this.')
    .text(HOST, 1, 'cudaMalloc(&greetings, ...)', { mono: true })
    .box(DEVICE, 1, 25, 1, 'memory is set aside', { tone: 6 })
  p.step('The launch only puts the kernel into the stream. It returns after microseconds.')
    .text(HOST, 3, 'kernel<<<2, 4, 0, s>>>()', { mono: true })
    .arrow([[26, 3], [QUEUE - 1, 3]])
    .box(QUEUE, 3, 18, 1, 'kernel 2 x 4', { tone: 1 })
  p.step('The device takes it out: two blocks of four threads run.')
    .arrow([[QUEUE + 18, 3], [53, 3], [53, 4], [59, 4]])
    .text(DEVICE, 4, 'block 0')
    .cells(DEVICE + 8, 4, 4, [0, 1, 2, 3], { tone: 1 })
    .text(DEVICE, 5, 'block 1')
    .cells(DEVICE + 8, 5, 4, [0, 1, 2, 3], { tone: 1 })
  p.step('Meanwhile the host asks whether the launch was accepted, and does other work.')
    .text(HOST, 4, 'cudaGetLastError()', { mono: true })
    .text(HOST, 5, '... other work ...', { muted: true })
  p.step('cudaStreamSynchronize waits until the stream is empty, and says whether it ran.')
    .text(HOST, 7, 'cudaStreamSynchronize(s)', { mono: true })
    .box(QUEUE, 7, 18, 1, 'empty', { dashed: true })
    .text(DEVICE, 7, 'done')
    .arrow([[DEVICE - 1, 7], [QUEUE + 18, 7]])
    .arrow([[QUEUE - 1, 7], [26, 7]])
})
