import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import * as model from './model.js';
import { STORY, playStory, tell } from './story.js';

const truth = JSON.parse(
  readFileSync(new URL('../../data/truth/paged-cache.json', import.meta.url), 'utf8'),
);

const KINDS = {
  'out of pages': 'out_of_pages',
  'row full': 'length_error',
  'no row': 'length_error',
  'no sequence': 'invalid_argument',
};

/** One operation of the truth program on the model. */
function apply(state, step, number) {
  const token = (position) => (number * 16 + position) % 256;
  switch (step.do) {
    case 'add':
      return model.add(state);
    case 'fork':
      return model.fork(state, step.sequence);
    case 'append':
      return model.append(state, step.sequence, step.tokens, token);
    default:
      return model.release(state, step.sequence);
  }
}

for (const script of truth.scripts) {
  test(`"${script.name}": every step leaves what C++ leaves`, () => {
    let state = model.emptyCache(...script.sizes);
    script.steps.forEach((step, number) => {
      const where = `step ${number}: ${step.do} ${step.sequence ?? ''}`;
      let result = { state };
      let error = 'none';
      try {
        result = apply(state, step, number);
      } catch (caught) {
        assert.ok(caught instanceof model.CacheError, caught.stack);
        error = KINDS[caught.kind];
      }
      state = result.state;
      assert.equal(error, step.error, where);
      if (step.result !== undefined) assert.equal(result.sequence, step.result, where);
      const copies = (result.copies ?? []).flatMap(({ from, to }) => [from, to]);
      assert.deepEqual(copies, step.copies, where);
      assert.equal(state.free.length, step.free, where);
      assert.deepEqual(state.owners, step.owners, where);
      assert.deepEqual(state.lengths, step.lengths, where);
      assert.deepEqual(state.table.flat(), step.table, where);
      assert.deepEqual(state.slots.flat(), step.slots, where);
    });
  });
}

test('the scripts of the truth program meet every error and a copy', () => {
  const steps = truth.scripts.flatMap((script) => script.steps);
  const errors = new Set(steps.map((step) => step.error));
  assert.deepEqual([...errors].sort(), ['invalid_argument', 'length_error', 'none',
    'out_of_pages']);
  assert.ok(steps.some((step) => step.copies.length > 0));
});

test('rows of numbers begin where wb::PagedCache says', () => {
  for (const [page, head, slot, offset] of truth.rows.at) {
    assert.equal(model.rowOffset(page, head, slot, truth.rows.sizes), offset);
  }
});

test('what fails changes nothing', () => {
  const { state } = model.add(model.emptyCache(2, 4, 2, 4));
  const before = structuredClone(state);
  assert.throws(() => model.append(state, 0, 9), { kind: 'out of pages' });
  assert.throws(() => model.append(state, 0, 17), { kind: 'row full' });
  assert.throws(() => model.release(state, 1), { kind: 'no sequence' });
  assert.deepEqual(state, before);
});

test('usage counts shared tokens once', () => {
  let { state } = model.add(model.emptyCache(6, 4, 2, 4));
  ({ state } = model.append(state, 0, 6));
  ({ state } = model.fork(state, 0));
  assert.deepEqual(model.usage(state), {
    seen: 12, held: 6, inUse: 2, shared: 2, wasted: 2, contiguous: 8,
  });
  ({ state } = model.append(state, 1, 1));
  assert.deepEqual(model.usage(state), {
    seen: 13, held: 9, inUse: 3, shared: 1, wasted: 3, contiguous: 8,
  });
});

test('the story can be told to its end, and shows a copy and a lack of pages', () => {
  const told = STORY.map((_, i) => playStory(i + 1).message).join('\n');
  assert.match(told, /copied/);
  assert.match(told, /Out of pages/);
  assert.match(told, /nothing has been changed/);
});

test('a mistake is told, too', () => {
  const { state } = playStory(0);
  assert.match(tell(state, { do: 'release', sequence: 3 }).message, /no sequence 3/);
});
