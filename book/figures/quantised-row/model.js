// A row of weights with an outlier, rounded to whole numbers of 8 or 4 bits, or to E2M1.
// Formulas are those of day05-quantization, 01-int8 and 04-fp4-linear, in double.
import { encode, decode, formatOf } from '../number-formats/model.js';
import { splitMix64 } from '../sparse-masks/random.js';

export const COUNT = 64;
export const OUTLIER = 21; // its place
export const FORMATS = [
  { id: 'int8', name: 'INT8', bits: 8, largest: 127 },
  { id: 'int4', name: 'INT4', bits: 4, largest: 7 },
  { id: 'e2m1', name: 'E2M1', bits: 4, largest: 6 },
];
export const GROUPS = [64, 32, 16];
const SCALE_BITS = 16;

/** The nearest whole number; of two, the even one. */
export function roundEven(x) {
  const below = Math.floor(x);
  const rest = x - below;
  return rest > 0.5 || (rest === 0.5 && Math.abs(below % 2) === 1) ? below + 1 : below;
}

/** 64 weights, about normal, of which one is so many times larger. */
export function rowOf(times) {
  const next = splitMix64(3);
  const uniform = () => Number(next() >> 11n) * 2 ** -53;
  const row = Array.from({ length: COUNT }, () => {
    let sum = -3;
    for (let i = 0; i < 6; ++i) sum += uniform();
    return sum * Math.SQRT2;
  });
  row[OUTLIER] = times;
  return row;
}

/** Rounds numbers that share a scale. */
function roundGroup(numbers, format, hasZero) {
  const largest = Math.max(...numbers.map(Math.abs));
  if (format.id !== 'e2m1' && hasZero) {
    const lo = Math.min(0, ...numbers);
    const hi = Math.max(0, ...numbers);
    const top = 2 ** format.bits - 1;
    const scale = (hi - lo) / top;
    if (scale === 0) return { scale, zero: 0, values: numbers.map(() => 0) };
    const zero = roundEven(-lo / scale);
    const codes = numbers.map((x) => Math.min(top, Math.max(0, roundEven(x / scale) + zero)));
    return { scale, zero, values: codes.map((q) => (q - zero) * scale) };
  }
  const scale = largest / format.largest;
  if (scale === 0) return { scale, zero: 0, values: numbers.map(() => 0) };
  const e2m1 = formatOf('fp4 e2m1');
  const round = format.id === 'e2m1'
    ? (x) => decode(e2m1, encode(e2m1, x, true)).value
    : (x) => Math.min(format.largest, Math.max(-format.largest, roundEven(x)));
  return { scale, zero: 0, values: numbers.map((x) => round(x / scale) * scale) };
}

/**
 * A row after rounding.
 * @param {number} group  weights that share a scale
 * @param {boolean} hasZero  whole numbers alone: a zero point for each scale
 * @returns {{values: number[], scales: number[], error: number, zeros: number,
 *   bits: number}}  error: root mean square of the differences, over that of the weights,
 *   both without the outlier; zeros: of the others, that became 0; bits: of a weight
 */
export function quantise(row, formatId, group, hasZero) {
  const format = FORMATS.find(({ id }) => id === formatId);
  const values = [];
  const scales = [];
  for (let first = 0; first < row.length; first += group) {
    const done = roundGroup(row.slice(first, first + group), format, hasZero);
    values.push(...done.values);
    scales.push(done.scale);
  }
  let difference = 0;
  let size = 0;
  let zeros = 0;
  row.forEach((x, i) => {
    if (i === OUTLIER) return;
    difference += (values[i] - x) ** 2;
    size += x ** 2;
    if (values[i] === 0 && x !== 0) ++zeros;
  });
  const ofZero = hasZero && formatId !== 'e2m1' ? format.bits : 0;
  return {
    values, scales, zeros,
    error: Math.sqrt(difference / size),
    bits: format.bits + (SCALE_BITS + ofZero) / group,
  };
}
