/**
 * logit-loss/model.js: the cross entropy of one logit and its gradient, in floats, by
 * the formulas of day 3's chapter 07 and by known-wrong ones. Each operation is rounded
 * to a float; exp and log are the nearest float, where a GPU's may be a few units away.
 */
const f = Math.fround;
const expf = (x) => f(Math.exp(x));
const logf = (x) => f(Math.log(x));
const log1pf = (x) => f(Math.log1p(x));

/** 1 / (1 + expf(-x)) */
export const sigmoid = (x) => f(1 / f(1 + expf(f(-x))));
/** The chapter's softplus(): max(x, 0) + log1pf(expf(-|x|)). */
export const softplus = (x) => f(Math.max(x, 0) + log1pf(expf(-Math.abs(x))));
const softplusByLog = (x) =>
  f(Math.max(x, 0) + logf(f(1 + expf(-Math.abs(x)))));

/** What may be computed, each with its ways; the first one is the chapter's. */
export const WHAT = {
  loss: [
    { id: 'stable', name: 'softplus with log1p',
      of: (x, yes) => softplus(yes ? -x : x) },
    { id: 'sigmoid', name: 'log of the sigmoid',
      of: (x, yes) => f(-logf(yes ? sigmoid(x) : f(1 - sigmoid(x)))) },
    { id: 'plus', name: 'softplus with log(1 + e)',
      of: (x, yes) => softplusByLog(yes ? -x : x) },
    { id: 'difference', name: '(1 − t) x + softplus(−x)',
      of: (x, yes) => f((yes ? 0 : x) + softplus(-x)) },
  ],
  gradient: [
    { id: 'stable', name: '(1 − t) σ(x) − t σ(−x)',
      of: (x, yes) => (yes ? -sigmoid(-x) : sigmoid(x)) },
    { id: 'sigmoid', name: 'chain rule through the logarithm', of: throughLog },
    { id: 'difference', name: 'σ(x) − t',
      of: (x, yes) => f(sigmoid(x) - (yes ? 1 : 0)) },
  ],
};

/** The gradient of -log(q), times that of q: p (1 - p), as a framework would. */
function throughLog(x, yes) {
  const p = sigmoid(x);
  const ofSigmoid = f(p * f(1 - p));
  return yes ? f(f(-1 / p) * ofSigmoid) : f(f(1 / f(1 - p)) * ofSigmoid);
}

/** The same in double precision, of the logit as it is. */
export function exactly(what, x, yes) {
  const z = yes ? -x : x; // how wrong the logit is
  if (what === 'loss') return Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z)));
  const share = z > 0 ? 1 / (1 + Math.exp(-z)) : Math.exp(z) / (1 + Math.exp(z));
  return yes ? -share : share;
}

/**
 * One way for one logit.
 * @returns {{value: number, error: number}} error: relative; infinite where the value is
 *   infinite or NaN
 */
export function measure(what, way, x, yes) {
  const value = WHAT[what].find(({ id }) => id === way).of(f(x), yes);
  const exact = exactly(what, f(x), yes);
  const error = Math.abs(value - exact) / Math.abs(exact);
  return { value, error: Number.isFinite(value) ? error : Infinity };
}

export const SPAN = 100;
/** The logits of the chart. */
export const LOGITS = Array.from({ length: 2 * SPAN + 1 }, (_, i) => i - SPAN);
