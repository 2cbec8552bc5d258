/**
 * Tokens with an issuer's prefix, followed by characters of a known alphabet and length. A token must also
 * look random: placeholders and values of low entropy are excluded.
 *
 * A recognizer declares them as text: prefixes separated by `|`, a space, the pattern of the rest, in which
 * `A{…}` is letters and digits, `W{…}` also `_` and `-`, `H{…}` lower-case hexadecimal.
 */

import { entropy, isPlaceholder, wordy } from "./randomness.ts";
import type { Recognizer } from "./recognizer.ts";
import { before, report, type ScannedView } from "./scanned_view.ts";
import type { TokenForm, TokenTable } from "./token_table.ts";

const ALPHABETS: Readonly<Record<string, string>> = { A: "[A-Za-z0-9]", W: "[A-Za-z0-9_-]", H: "[a-f0-9]" };

const PAIRS = 128 * 128;

/** Tokens of the recognizers, by the first characters of their prefixes. */
export function tokenTable(recognizers: readonly Recognizer[]): TokenTable {
  const byPair: TokenForm[][] = Array.from({ length: PAIRS });
  const thirds = new Uint32Array(PAIRS);
  for (const { type, tokens } of recognizers) {
    for (const form of (tokens ?? []).flatMap((written) => formsOf(type, written))) {
      const { prefix } = form;
      const pair = prefix.charCodeAt(0) * 128 + prefix.charCodeAt(1);
      (byPair[pair] ??= []).push(form);
      thirds[pair] |= prefix.length > 2 ? 1 << (prefix.charCodeAt(2) & 31) : -1;
    }
  }
  for (const list of byPair) list?.sort((a, b) => b.prefix.length - a.prefix.length);
  return { byPair, thirds };
}

function formsOf(type: string, written: string): TokenForm[] {
  const [prefixes, body] = written.split(" ");
  const pattern = body.replace(/([AWH])(?=\{)/g, (letter) => ALPHABETS[letter]);
  return prefixes.split("|").map((prefix) => {
    const escaped = prefix.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
    return { type, prefix, pattern: new RegExp(`${escaped}(?:${pattern})(?![A-Za-z0-9])`, "y") };
  });
}

/** Compares the issuers' prefixes at `start`; returns whether one matched. */
export function scanToken(view: ScannedView, start: number): boolean {
  const { text, tokens } = view;
  const a = text.charCodeAt(start);
  const b = text.charCodeAt(start + 1);
  if ((a | b) > 127) return false;
  const pair = a * 128 + b;
  if ((tokens.thirds[pair] & 1 << (text.charCodeAt(start + 2) & 31)) === 0) return false;
  for (const form of tokens.byPair[pair]!) {
    if (!text.startsWith(form.prefix, start)) continue;
    form.pattern.lastIndex = start;
    const match = form.pattern.exec(text);
    if (!match || !isDrawn(match[0].slice(form.prefix.length))) continue;
    // Encrypted reasoning of a provider has the form of a Fernet token.
    if (
      form.prefix === "gAAAAA" && /(?:encrypted_\w{1,12}|fingerprint)\W{0,8}$/.test(before(view, start, 30))
    ) return true;
    report(view, form.type, start, start + match[0].length, 0.95);
    return true;
  }
  return false;
}

/** Whether the body of a token is random. */
function isDrawn(body: string): boolean {
  if (entropy(body) < (body.length < 20 ? 2.4 : 2.9) && !/^[A-Z0-9]{16}$/.test(body)) return false;
  if (body.length >= 12 && wordy(body) && !/^(?=[A-Z2-7]*\d)[A-Z2-7]{16}$/.test(body)) return false;
  if (/abcdefgh|EXAMPLE|XXXX|xxxx|\.\.\./.test(body)) return false;
  return body.length <= 20 || !isPlaceholder(body) || entropy(body) >= 3.6;
}
