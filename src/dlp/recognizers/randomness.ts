/**
 * Distinguishes randomly generated values from words, identifiers and placeholders.
 *
 * Intended for values of up to a few hundred units without white space; all functions are one pass or a
 * bounded pattern.
 */

import { CLASS_OF, DIGIT, LOWER, UPPER } from "./character_class.ts";

const counts = new Uint32Array(256);
/** `n · log2(n)` of small numbers. */
const N_LOG_N = Float64Array.from({ length: 512 }, (_, n) => n === 0 ? 0 : n * Math.log2(n));

/** Shannon entropy in bits per unit. */
export function entropy(value: string): number {
  const { length } = value;
  if (length === 0) return 0;
  for (let i = 0; i < length; i++) counts[value.charCodeAt(i) & 255]++;
  let sum = 0;
  for (let i = 0; i < length; i++) {
    const unit = value.charCodeAt(i) & 255;
    const count = counts[unit];
    if (count === 0) continue;
    sum += count < N_LOG_N.length ? N_LOG_N[count] : count * Math.log2(count);
    counts[unit] = 0;
  }
  return Math.log2(length) - sum / length;
}

const EXAMPLE =
  /example|sample|placeholder|changeme|change_me|your[_-]?|insert|redact|dummy|fake|xxxx|x{5}|\*{3}|\.\.\.|abcdefgh|01234567|12345678(?!\d)|deadbeef|aaaaa|todo|replace|<[a-z]|\$\{|\{\{|\$\(|process\.env|getenv|environ/i;

/** Whether a value is a placeholder for a secret. */
export function isPlaceholder(value: string): boolean {
  return EXAMPLE.test(value) || /^(.)\1+$/.test(value);
}

/**
 * For each letter, the letters that frequently follow it. Counted in English documentation and source code:
 * together they are 96.5 % of the pairs there, but only 62 % of all possible pairs.
 */
const FOLLOWERS = (
  "abcdefghijklmnoprstuvwxyz abcdeijlmoprstuvy acdefhiklmnoprstuvy abcdefghijlmnoprstuvy abcdefghijklmnopqrstuv" +
  "wxyz acefgilnorstuvy abceghilmnoprstu aeilmnorstuy abcdefgiklmnoprstuvxz aeiosu aeghilnorsuw abcdefgiklmnopr" +
  "stuvy abcdefilmnopstuy abcdefghijklmnoprstuvyz abcdefghiklmnoprstuvwxy acdefhiklnoprstuy u abcdefghiklmnoprstuvy acdefghiklmnopqrstuvwy abcdefhiklmnoprstuwxyz abcdefgiklmnoprst aeimops adehilnors acdeimpstvx aceilmnoprstuv aeioz"
).split(" ");

const COMMON_PAIR = new Uint8Array(128 * 128);
FOLLOWERS.forEach((followers, i) => {
  for (const c of followers) COMMON_PAIR[(97 + i) * 128 + c.charCodeAt(0)] = 1;
});

/** Consists of words, as identifiers do: few digits, and letters in an order usual in words. */
export function wordy(value: string): boolean {
  return (value.match(/\d/g)?.length ?? 0) < 4 && strangeness(value) < 0.12 &&
    turnsOf(value) < value.length * MOST_TURNS;
}

/** Words of four letters that are joined by capitals change their kind of unit twice in each: 0.5 for each unit. */
const MOST_TURNS = 0.5;

/** How often a unit is of another kind than the one before: small letters, capitals, digits, others. */
function turnsOf(value: string): number {
  let turns = 0;
  for (let i = 1; i < value.length; i++) {
    if (CLASS_OF[value.charCodeAt(i)] !== CLASS_OF[value.charCodeAt(i - 1)]) turns++;
  }
  return turns;
}

/** The share of adjacent letters that are unusual in words. */
export function strangeness(value: string): number {
  let pairs = 0;
  let strange = 0;
  for (let i = 1; i < value.length; i++) {
    const a = value.charCodeAt(i - 1) | 32;
    const b = value.charCodeAt(i) | 32;
    if (a < 97 || a > 122 || b < 97 || b > 122) continue;
    pairs++;
    if (COMMON_PAIR[a * 128 + b] === 0) strange++;
  }
  return pairs < 4 ? 1 : strange / pairs;
}

/** Whether a text was torn off a value that a line break or the end of a part cuts: neither a word nor a number. */
export function isTorn(rest: string): boolean {
  const units = rest.replace(/[^A-Za-z0-9]+/g, "");
  return units.length >= 5 && (/\d/.test(units) && /[A-Za-z]/.test(units) || strangeness(units) > 0.25);
}

/** An identifier or name: words and numbers, joined by punctuation or capitals. */
export function isIdentifier(value: string): boolean {
  return IDENTIFIER.test(value) && strangeness(value) < 0.2;
}

const FILE_OR_VERSION =
  /^\/|:\/\/|^[a-z]{2,8}:[^/]|\d\.\d+\.\d|\.(?:com|org|net|io|[jt]sx?|py|go|rb|rs|cc?|h|cpp|cs|java|kt|php|swift|json|toml|ini|cfg|csv|ya?ml|html?|css|pem|txt|md|sh|log|xml|conf|pdf|lock)$/i;
const DOTTED_NAME = /^[\w-]+(?:\.[A-Za-z_][\w-]*)+\(?$/;
const NAME_AND_NUMBER = /^[A-Za-z_-]+\d{1,4}$|^[A-Za-z]+(?:[_.-][A-Za-z]+)+\d{0,4}$/;
/** Words in capitals, as variables of the environment have. */
const CONSTANT = /^[A-Z]{2,}(?:_[A-Z]{2,})+$/;
/** Words and numbers, joined by punctuation or capitals. */
const IDENTIFIER =
  /^(?:[A-Za-z]+\d{0,3}[A-Za-z]?|\d+)(?:[_-](?:[A-Za-z]+\d{0,2}|\d{1,6}))+$|^(?:[A-Z]?[a-z]+|[A-Z]{2,5})(?:[A-Z][a-z]+|\d{1,5}(?=[A-Z]))+\d{0,2}$/;
/** "int32/Elem=int32", "status/1788959142686239174" */
const NAMES_IN_A_ROW =
  /^[A-Za-z]+\d{0,2}(?:[/=|:.][A-Za-z]+\d{0,2})+=?$|^[A-Za-z]+(?:[/=|:.][A-Za-z]+)*[/=|:.]\d+$/;
const HEXADECIMAL = /^(?:[0-9a-f]+|[0-9A-F]+)$/;
const DATED = /(?:19|20)\d\d-[01]\d-[0-3]\d/;
const HEX_CONSTANT = /^0x[0-9a-f]{1,16}$/i;

/** Single small letters between capitals and digits: no name that is joined of words has two of them. */
function isErratic(value: string): boolean {
  return (value.match(/(?<=[A-Z0-9])[a-z](?=[A-Z0-9])/g)?.length ?? 0) > 1;
}

/**
 * Randomly generated, judged by its characters and their distribution; cheap tests come first and rule out
 * most words.
 */
export function looksRandom(value: string, strict: boolean): boolean {
  const length = value.length;
  if (length < (strict ? 16 : 10)) return false;
  let same = 0;
  let digits = 0;
  let groups = 0;
  let upper = 0;
  let lower = 0;
  let turns = 0;
  let last = 0;
  for (let i = 0; i < length; i++) {
    const c = value.charCodeAt(i);
    same = i > 0 && c === value.charCodeAt(i - 1) ? same + 1 : 0;
    if (same === 7) return false;
    const k = CLASS_OF[c];
    if (k === DIGIT) {
      digits++;
      if (last !== DIGIT) groups++;
    } else if (k === UPPER) upper++;
    else if (k === LOWER) lower++;
    if (k !== last) turns++;
    last = k;
  }
  if (upper + lower === 0) return digits >= 15 && !strict && !value.includes(".") && entropy(value) > 2.2;
  const strange = strangeness(value);
  if (digits === 0) {
    // Letters alone are a word, unless their sequence is unusual.
    if (length >= 24 && HEXADECIMAL.test(value)) return entropy(value) > 2.2;
    if (strange < 0.35 && CONSTANT.test(value)) return false;
    if (length < 16 || upper > 2 && lower > 2 && turns < length * 0.3) {
      if (length < 24 || strange <= 0.3) return false;
    } else if (strange <= 0.18 && !isErratic(value)) return false;
    return entropy(value) > 3.3 && !FILE_OR_VERSION.test(value);
  }
  const hex = HEXADECIMAL.test(value);
  if (hex && length < 14) return false;
  // Identifiers with a number in them are not random; hexadecimal values and those with many digits may be.
  if (!hex && groups < 3 && digits < length * 0.25 && strange < 0.1 && !isErratic(value)) return false;
  if (digits < 2 && turns < 8 && strange < 0.15) return false;
  if (strange < 0.2 && (NAME_AND_NUMBER.test(value) || digits < 6 && DOTTED_NAME.test(value))) return false;
  if (strange < 0.2 && (IDENTIFIER.test(value) || NAMES_IN_A_ROW.test(value))) return false;
  if (HEX_CONSTANT.test(value) || FILE_OR_VERSION.test(value) || strange < 0.2 && DATED.test(value)) {
    return false;
  }
  return entropy(value) >= (hex && length >= 24 ? 2.2 : 2.8);
}
