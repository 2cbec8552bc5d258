/** Base58 with Bitcoin's alphabet, which has no similar-looking digits and letters. */

const VALUE = new Int8Array(128).fill(-1);
[..."123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"].forEach((c, i) => {
  VALUE[c.charCodeAt(0)] = i;
});

const SHORTEST = 16;
/** Maximum length, since decoding takes quadratic time. */
const LONGEST = 180;
/** Encoded data contains all three classes; words and hexadecimal text do not. */
const MIXED = /^(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[1-9A-HJ-NP-Za-km-z]+$/;

/** Decodes a run; null: invalid. */
export function fiftyEight(packed: string): Uint8Array | null {
  if (packed.length < SHORTEST || packed.length > LONGEST || !MIXED.test(packed)) return null;
  const bytes = new Uint8Array(packed.length);
  let from = bytes.length;
  for (let i = 0; i < packed.length; i++) {
    let carry = VALUE[packed.charCodeAt(i)];
    for (let k = bytes.length - 1; k >= from || carry > 0; k--) {
      carry += bytes[k] * 58;
      bytes[k] = carry & 255;
      carry >>= 8;
      if (k < from) from = k;
    }
  }
  return bytes.subarray(from);
}
