// A diff of two texts, line by line, for the tabs that compare two rungs.

/**
 * The lines of both texts in one list, by a longest common subsequence. Lines that
 * differ only in their indentation are different lines.
 * @param {string[]} before
 * @param {string[]} after
 * @param {(line: string) => string} keyOf  lines are the same if their keys are
 * @returns {{mark: ' '|'-'|'+', line: string}[]} without the "+" lines it is `before`,
 *   without the "-" lines it is `after`, of which the common lines are; deletions stand
 *   before the insertions that take their place
 */
export function diffLines(before, after, keyOf = (line) => line) {
  const [left, right] = [before.map(keyOf), after.map(keyOf)]
  const common = commonLengths(left, right)
  const result = []
  let i = 0
  let j = 0
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && left[i] === right[j]) {
      result.push({ mark: ' ', line: after[j] })
      ++i
      ++j
    } else if (j === after.length ||
               (i < before.length && common[i + 1][j] >= common[i][j + 1])) {
      result.push({ mark: '-', line: before[i++] })
    } else {
      result.push({ mark: '+', line: after[j++] })
    }
  }
  return result
}

/** common[i][j]: length of the longest common subsequence of before[i…], after[j…]. */
function commonLengths(before, after) {
  const common = Array.from(
    { length: before.length + 1 }, () => new Array(after.length + 1).fill(0))
  for (let i = before.length - 1; i >= 0; --i) {
    for (let j = after.length - 1; j >= 0; --j) {
      common[i][j] = before[i] === after[j]
        ? common[i + 1][j + 1] + 1
        : Math.max(common[i + 1][j], common[i][j + 1])
    }
  }
  return common
}

/** A line without the numbers of rungs: "launch_v2(x)" and "launch_v3(x)" are alike. */
export function withoutRung(line) {
  return line.replace(/_v\d+/g, '_v')
}

/** The share of lines that two texts have in common, 0 to 1. */
export function similarity(before, after, keyOf) {
  const kept = diffLines(before, after, keyOf).filter(({ mark }) => mark === ' ').length
  return (2 * kept) / Math.max(1, before.length + after.length)
}
