import { picture } from '../lib/picture.mjs'

const LANES = 32, W = 2, LEFT = 12, LONG = [7, 18], SHORT_TIME = 18, LONG_TIME = 58
const lanes = (isLong) => Array.from({ length: LANES }, (_, lane) => isLong(lane))

export default picture({
  title: 'A warp goes on when its last lane is done',
  label: 'A warp of 32 lanes, two of which have a long computation: the warp takes the long ' +
    'time, and 30 lanes wait. Below, a list of 32 long ones from 16 warps: all lanes work, ' +
    'and the other warps are done after the short time.'
}, (p) => {
  const row = (y, name, long) => p.text(1, y, name).cells(LEFT, y, W, long.map(() => ''), {
    tones: long.map((is) => (is ? 2 : 1)), ascii: long.map((is) => (is ? '#' : '.')) })
  p.text(LEFT, 0, 'lane 0').text(LEFT + LANES * W, 0, 'lane 31', { anchor: 'end' })
  p.step('1 lane in 16 has a long computation. All others wait for it.')
  row(1, 'warp 0', lanes((lane) => LONG.includes(lane)))
  p.arrow([[LEFT, 2], [LEFT + SHORT_TIME, 2]], { tone: 1 })
    .text(LEFT + SHORT_TIME + 2, 2, 'time of the short ones')
    .arrow([[LEFT, 3], [LEFT + LONG_TIME, 3]], { tone: 2 })
    .text(LEFT + LONG_TIME + 2, 3, 'of the long')
    .text(LEFT, 4, '2 lanes work, 30 wait')
  p.step('The long ones of 16 warps, in a list: one warp does them all at once.')
  row(6, 'a list', lanes(() => true))
  p.arrow([[LEFT, 7], [LEFT + LONG_TIME, 7]], { tone: 2 })
    .text(LEFT + LONG_TIME + 2, 7, 'of the long')
    .text(LEFT, 8, '32 lanes work, and 15 other warps have none of it')
})
