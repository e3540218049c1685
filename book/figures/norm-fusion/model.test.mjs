// The model of fusions against the cases of the chapter's test, and against what a
// launch is; bytes against the lesson's table.
import assert from 'node:assert/strict';
import test from 'node:test';

import { splitMix64, uniform } from '../sparse-masks/random.js';
import * as m from './model.js';

const n = (op, takes = [], isWanted = false) => ({ op, takes, isWanted, name: op });
const x = n('input');
const norm = (...takes) => n('norm', takes);
const add = (...takes) => n('add', takes);
const other = (...takes) => n('other', takes);
const wanted = (node) => ({ ...node, isWanted: true });

/** All pairs that may be one launch: "3 4 add_then_norm". */
const fused = (nodes) => nodes.flatMap((_, a) => nodes.flatMap((__, b) => {
  const fusion = m.fusionOf(nodes, a, b);
  return fusion === 'none' ? [] : [`${a} ${b} ${fusion}`];
}));

test('the graphs of the chapter\'s test', () => {
  for (const [nodes, ...expected] of [
    [[x, norm(0), other(1), wanted(add(0, 2))]],
    [[x, norm(0), other(1), add(0, 2), norm(3), other(4), wanted(add(3, 5))],
      '3 4 add_then_norm'],
    [[x, other(0), add(0, 1), wanted(norm(2))], '2 3 add_then_norm'],
    [[x, other(0), wanted(add(1, 0)), norm(2), other(3)], '2 3 add_then_norm'],
    [[x, other(0), norm(1), wanted(add(0, 2))], '2 3 norm_then_add'],
    [[x, norm(0), other(0), wanted(add(1, 2))], '1 3 norm_then_add'],
    [[x, norm(0), other(1), wanted(add(1, 2))]],
    [[x, x, norm(0), add(1, 2), other(2), other(3)]],
    [[x, x, wanted(norm(0)), add(1, 2)]],
    [[x, norm(0), wanted(add(1, 1))]],
    [[x, norm(0), norm(0), other(1), other(2), add(0, 3), wanted(add(5, 4)), norm(6)],
      '6 7 add_then_norm'],
  ])
    assert.deepEqual(fused(nodes), expected);
});

test('the figure\'s graphs, and the lesson\'s answers about them', () => {
  const by = Object.fromEntries(m.GRAPHS.map(({ id, nodes }) => [id, fused(nodes)]));
  assert.deepEqual(by, {
    pre: ['3 4 add_then_norm'],
    behind: ['2 3 norm_then_add', '5 6 norm_then_add'],
    post: ['2 3 add_then_norm', '5 6 add_then_norm'],
    parallel: ['6 7 add_then_norm'],
  });
  const pre = m.GRAPHS[0].nodes;
  assert.deepEqual(m.pairsOf(pre), [[1, 3], [1, 6], [3, 4], [4, 6]]);
  assert.deepEqual(m.conditions(pre, 1, 3),
    { takes: false, waiting: [2], readers: [2], isStored: false });
  assert.deepEqual(m.conditions(pre, 3, 4),
    { takes: true, waiting: [], readers: [6], isStored: true });
  for (const { nodes, pair } of m.GRAPHS) {
    assert.ok(m.pairsOf(nodes).some((p) => p.join() === pair.join()));
    nodes.forEach(({ takes }, i) => assert.ok(takes.every((from) => from < i)));
  }
});

test('fusion_of() says yes if and only if the three conditions hold', () => {
  const next = splitMix64(7);
  const below = (limit) => Math.floor(uniform(next) * limit);
  let found = 0;
  for (let repeat = 0; repeat < 500; ++repeat) {
    const nodes = [x, x];
    const size = 3 + below(6);
    while (nodes.length < size) {
      const op = ['norm', 'add', 'other'][below(3)];
      const count = op === 'add' ? 2 : 1;
      const takes = Array.from({ length: count }, () => below(nodes.length));
      nodes.push(n(op, takes, below(5) === 0));
    }
    for (const [first, second] of m.pairsOf(nodes)) {
      const { takes, waiting, readers, isStored } = m.conditions(nodes, first, second);
      const isFree = readers.length === 0 && !nodes[first].isWanted;
      const may = takes && waiting.length === 0 && (isStored || isFree);
      assert.equal(m.fusionOf(nodes, first, second) !== 'none', may);
      found += may;
    }
  }
  assert.ok(found > 100);
});

test('the bytes of the lesson\'s table', () => {
  const mega = ({ reads, writes }) =>
    [reads, writes, reads + writes]
      .map((count) => Math.round((count * m.MATRIX) / 1e6));
  assert.deepEqual(mega(m.matrices('none').two), [403, 268, 671]);
  assert.equal(m.matrices('none').one, null);
  assert.deepEqual(mega(m.matrices('add_then_norm').one), [268, 268, 537]);
  assert.deepEqual(mega(m.matrices('norm_then_add').one), [268, 134, 403]);
});
