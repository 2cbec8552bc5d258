/**
 * SHA-256 and its keyed form (FIPS 180-4, RFC 2104), written to be quick before the runtime has compiled it: a start hashes a dozen
 * short texts. A library's functions call small ones for each step, which costs a start 3 ms, and 2 ms more to load.
 */

const BLOCK = 64;
const LENGTH = 32;

/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes, and of the square roots of the first eight. */
const { ROUNDS, BEGIN } = constants();

function constants(): { ROUNDS: Int32Array; BEGIN: Int32Array } {
  const rounds = new Int32Array(64);
  const begin = new Int32Array(8);
  const fraction = (root: number) => (root - Math.floor(root)) * 2 ** 32 | 0;
  for (let count = 0, n = 2; count < 64; n++) {
    let prime = true;
    for (let d = 2; d * d <= n && prime; d++) prime = n % d !== 0;
    if (!prime) continue;
    rounds[count] = fraction(Math.cbrt(n));
    if (count < 8) begin[count] = fraction(Math.sqrt(n));
    count++;
  }
  return { ROUNDS: rounds, BEGIN: begin };
}

const words = new Int32Array(64);

function addBlock(state: Int32Array, view: DataView, at: number): void {
  const w = words;
  for (let i = 0; i < 16; i++) w[i] = view.getInt32(at + 4 * i);
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15];
    const y = w[i - 2];
    w[i] = w[i - 16] + w[i - 7] +
      ((x >>> 7 | x << 25) ^ (x >>> 18 | x << 14) ^ x >>> 3) +
      ((y >>> 17 | y << 15) ^ (y >>> 19 | y << 13) ^ y >>> 10);
  }
  let a = state[0], b = state[1], c = state[2], d = state[3];
  let e = state[4], f = state[5], g = state[6], h = state[7];
  for (let i = 0; i < 64; i++) {
    const t = h + ((e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7)) +
      (e & f ^ ~e & g) + ROUNDS[i] + w[i];
    const u = ((a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^ (a >>> 22 | a << 10)) + (a & b ^ a & c ^ b & c);
    h = g;
    g = f;
    f = e;
    e = d + t | 0;
    d = c;
    c = b;
    b = a;
    a = t + u | 0;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
  state[5] += f;
  state[6] += g;
  state[7] += h;
}

export function sha256(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / BLOCK) * BLOCK);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, bytes.length / 2 ** 29);
  view.setUint32(padded.length - 4, bytes.length << 3);
  const state = BEGIN.slice();
  for (let at = 0; at < padded.length; at += BLOCK) addBlock(state, view, at);
  const hash = new Uint8Array(LENGTH);
  const out = new DataView(hash.buffer);
  for (let i = 0; i < 8; i++) out.setInt32(4 * i, state[i]);
  return hash;
}

export function hmac(key: Uint8Array, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const short = key.length > BLOCK ? sha256(key) : key;
  const inner = new Uint8Array(BLOCK + bytes.length).fill(0x36, 0, BLOCK);
  const outer = new Uint8Array(BLOCK + LENGTH).fill(0x5c, 0, BLOCK);
  for (let i = 0; i < short.length; i++) {
    inner[i] ^= short[i];
    outer[i] ^= short[i];
  }
  inner.set(bytes, BLOCK);
  outer.set(sha256(inner), BLOCK);
  return sha256(outer);
}
