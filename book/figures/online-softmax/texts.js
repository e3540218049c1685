/**
 * online-softmax/texts.js: a step and a merge in words and numbers, for the line under
 * the figure and for those who cannot see it.
 */
import { show } from './model.js';

const isEmpty = (state) => state.max === -Infinity;

/**
 * The step that took a key.
 * @param {object} step  of model.js's walk(); undefined before the first key
 * @param {{ score: number, value: number }[]} keys
 */
export function aboutStep(step, keys) {
  if (!step) return 'No key yet: m = −∞, l = 0, o = 0.';
  const { key, masked, before, state, factor, weight, newMax } = step;
  if (masked) return `Key ${key} is masked: nothing is added, nothing changes.`;
  const { score, value } = keys[key];
  let what = 'is no new maximum: factor 1';
  if (isEmpty(before)) what = 'is the first: the factor is 0';
  if (newMax) {
    const exponent = `${show(before.max)} − ${inBrackets(score)}`;
    what = `is a new maximum: factor e^(${exponent}) = ${show(factor)}`;
  }
  const sum = `${show(before.sum)} × ${show(factor)} + ${show(weight)}`;
  const o = `${show(before.o)} × ${show(factor)} + ${show(weight)} × ${show(value)}`;
  return (
    `Key ${key}, score ${show(score)}, ${what}. ` +
    `l = ${sum} = ${show(state.sum)}; o = ${o} = ${show(state.o)}.`
  );
}

/** "(−1)" after a minus sign, "1" without one. */
const inBrackets = (number) => (number < 0 ? `(${show(number)})` : show(number));

const range = ({ first, end }) =>
  end - first === 1 ? `key ${first}` : `keys ${first} to ${end - 1}`;

/**
 * A part of the row, and how it came to be.
 * @param {object[][]} levels  of model.js's mergeTree()
 * @param {number} level
 * @param {number} place  in the level
 */
export function aboutNode(levels, level, place) {
  const node = levels[level][place];
  const { state, children, mine, its } = node;
  const all = `m = ${show(state.max)}, l = ${show(state.sum)}, o = ${show(state.o)}`;
  if (children.length < 2) {
    return isEmpty(state)
      ? `Part with ${range(node)}: all masked, so it is (−∞, 0, 0).`
      : `Part with ${range(node)}: ${all}.`;
  }
  const [a, b] = children.map((child) => levels[level - 1][child].state);
  const max = `max(${show(a.max)}, ${show(b.max)}) = ${show(state.max)}`;
  const sum = `${show(a.sum)} × ${show(mine)} + ${show(b.sum)} × ${show(its)}`;
  const nan = Number.isNaN(mine) || Number.isNaN(its);
  return (
    `Merged, ${range(node)}: m = ${max}; l = ${sum} = ${show(state.sum)}; ` +
    `o = ${show(state.o)}.` +
    (nan ? ' −∞ − (−∞) is NaN, and 0 × NaN is NaN, too.' : '')
  );
}
