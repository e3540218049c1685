/**
 * FNV-1a, 64 bits, over the decimal digits of each number and a comma after it, as in
 * book/truth/digest.h: one number for a long list.
 * @param {Iterable<number | bigint>} list
 * @returns {string} 16 hexadecimal digits
 */
export function digest(list) {
  let hash = 0xcbf29ce484222325n;
  for (const value of list) {
    for (const c of `${value},`) {
      hash ^= BigInt(c.charCodeAt(0));
      hash = BigInt.asUintN(64, hash * 0x100000001b3n);
    }
  }
  return hash.toString(16).padStart(16, '0');
}
