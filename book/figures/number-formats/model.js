/**
 * Small floating-point formats: from bits to a value and back, rounding to the nearest,
 * ties to the even last bit, as CUDA's conversions do.
 *
 * Sources: IEEE 754-2019 (fp32, fp16); OCP 8-bit Floating Point Specification 1.0
 * (e4m3, e5m2); OCP Microscaling Formats 1.0 (e2m1).
 */

/**
 * @typedef {object} Format
 * @property {string} name
 * @property {number} exponentBits
 * @property {number} mantissaBits   of the fraction that is stored
 * @property {'ieee' | 'nan' | 'none'} specials
 *   ieee: the top exponent is infinity and NaN; nan: it holds numbers too, and only all
 *   ones is NaN; none: neither exists, and what is too large becomes the largest number
 */

/** @type {Format[]} */
export const FORMATS = [
  { name: 'fp32', exponentBits: 8, mantissaBits: 23, specials: 'ieee' },
  { name: 'fp16', exponentBits: 5, mantissaBits: 10, specials: 'ieee' },
  { name: 'bf16', exponentBits: 8, mantissaBits: 7, specials: 'ieee' },
  { name: 'fp8 e4m3', exponentBits: 4, mantissaBits: 3, specials: 'nan' },
  { name: 'fp8 e5m2', exponentBits: 5, mantissaBits: 2, specials: 'ieee' },
  { name: 'fp4 e2m1', exponentBits: 2, mantissaBits: 1, specials: 'none' },
];

/** @returns {Format} */
export function formatOf(name) {
  return FORMATS.find((format) => format.name === name);
}

/** Bits of the whole number: sign, exponent and fraction. */
export function width(format) {
  return 1 + format.exponentBits + format.mantissaBits;
}

/** What follows from the sizes of the fields. Codes are without the sign. */
export function limits(format) {
  const { exponentBits, mantissaBits, specials } = format;
  const end = 2 ** (exponentBits + mantissaBits);
  const infinity = specials === 'ieee' ? end - 2 ** mantissaBits : null;
  const nan = specials === 'none' ? null : end - 1;
  return {
    sign: end,
    infinity,
    nan,
    largest: (infinity ?? nan ?? end) - 1,
    minExponent: 2 - 2 ** (exponentBits - 1),
  };
}

/** The exponent e of a finite x > 0: 2^e <= x < 2^(e + 1). */
function exponentOf(x) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x);
  const field = (view.getUint32(0) >>> 20) & 0x7ff;
  return field === 0 ? exponentOf(x * 2 ** 60) - 60 : field - 1023;
}

/** The nearest whole number; of two, the even one. x >= 0, less than 2^52. */
function roundHalfEven(x) {
  const below = Math.floor(x);
  const rest = x - below;
  return rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? below + 1 : below;
}

/**
 * The bits of the number of the format nearest to x.
 * @param {Format} format
 * @param {number} x
 * @param {boolean} saturate  too large: the largest number, not infinity or NaN
 * @returns {number} at most 32 bits, not negative
 */
export function encode(format, x, saturate = false) {
  const { sign, infinity, nan, largest, minExponent } = limits(format);
  if (Number.isNaN(x)) return nan ?? largest;
  const signBit = x < 0 || Object.is(x, -0) ? sign : 0;
  const tooLarge = saturate ? largest : infinity ?? nan ?? largest;
  const magnitude = Math.abs(x);
  if (magnitude === Infinity) return signBit + tooLarge;
  if (magnitude === 0) return signBit;
  // Below the smallest normal number the last place stays where it is.
  const exponent = Math.max(exponentOf(magnitude), minExponent);
  const kept = roundHalfEven(magnitude / 2 ** (exponent - format.mantissaBits));
  // A carry out of the fraction steps the exponent, as it should.
  const code = (exponent - minExponent) * 2 ** format.mantissaBits + kept;
  return signBit + (code > largest ? tooLarge : code);
}

/**
 * What bits mean.
 * @returns {{kind: 'zero' | 'subnormal' | 'normal' | 'infinity' | 'nan',
 *   value: number, sign: 0 | 1, exponentField: number, fraction: number,
 *   exponent: number, significand: number}}
 *   finite: value = (-1)^sign * significand * 2^exponent
 */
export function decode(format, bits) {
  const { sign, infinity, nan, largest, minExponent } = limits(format);
  const negative = bits >= sign;
  const code = negative ? bits - sign : bits;
  const step = 2 ** format.mantissaBits;
  const exponentField = Math.floor(code / step);
  const fraction = code % step;
  const exponent = Math.max(exponentField, 1) - 1 + minExponent;
  const significand = (exponentField === 0 ? 0 : 1) + fraction / step;
  let value = (negative ? -1 : 1) * significand * 2 ** exponent;
  let kind = 'normal';
  if (exponentField === 0) kind = fraction === 0 ? 'zero' : 'subnormal';
  if (code > largest && code === infinity) {
    kind = 'infinity';
    value = negative ? -Infinity : Infinity;
  } else if (code > largest && nan !== null) {
    kind = 'nan';
    value = NaN;
  }
  const signOf = negative ? 1 : 0;
  return { kind, value, sign: signOf, exponentField, fraction, exponent, significand };
}

/** The 0s and 1s of a code, the sign first, and what each of them is. */
export function bitsOf(format, bits) {
  const size = width(format);
  return Array.from({ length: size }, (_, i) => {
    const place = size - 1 - i;
    const field =
      i === 0 ? 'sign' : place >= format.mantissaBits ? 'exponent' : 'fraction';
    return { place, field, on: Math.floor(bits / 2 ** place) % 2 === 1 };
  });
}

/** The bits with one of them turned over. Place 0 is the last. */
export function toggle(bits, place) {
  const on = Math.floor(bits / 2 ** place) % 2 === 1;
  return on ? bits - 2 ** place : bits + 2 ** place;
}

/** What became of x: exact, rounded, overflow, saturated, underflow or nan. */
export function outcome(format, x, saturate = false) {
  const bits = encode(format, x, saturate);
  const { value, kind } = decode(format, bits);
  const error = value - x;
  const result = { bits, value, kind, error, relative: Math.abs(error / x) };
  if (Number.isNaN(x)) return { ...result, what: kind === 'nan' ? 'exact' : 'no NaN' };
  if (value === x) return { ...result, what: 'exact' };
  if (kind === 'infinity' || kind === 'nan') return { ...result, what: 'overflow' };
  const { value: largest } = decode(format, limits(format).largest);
  const top = largest + 2 ** (decode(format, limits(format).largest).exponent - 1 -
    format.mantissaBits);
  if (Math.abs(x) >= top) return { ...result, what: 'saturated' };
  if (value === 0) return { ...result, what: 'underflow' };
  return { ...result, what: 'rounded' };
}

/**
 * The finite numbers around a code, in ascending order of value.
 * @returns {{bits: number, value: number}[]} at most 2 * reach + 1
 */
export function neighbours(format, bits, reach = 2) {
  const { sign, largest } = limits(format);
  const place = bits >= sign ? -(bits - sign) : bits;
  const around = [];
  for (let at = place - reach; at <= place + reach; ++at) {
    if (Math.abs(at) > largest) continue;
    const code = at < 0 ? sign - at : at;
    around.push({ bits: code, value: decode(format, code).value });
  }
  return around;
}

/** A code as hexadecimal digits. */
export function hex(format, bits) {
  return `0x${bits.toString(16).padStart(Math.ceil(width(format) / 4), '0')}`;
}

/** What a reader typed: a number, inf, -inf, nan, or a power such as 2^-24. */
export function parseNumber(text) {
  const trimmed = text.trim().toLowerCase().replaceAll('−', '-').replaceAll(',', '');
  const power = /^([+-]?)(\d+(?:\.\d+)?)\^([+-]?\d+)$/.exec(trimmed);
  if (power) return (power[1] === '-' ? -1 : 1) * Number(power[2]) ** Number(power[3]);
  const special = /^([+-]?)inf(inity)?$/.exec(trimmed);
  if (special) return special[1] === '-' ? -Infinity : Infinity;
  if (trimmed === 'nan') return NaN;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/.test(trimmed)) return undefined;
  return Number(trimmed);
}

/** A number, short enough to read: all digits of small ones, 10 of long ones. */
export function show(x) {
  if (Number.isNaN(x)) return 'NaN';
  if (!Number.isFinite(x)) return x < 0 ? '-infinity' : 'infinity';
  if (Object.is(x, -0)) return '-0';
  const exact = String(x);
  if (exact.length <= 12) return exact;
  const short = String(Number(x.toPrecision(10)));
  return short.length <= 17 ? short : x.toExponential(6);
}
