/** Addresses of cryptocurrencies. Sources: BIP 13, 173 and 350, EIP-55; documentation of Tron and Solana. */

import { sha256 } from "@noble/hashes/sha2.js";
import { repeated } from "./checksums.ts";
import type { Recognizer } from "./recognizer.ts";
import { after, before, report, type ScannedView, words } from "./scanned_view.ts";

const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
/**
 * Version bytes: Bitcoin and its test network, Litecoin, Dogecoin, Dash; Zcash's two-byte versions start with
 * 28; Tron: 65.
 */
const VERSIONS = new Set([0, 5, 111, 196, 48, 50, 30, 22, 76, 16, 65]);
const SOLANA_WORDS = words("solana", "sol", "spl(?:-token)?", "phantom", "solflare", "lamports?", "raydium");

/** Checks the word at `[start, end)` as an address. */
function scanCrypto(view: ScannedView, start: number, end: number): void {
  const word = view.text.slice(start, end);
  const length = word.length;
  const valid = length === 42 && /^0x[0-9a-fA-F]{40}$/.test(word)
    ? !repeated(word.slice(2))
    : length >= 26 && length <= 35 && /^[13mn2LMDX9AT][1-9A-HJ-NP-Za-km-z]+$/.test(word)
    ? base58check(word, 25, (bytes) => VERSIONS.has(bytes[0]))
    : length >= 14 && length <= 90 && /^(?:bc|tb|ltc)1[02-9ac-hj-np-z]+$/.test(word) && bech32(word);
  if (valid) report(view, "CRYPTO", start, end, 0.95);
  else if (length >= 32 && length <= 44 && isSolana(view, start, end)) {
    report(view, "CRYPTO", start, end, 0.85);
  }
}

/** A 32-byte key, as Solana's addresses: has no check digit, so a word must name it. */
function isSolana(view: ScannedView, start: number, end: number): boolean {
  const word = view.text.slice(start, end);
  if (!/^(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[1-9A-HJ-NP-Za-km-z]+$/.test(word)) return false;
  if (!SOLANA_WORDS.test(before(view, start, 48)) && !SOLANA_WORDS.test(after(view, end, 24))) return false;
  const zeros = /^1*/.exec(word)![0].length;
  const hex = base58(word).toString(16);
  return zeros + Math.ceil(hex.length / 2) === 32;
}

function base58(word: string): bigint {
  let n = 0n;
  for (const c of word) n = n * 58n + BigInt(BASE58.indexOf(c));
  return n;
}

/**
 * Whether a word is base58 of `length` bytes, of which the last four are a check sum.
 *
 * @param isKnown whether the bytes begin with a known version
 */
export function base58check(word: string, length: number, isKnown: (bytes: Uint8Array) => boolean): boolean {
  const hex = base58(word).toString(16).padStart(length * 2, "0");
  if (hex.length !== length * 2) return false;
  const bytes = Uint8Array.from({ length }, (_, i) => parseInt(hex.slice(i * 2, i * 2 + 2), 16));
  if (!isKnown(bytes)) return false;
  const sum = sha256(sha256(bytes.subarray(0, length - 4)));
  return sum.subarray(0, 4).every((b, i) => b === bytes[length - 4 + i]);
}

function bech32(word: string): boolean {
  const split = word.lastIndexOf("1");
  const values = [...word.slice(0, split)].flatMap((c) => [c.charCodeAt(0) >> 5]);
  values.push(0, ...[...word.slice(0, split)].map((c) => c.charCodeAt(0) & 31));
  for (const c of word.slice(split + 1)) values.push(BECH32.indexOf(c));
  let sum = 1;
  for (const v of values) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ v;
    [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3].forEach((g, i) => {
      if ((top >>> i) & 1) sum ^= g;
    });
  }
  sum >>>= 0;
  return sum === 1 || sum === 0x2bc830a3;
}

export const CRYPTO: readonly Recognizer[] = [
  {
    type: "CRYPTO",
    group: "FINANCIAL",
    aliases: [
      "BITCOIN_ADDRESS",
      "ETHEREUM_ADDRESS",
      "CRYPTO_ETH",
      "TRON_ADDRESS",
      "SOLANA_ADDRESS",
      "CRYPTO_WALLET",
    ],
    triggers: [{ on: "part", shortest: 25, scan: scanCrypto }],
    samples: {
      found: [
        "TRX to «TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t»",
        "my Solana wallet «7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV»",
        "«1MUz4VMYui5qY1mxUiG8BQ1Luv6tqkvaiL»",
        "«bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4»",
      ],
      clean: [
        "TRX to TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u",
        "key 7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV",
        "1MUz4VMYui5qY1mxUiG8BQ1Luv6tqkvaiM",
        "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5",
      ],
    },
  },
];
