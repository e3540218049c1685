import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as m from './model.js';
import { PRESETS } from './presets.js';

const load = (file) => JSON.parse(readFileSync(
  new URL(`../../data/${file}`, import.meta.url), 'utf8'));
const truth = load('truth/memory-access.json');
const measured = load('xray_truth.json').lines;

/** The counters of a request, named as in the truth. */
function counters(request) {
  const sectors = m.sectorsOf(request);
  const waves = m.wavefrontsOf(request);
  return {
    lanes: request.address.filter((a) => a !== null).length,
    sectors: sectors.sectors.length,
    ideal_sectors: sectors.ideal,
    wavefronts: waves.count,
    ideal_wavefronts: waves.ideal,
    ways: waves.ways,
  };
}

const pickCounters = (one) => Object.fromEntries(
  ['lanes', 'sectors', 'ideal_sectors', 'wavefronts', 'ideal_wavefronts', 'ways']
    .map((name) => [name, one[name]]));

test('patterns cost what the checker counts, and have the indices that C++ has', () => {
  assert.ok(truth.patterns.length > 40);
  for (const pattern of truth.patterns) {
    const { request, indices, error } = m.requestOf(pattern);
    assert.equal(error, undefined, pattern.index);
    assert.deepEqual(indices.map((i) => i ?? -1), pattern.values, pattern.index);
    assert.deepEqual(counters(request), pickCounters(pattern), pattern.index);
  }
});

/** random_lanes() of book/truth/memory-access.cu. */
function randomIndices({ seed, range, threshold }) {
  let state = seed >>> 0;
  const next = (below) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 16) % below;
  };
  const indices = Array.from({ length: 32 }, () => {
    const wanted = next(range);
    return next(8) < threshold ? wanted : null;
  });
  if (indices[0] === null) indices[0] = next(range);
  return indices;
}

test('random requests cost what the checker counts', () => {
  assert.equal(truth.random.length, 200);
  for (const one of truth.random) {
    const address = randomIndices(one).map((i) => (i === null ? null : i * one.bytes));
    assert.deepEqual(counters({ bytes: one.bytes, address }), pickCounters(one),
      `seed ${one.seed}`);
  }
});

/** What Nsight Compute counted for one request of a line of an example. */
function onHardware(kernel, marker) {
  const line = measured.find((l) => l.kernel === kernel && l.marker === marker);
  assert.ok(line, `${kernel} ${marker}`);
  return (line.sectors ?? line.wavefronts).ncu / line.requests.ncu;
}

test('presets cost what Nsight Compute measured on an H100', () => {
  const pairs = [
    ['neighbours', 'copy_strided<1>', 'strided.load'],
    ['stride-2', 'copy_strided<2>', 'strided.load'],
    ['misaligned', 'copy_misaligned', 'misaligned.load'],
    ['naive-store', 'transpose_naive', 'naive.store'],
    ['aos', 'energy_aos<3>', 'aos.load'],
    ['float4', 'copy_as<float4>', 'as.load'],
    ['bytes', 'copy_as<unsigned char>', 'as.load'],
    ['broadcast', 'copy_broadcast', 'broadcast.load'],
    ['tile-row', 'transpose_tiled', 'tiled.put'],
    ['tile-column', 'transpose_tiled', 'tiled.get'],
    ['padded', 'transpose_padded', 'padded.get'],
    ['swizzled', 'transpose_swizzled', 'swizzled.get'],
    ['shared-stride-2', 'load_strided<2>', 'strided.get'],
    ['shared-aos', 'load_strided<3>', 'strided.get'],
    ['shared-aos4', 'load_strided<4>', 'strided.get'],
    ['shared-broadcast', 'load_broadcast', 'broadcast.get'],
    ['shared-float2', 'load_float2', 'float2.get'],
    ['shared-float4', 'load_float4', 'float4.get'],
    ['shared-float4-2', 'load_float4_strided', 'float4s.get'],
  ];
  for (const [id, kernel, marker] of pairs) {
    const preset = PRESETS.find((p) => p.id === id);
    const { request } = m.requestOf({ ...preset, row: 3 });
    const cost = counters(request);
    assert.equal(preset.memory === 'global' ? cost.sectors : cost.wavefronts,
      onHardware(kernel, marker), id);
  }
});

test('every preset is valid and has a note', () => {
  assert.equal(new Set(PRESETS.map((p) => p.id)).size, PRESETS.length);
  for (const preset of PRESETS) {
    assert.ok(m.SIZES.includes(preset.bytes), preset.id);
    assert.ok(preset.note.endsWith('.'), preset.id);
    for (const row of [0, 5, 31])
      assert.equal(m.requestOf({ ...preset, row }).error, undefined, preset.id);
  }
});

test('the drawing holds every lane in every word it wants', () => {
  for (const pattern of truth.patterns) {
    const { request } = m.requestOf(pattern);
    const rows = m.rowsOf(request);
    const drawn = rows.flatMap(({ words }) => words.flat()).length;
    assert.equal(drawn, pattern.lanes * Math.max(1, pattern.bytes / 4), pattern.index);
    assert.equal(rows.length, m.sectorsOf(request).lines.length, pattern.index);
  }
});

test('mistakes in the input are reported, with their place', () => {
  const of = (index, active) => m.requestOf({ index, active, bytes: 4 });
  assert.match(of('lane +').error, /missing/);
  assert.deepEqual([of('lane - 1').error, of('lane - 1').where],
    ['lane 0 has index -1', 'index']);
  assert.match(of('lane * 16777216').error, /lane 2 has index 33554432|ends at/);
  assert.equal(of('lane', 'lane <').where, 'active');
  assert.equal(of('lane - 1', 'lane > 0').error, undefined);
});

test('an array may begin anywhere that its elements allow', () => {
  const cost = (access) => counters(m.requestOf(access).request);
  // As if the array began earlier, and the lanes wanted later elements.
  for (const bytes of m.SIZES)
    for (let shift = 0; shift * bytes < m.LINE; ++shift)
      assert.deepEqual(cost({ index: '3 * lane', bytes, offset: shift * bytes }),
        cost({ index: `3 * lane + ${shift}`, bytes }), `${bytes} bytes, ${shift}`);
  assert.equal(cost({ index: 'lane', bytes: 16, offset: 16 }).sectors, 17);
  assert.equal(cost({ index: 'lane', bytes: 16, offset: 32 }).sectors, 16);
  const refused = m.requestOf({ index: 'lane', bytes: 16, offset: 4 });
  assert.equal(refused.where, 'offset');
  assert.match(refused.error, /byte 4 is no multiple of 16/);
  assert.equal(m.requestOf({ index: 'lane', bytes: 4, offset: 4 }).error, undefined);
});

test('sentences', () => {
  const sentence = (id, row = 0) => {
    const preset = PRESETS.find((p) => p.id === id);
    return m.result(m.requestOf({ ...preset, row }).request, preset.memory);
  };
  assert.equal(sentence('stride-2'), '8 sectors in 2 cache lines: 256 bytes moved, ' +
    '128 wanted, 50 %. 4 sectors could hold them.');
  assert.equal(sentence('tile-column'),
    '32 wavefronts: a 32-way bank conflict, 31 wavefronts too many.');
  assert.equal(sentence('shared-float4'), '4 wavefronts: no bank conflicts.');
  const none = m.requestOf({ index: 'lane', active: '0', bytes: 4 });
  assert.match(m.result(none.request, 'shared'), /No lane/);
  const { request, indices } = m.requestOf({ index: '33 * lane', bytes: 4 });
  assert.equal(m.laneText(request, indices, 5, 'shared'),
    'Lane 5: element 165, byte 660, word 165, bank 5.');
  assert.equal(m.laneText(request, indices, 5, 'global'),
    'Lane 5: element 165, byte 660, sector 20, cache line 5.');
  assert.equal(m.lanesText([0, 1, 2, 5, 7, 8]), '0-2, 5, 7-8');
});
