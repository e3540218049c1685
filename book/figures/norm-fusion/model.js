/**
 * norm-fusion/model.js: which norm and which add of a graph may be one launch, and what
 * moves then, as fusion_of() and the table of day 3's chapter 05 say.
 */

/**
 * @typedef {object} Node
 * @property {'input' | 'norm' | 'add' | 'other'} op
 * @property {number[]} takes  the nodes whose results it takes
 * @property {boolean} isWanted  its result is read outside of the graph, too
 * @property {string} name
 */

const node = (op, name, takes = []) => ({ op, name, takes, isWanted: false });
const input = node('input', 'x');
const norm = (...takes) => node('norm', 'LN', takes);
const add = (...takes) => node('add', 'add', takes);
const attention = (...takes) => node('other', 'attention', takes);
const mlp = (...takes) => node('other', 'MLP', takes);
const wanted = (last) => ({ ...last, isWanted: true });

/** The blocks of the figure. In each, the pair that is looked at first. */
export const GRAPHS = [
  {
    id: 'pre', name: 'pre-LN: x + attention(LN(x))', pair: [1, 3],
    nodes: [input, norm(0), attention(1), add(0, 2), norm(3), mlp(4),
      wanted(add(3, 5))],
  },
  {
    id: 'behind', name: 'a norm behind: x + LN(attention(x))', pair: [2, 3],
    nodes: [input, attention(0), norm(1), add(0, 2), mlp(3), norm(4),
      wanted(add(3, 5))],
  },
  {
    id: 'post', name: 'post-LN: LN(x + attention(x))', pair: [2, 3],
    nodes: [input, attention(0), add(0, 1), norm(2), mlp(3), add(3, 4),
      wanted(norm(5))],
  },
  {
    id: 'parallel', name: 'parallel: attention beside MLP', pair: [6, 7],
    nodes: [input, norm(0), norm(0), attention(1), mlp(2), add(0, 3), wanted(add(5, 4)),
      norm(6)],
  },
];

/** Pairs of a norm and an add, the earlier one first. @returns {number[][]} */
export function pairsOf(nodes) {
  return nodes.flatMap((a, first) => nodes.flatMap((b, second) => {
    const kinds = [a.op, b.op].sort().join();
    return first < second && kinds === 'add,norm' ? [[first, second]] : [];
  }));
}

/** fusion_of(), line by line. */
export function fusionOf(nodes, first, second) {
  const a = nodes[first];
  const b = nodes[second];
  if (a.op === 'add' && b.op === 'norm')
    return b.takes[0] === first ? 'add_then_norm' : 'none';
  if (a.op !== 'norm' || b.op !== 'add') return 'none';
  if ((b.takes[0] === first) === (b.takes[1] === first)) return 'none';
  if (a.isWanted) return 'none';
  const others = nodes.filter((_, i) => i !== second);
  return others.some(({ takes }) => takes.includes(first)) ? 'none' : 'norm_then_add';
}

/** Is the result of `needed` needed to compute `from`? */
const needs = (nodes, from, needed) =>
  from === needed || nodes[from].takes.some((n) => needs(nodes, n, needed));

/**
 * What a launch may do, by the three conditions of the lesson.
 * @returns {{takes: boolean, waiting: number[], readers: number[], isStored: boolean}}
 *   takes: the second takes the first's result; waiting: what else the second takes that
 *   has to wait for the first; readers: other nodes that read the first; isStored: the
 *   one launch stores the first's result, too
 */
export function conditions(nodes, first, second) {
  const { takes } = nodes[second];
  return {
    takes: takes.includes(first),
    waiting: takes.filter((n, k) =>
      (n !== first || takes.indexOf(n) !== k) && needs(nodes, n, first)),
    readers: nodes.flatMap((n, i) =>
      (i !== second && n.takes.includes(first) ? [i] : [])),
    isStored: nodes[first].op === 'add',
  };
}

/** Bytes of a matrix of the lesson's table: rows, columns, bf16. */
export const MATRIX = 16384 * 4096 * 2;

/**
 * Matrices that one launch, or two, read and write.
 * @returns {{two: {reads: number, writes: number}, one: ?{reads: number,
 *   writes: number}}} one: null if it may not be one
 */
export function matrices(fusion) {
  const two = { reads: 3, writes: 2 };
  if (fusion === 'none') return { two, one: null };
  return { two, one: { reads: 2, writes: fusion === 'add_then_norm' ? 2 : 1 } };
}
