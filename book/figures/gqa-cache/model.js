/**
 * gqa-cache/model.js: which query heads read which key/value head, how large the cache
 * of keys and values is, and how many bytes one more token reads.
 */

/** Bytes of an element of the cache. */
export const TYPES = [
  { name: 'float', bytes: 4 },
  { name: 'bfloat16', bytes: 2 },
  { name: 'fp8', bytes: 1 },
];

/** The numbers of key/value heads that divide a number of query heads. */
export function kvHeadChoices(queryHeads) {
  const choices = [];
  for (let heads = 1; heads <= queryHeads; ++heads) {
    if (queryHeads % heads === 0) choices.push(heads);
  }
  return choices;
}

/** G: how many query heads share a key/value head. */
export const groupSize = ({ queryHeads, kvHeads }) => queryHeads / kvHeads;

/** The key/value head that a query head reads: h / G, rounded down. */
export const kvHeadOf = (model, head) => Math.floor(head / groupSize(model));

/** 'MHA', 'MQA' or 'GQA': multi-head, multi-query, grouped-query attention. */
export function nameOf({ queryHeads, kvHeads }) {
  if (kvHeads === queryHeads) return 'MHA';
  return kvHeads === 1 ? 'MQA' : 'GQA';
}

/**
 * Bytes that one token takes in the cache: a key and a value for each key/value head of
 * each layer.
 * @param {object} model  { layers, queryHeads, kvHeads, headDim, typeBytes }
 */
export const bytesPerToken = ({ layers, kvHeads, headDim, typeBytes }) =>
  2 * layers * kvHeads * headDim * typeBytes;

/** Bytes of the cache of one sequence of `tokens` tokens. */
export const bytesPerSequence = (model, tokens) => bytesPerToken(model) * tokens;

/** The same in pages of `pageSize` tokens: the last page is taken as a whole. */
export const bytesPaged = (model, tokens, pageSize) =>
  bytesPerToken(model) * Math.ceil(tokens / pageSize) * pageSize;

/** How many whole sequences fit into `memory` bytes. */
export const sequencesThatFit = (model, tokens, memory) =>
  Math.max(0, Math.floor(memory / bytesPerSequence(model, tokens)));

/**
 * Bytes of the cache that one step of decoding reads, in which each of `batch`
 * sequences gets one more token.
 * @returns {{ once: number, perHead: number }} if a key/value head is read once for all
 *   query heads that share it, and if each query head reads it anew
 */
export function bytesPerStep(model, tokens, batch) {
  const once = bytesPerSequence(model, tokens) * batch;
  return { once, perHead: once * groupSize(model) };
}

/**
 * Floating-point operations of attention in such a step, by wb::attention_flop: 4 for
 * each number of a key, and each query head.
 */
export const flopPerStep = ({ layers, queryHeads, headDim }, tokens, batch) =>
  4 * layers * queryHeads * headDim * tokens * batch;

/** Bytes as a reader wants them: "131 KB", "1.07 GB"; powers of ten. */
export function showBytes(bytes) {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let unit = 0;
  let number = bytes;
  while (number >= 1000 && unit < units.length - 1) {
    number /= 1000;
    ++unit;
  }
  const digits = unit === 0 || number >= 100 ? 0 : number >= 10 ? 1 : 2;
  return `${number.toFixed(digits)} ${units[unit]}`;
}
