/**
 * SplitMix64 (Steele, Lea, Flood 2014), as in common/src/sparse_builders.cpp: the same
 * seed gives the same patterns.
 */

const MASK = (1n << 64n) - 1n;

/**
 * A stream of random 64-bit words.
 * @param {bigint | number} seed
 * @returns {() => bigint} the next word
 */
export function splitMix64(seed) {
  let state = BigInt(seed) & MASK;
  return () => {
    state = (state + 0x9e3779b97f4a7c15n) & MASK;
    let z = state;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK;
    return z ^ (z >> 31n);
  };
}

/**
 * A number in [0, 1) with 53 random bits.
 * @param {() => bigint} next  a stream of words
 */
export function uniform(next) {
  return Number(next() >> 11n) * 2 ** -53;
}
