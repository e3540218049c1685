import { picture } from '../lib/picture.mjs'
import { passes } from '../lib/picture-passes.mjs'

export default picture({
  title: 'How often does a row cross the bus?',
  label: 'Three ways to a softmax of a row. Three passes read the row three times and write ' +
    'it once. Online: the maximum and the sum in one pass, two reads and a write. In ' +
    'registers: one read, one write.'
}, (p) => passes(p, [
  { name: 'three passes', said: 'Three passes: the row is read for the maximum, for the sum ' +
    'and for the result.', parts: ['max', 'sum', 'y'] },
  { name: 'online', said: 'Online: one pass has the maximum and the sum. One read less.',
    parts: ['max and sum', 'y'] },
  { name: 'in registers', said: 'In registers: the row is read once.',
    kept: ['max', 'sum'] }
]))
