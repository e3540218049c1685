// How a measured number is written in a text.

const DIGITS = 3
const SMALL = 1e-3

/** By the number of decimals: to make one takes longer than to use it. */
const formats = []

/** What `as` does with the value that was looked up, or with the ratio of two. */
const CONVERSIONS = {
  ns: (x) => x * 1e3,       // from µs
  ms: (x) => x / 1e3,       // from µs
  s: (x) => x / 1e6,        // from µs
  GB: (x) => x / 1e9,       // from bytes
  percent: (x) => x * 100,  // of a ratio
  more: (x) => (x - 1) * 100, // percent more than the other
  less: (x) => (1 - x) * 100, // percent less than the other
}

/**
 * Writes a number with so many significant digits, thousands apart with commas, very
 * small ones with an exponent: 42.6, 2,850, 1.5e-8.
 */
export function formatNumber(value, digits = DIGITS) {
  if (!Number.isFinite(value)) return String(value)
  if (value === 0) return '0'
  if (Math.abs(value) < SMALL) {
    return value.toExponential(digits - 1)
  }
  const rounded = Number(value.toPrecision(digits))
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(rounded))))
  formats[decimals] ??= new Intl.NumberFormat('en-US', {
    minimumFractionDigits: decimals, maximumFractionDigits: decimals,
  })
  return formats[decimals].format(rounded)
}

/** A share of a ceiling in percent: two digits, and three where it is more than all of it. */
export const formatShare = (percent) => formatNumber(percent, percent >= 99.5 ? 3 : 2)

/**
 * Writes a value from the data as its <Measured> asks.
 * @param {number|string} value  a string is written as it is
 * @param {{as?: string, digits?: string}} attributes
 */
export function formatMeasured(value, { as, digits }) {
  if (typeof value === 'string') return value
  if (as !== undefined && !Object.hasOwn(CONVERSIONS, as)) {
    const known = Object.keys(CONVERSIONS).join(', ')
    throw new Error(`as="${as}" is not one of: ${known}`)
  }
  const number = as === undefined ? value : CONVERSIONS[as](value)
  if (number < 0 && (as === 'more' || as === 'less')) {
    throw new Error(`the text says "${as}", but measured is ${formatNumber(number)} %`)
  }
  if (digits !== undefined && !/^[1-9]$/.test(digits)) {
    throw new Error(`digits="${digits}" is not a digit from 1 to 9`)
  }
  // A count is written as it is, unless digits are asked for.
  const exact = Number.isInteger(number) && as === undefined && digits === undefined
  if (exact) return number.toLocaleString('en-US')
  return formatNumber(number, digits === undefined ? DIGITS : Number(digits))
}

/** Breaks a text into lines of at most `width` columns. */
export function wrap(text, width = 88) {
  const lines = ['']
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1)
    if (line !== '' && line.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines.join('\n')
}

/** A Markdown table. @param {string[][]} rows  the first one is the head */
export function markdownTable([head, ...rows]) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
