import path from 'node:path'
import { fileURLToPath } from 'node:url'

import { loadData, lookUp } from '../lib/data.mjs'
import { formatMeasured } from '../lib/format.mjs'
import { picture } from '../lib/picture.mjs'

const DATA = path.join(path.dirname(fileURLToPath(import.meta.url)), '../data')

/** Capacities are the data sheet's of an H100 SXM; all else is measured, by name. */
const LEVELS = [
  { name: 'registers', holds: '256 KiB of an SM', wide: 18, tone: 1,
    said: 'Registers: each thread has its own. An instruction reads them at once.' },
  { name: 'shared memory', holds: '228 KiB of an SM', wide: 22, tone: 3, level: 'shared',
    said: 'Shared memory: the threads of a block have it together, and fill it themselves.' },
  { name: 'L1 cache', holds: 'of the same 256 KiB', wide: 26, tone: 3, level: 'L1',
    said: 'The L1 cache: what shared memory leaves of the same 256 KiB.' },
  { name: 'L2 cache', holds: '50 MiB', wide: 30, tone: 5, level: 'L2',
    said: 'The L2 cache: one for the whole GPU. All traffic to memory goes through it.' },
  { name: 'global memory (HBM)', holds: '80 GB', wide: 34, tone: 2, level: 'DRAM',
    rate: 'day02/ceilings/read',
    said: 'Global memory: what cudaMalloc gives. Enough of it must be asked for at a time.' },
  { name: 'memory of the host', holds: 'over PCIe', wide: 38, tone: 4, level: 'host',
    said: 'The memory of the host: far away, behind PCIe.' }
]

/**
 * What was measured of a level, as texts: clocks and rate; empty where there is nothing
 * to measure, and before tools/probes/memory_levels.cu has run.
 */
export function measuredOf(data, { level, rate }) {
  if (!level) return { latency: '', rate: '' }
  const row = data.memory_levels?.rows.find((each) => each.level === level)
  const gbps = rate ? lookUp(data, rate).value : row?.gbps
  return {
    latency: row ? `${formatMeasured(row.latency_clocks, {})} clocks` : '',
    rate: gbps === undefined ? ''
      : gbps >= 1000 ? `${formatMeasured(gbps / 1000, {})} TB/s`
        : `${formatMeasured(gbps, {})} GB/s`
  }
}

const CENTER = 20
const data = loadData(DATA)
const isMeasured = data.memory_levels !== undefined
if (isMeasured && !data.memory_levels.machine.gpu.includes('H100'))
  throw new Error('book/data/memory_levels.json is not of an H100, but the picture is')

export default picture({
  title: 'The memories of an H100: near and small, far and large',
  label: 'Six memories from top to bottom, each wider than the one above: registers, ' +
    'shared memory, L1 cache, L2 cache, global memory, memory of the host; with how much ' +
    'each holds, its latency and its bandwidth where they were measured.'
}, (p) => {
  p.text(42, 0, 'holds', { strong: true })
    .text(73, 0, 'bandwidth', { anchor: 'end', strong: true })
  if (isMeasured) p.text(87, 0, 'latency', { anchor: 'end', strong: true })
  else p.text(42, 12, 'latencies: not measured yet', { muted: true })
  LEVELS.forEach((level, i) => {
    const { latency, rate } = measuredOf(data, level)
    const y = 1 + 2 * i
    p.step(level.said)
      .box(CENTER - level.wide / 2, y, level.wide, 1, level.name, { tone: level.tone })
      .text(42, y, level.holds)
    if (rate) p.text(73, y, rate, { anchor: 'end' })
    if (latency) p.text(87, y, latency, { anchor: 'end' })
    if (i > 0) p.link([CENTER, y - 1], [CENTER, y])
  })
})
