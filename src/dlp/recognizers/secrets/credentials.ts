/**
 * The order in which a run of letters, digits, `_` and `-` is examined for credentials. The kinds depend on
 * each other: a key block contains nothing else, and a token with an issuer's prefix is not evaluated by the
 * word beside it. So a single scan searches for all of them, and the recognizers of all secrets share its
 * triggers.
 */

import { CLASS_OF, DIGIT, isAlphanumeric, JOINER, LETTER } from "../character_class.ts";
import { pairAt, pairTable } from "../letter_pairs.ts";
import type { Trigger } from "../recognizer.ts";
import type { ScannedView } from "../scanned_view.ts";
import { scanToken } from "../tokens.ts";
import { ACCOUNT_LINE_TRIGGERS } from "./account_lines.ts";
import { scanCall, scanKeyFile, scanOption, scanSignature, scanSignedKey, scanWifi } from "./arguments.ts";
import { scanAuthorization, scanRegistryAuth, scanUserinfo, scanUserOption } from "./basic_auth.ts";
import { scanJsonWebKey } from "./json_web_key.ts";
import { scanJwt } from "./jwt.ts";
import { scanKeyBlock } from "./key_block.ts";
import { scanCommunity, scanNet, scanOracle, scanPgPass, scanSqlPlus } from "./line_fields.ts";
import { scanNamedValue } from "./named_value.ts";
import { scanForeignPasswords, scanPassword, scanPasswordWord } from "./password.ts";
import { scanShaped } from "./shaped_token.ts";
import { scanWalletKey } from "./wallet_key.ts";
import { STATEMENT_TRIGGERS } from "./statements.ts";
import { scanAssignment, scanManifest } from "./whole_text.ts";

/** What a key block begins with. */
const BEGIN = "-----BEGIN ";

/** In a longer run only the beginning may be a credential; the rest is data. */
const LONGEST_RUN = 20_000;

/** Minimum length of shaped tokens that consist of letters only. */
const SHORTEST_SHAPE = 14;

export const CREDENTIALS: readonly Trigger[] = [
  { on: "run", shortest: 6, scan: scanRun },
  { on: "run", longest: 5, holds: DIGIT, scan: scanRun },
  // Short words for passwords in other languages.
  { on: "run", lengths: [5], lacks: DIGIT, begins: "scphgj", scan: scanPasswordWord },
  // "Basic" and "Token".
  { on: "run", lengths: [5], lacks: DIGIT, begins: "bt", followedBy: " ", scan: scanAuthorization },
  { on: "run", longest: 3, lacks: DIGIT, begins: "pmw", scan: scanShortWord },
  { on: "run", lengths: [2], lacks: DIGIT, begins: "-", scan: scanShortWord },
  { on: "run", lengths: [2], lacks: DIGIT, begins: "-", scan: scanOption },
  { on: "run", lengths: [5], lacks: DIGIT, begins: "t", scan: scanSignedKey },
  { on: "run", lengths: [3], lacks: DIGIT, begins: "k", followedBy: ":", scan: scanSignedKey },
  // A short option with its value behind it, such as `-pA7?x`.
  { on: "run", lengths: [3, 4, 5], lacks: DIGIT, begins: "-", scan: scanOption },
  {
    on: "run",
    lengths: [3, 6, 9, 10, 11, 12, 13, 14, 16, 17, 19, 22, 24, 25],
    lacks: DIGIT,
    begins: "bdnhpmgsu",
    followedBy: "(",
    scan: scanCall,
  },
  { on: "run", lengths: [10, 22], lacks: DIGIT, begins: "bc", followedBy: " ", scan: scanCall },
  { on: "run", lengths: [4], lacks: DIGIT, begins: "w", followedBy: ":", scan: scanWifi },
  { on: "run", lengths: [3], lacks: DIGIT, begins: "s", followedBy: "=", scan: scanSignature },
  { on: "run", lengths: [4], lacks: DIGIT, begins: "-", followedBy: " ", scan: scanKeyFile },
  { on: "run", lengths: [13], lacks: DIGIT, begins: "p", followedBy: ":", scan: scanKeyFile },
  { on: "run", lengths: [4, 5], lacks: LETTER | JOINER, followedBy: ":", scan: scanPgPass },
  { on: "run", lengths: [4], lacks: DIGIT, begins: "t", followedBy: ":", scan: scanOracle },
  { on: "run", lengths: [7], lacks: DIGIT, begins: "s", followedBy: " ", scan: scanSqlPlus },
  { on: "run", lengths: [3, 4], lacks: DIGIT, begins: "u", followedBy: " ", scan: scanNet },
  { on: "run", lengths: [11, 12, 13], begins: "srt", followedBy: " ", scan: scanCommunity },
  { on: "run", lengths: [7, 8], holds: DIGIT, begins: "c", followedBy: " ", scan: scanCommunity },
  { on: "run", longest: 5, lacks: DIGIT, followedBy: ".", scan: scanDottedToken },
  { on: "run", lengths: [4], lacks: DIGIT, begins: "p", scan: scanShortWord },
  { on: "sign", signs: ":", scan: scanUserinfo },
  { on: "run", lengths: [4], lacks: DIGIT, begins: "a", scan: scanRegistryAuth },
  { on: "run", lengths: [1, 2], lacks: DIGIT, begins: "dkpq", scan: scanJsonWebKey },
  { on: "part", lengths: [51, 52, 111], begins: "5klc9q6txyzuvd", scan: scanWalletKey },
  // "xoxb" where spaces replace hyphens.
  { on: "run", lengths: [4], lacks: DIGIT, begins: "x", followedBy: " ", scan: scanDottedToken },
  ...STATEMENT_TRIGGERS,
  ...ACCOUNT_LINE_TRIGGERS,
  { on: "view", scan: scanForeignPasswords },
  { on: "view", scan: scanManifest },
  { on: "view", scan: scanAssignment },
];

function isJoiner(text: string, at: number): boolean {
  return (CLASS_OF[text.charCodeAt(at)] & JOINER) !== 0;
}

function scanRun(view: ScannedView, start: number, end: number, classes: number): void {
  const { text, credentials } = view;
  if (end - start > LONGEST_RUN) {
    scanToken(view, start);
    scanJwt(view, start);
    return;
  }
  if (start < credentials.keyBlockEnd) return;
  // Other words may stand directly before it.
  if (end - start >= BEGIN.length - 1 && text.startsWith(BEGIN, end - BEGIN.length + 1)) {
    const from = end - BEGIN.length + 1;
    const keyEnd = scanKeyBlock(view, from);
    if (keyEnd > from) credentials.keyBlockEnd = keyEnd;
    return;
  }
  scanPasswordWord(view, start, end);
  // "key", "token", "_salt" or "_base".
  const ending = text.charCodeAt(end - 1) | 32;
  if (
    ending === 121 && (text.charCodeAt(end - 3) | 32) === 107 ||
    ending === 110 && (text.charCodeAt(end - 4) | 32) === 111 ||
    (ending === 116 || ending === 101) && isJoiner(text, end - 5)
  ) scanSignedKey(view, start, end);
  const first = text.charCodeAt(start) | 32;
  if (first === 97 || first === 98 || first === 116) {
    // "bearer" and "apikey"; shorter ones have a trigger of their own.
    if (end - start === 6 && text.charCodeAt(end) <= 32) scanAuthorization(view, start);
  }
  if (start < credentials.namedValueEnd) return;
  // A word has no special form, and a value is not named by itself.
  if (end - start < SHORTEST_SHAPE && (classes & (DIGIT | JOINER)) === 0) {
    scanBeginning(view, start);
    return;
  }
  if (first === 45) {
    if (text.startsWith("--user", start)) scanUserOption(view, start);
    else if (text.charCodeAt(start + 1) === 112) scanOption(view, start);
  }
  if (
    (end - start >= 5 || text.charCodeAt(end) === 124) &&
      scanShaped(view, withoutJoiners(text, start, end), end) ||
    scanBeginnings(view, start, end, classes)
  ) return;
  const mayBeValue = (classes & DIGIT) !== 0
    ? end - start >= 8 || mayContinue(text.charCodeAt(end))
    : end - start >= 16;
  if (mayBeValue) scanNamedValue(view, start);
}

/** Number of parts of a run that are examined as the beginning of a token. */
const MOST_PARTS = 8;

/**
 * Issuers' tokens and JSON web tokens, at the run's beginning or after one of its first separators; returns
 * whether there was one.
 */
function scanBeginnings(view: ScannedView, start: number, end: number, classes: number): boolean {
  const text = view.text;
  if ((classes & JOINER) === 0) return scanBeginning(view, start);
  for (let p = start, tried = 0; p < end && tried < MOST_PARTS; p++) {
    const isPartStart = p === start || (CLASS_OF[text.charCodeAt(p - 1)] & JOINER) !== 0;
    if (!isPartStart || !isAlphanumeric(text.charCodeAt(p))) continue;
    tried++;
    if (scanBeginning(view, p)) return true;
  }
  return false;
}

function scanBeginning(view: ScannedView, start: number): boolean {
  const { text } = view;
  return scanToken(view, start) ||
    text.charCodeAt(start) === 101 && text.charCodeAt(start + 1) === 121 && scanJwt(view, start);
}

/** Their first two letters. */
const SHORT_WORDS = pairTable("pa pw ww md ps -u");

/** "pass", "pwd", "pw", "ww", "mdp", "psk" and "-u", which are too short for the other trigger. */
function scanShortWord(view: ScannedView, start: number, end: number): void {
  const { text } = view;
  if (SHORT_WORDS[pairAt(text, start)] === 0) return;
  const word = text.slice(start, end);
  if (word === "-u") scanUserOption(view, start);
  else if (/^(?:pass|pwd|mdp|pw|psk)$/i.test(word)) scanPassword(view, start);
  // "ww" is also a format for weeks.
  else if (/^ww$/i.test(word) && !/["']/.test(text.charAt(end))) scanPassword(view, start);
}

/** A token with a dot or a space in its prefix. */
function scanDottedToken(view: ScannedView, start: number, end: number): void {
  scanToken(view, withoutJoiners(view.text, start, end));
}

/** Where the word in a run starts: `-` precedes it in a removed line of a diff and in `${NAME:-value}`, `_` in emphasis. */
function withoutJoiners(text: string, start: number, end: number): number {
  let first = start;
  while (first < end - 1 && isJoiner(text, first)) first++;
  return first;
}

/** + . / = ~ after a run: the value may continue. */
function mayContinue(unit: number): boolean {
  return unit === 43 || unit === 46 || unit === 47 || unit === 61 || unit === 126;
}
