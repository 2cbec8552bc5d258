/**
 * Finds numbers with a written form (identity, card, tax numbers) in one pass over the groups of letters and
 * digits around each digit.
 *
 * Each rule lists its forms as masks: `9` a digit, `A` a letter, the rest literal. Spans of adjacent groups
 * are converted to masks and looked up in one table, so the cost does not depend on the number of rules: only
 * spans with a matching form are checked. Rules whose letters may be at any position are looked up by length
 * and matched by a pattern on at most 24 characters.
 */

import { ALPHANUMERIC, CLASS_OF, DIGIT, isAlphanumeric } from "./character_class.ts";
import { BEFORE, BEHIND, bounded, isLong, judge, MAX_COMPACT, type NumberTable } from "./number_judge.ts";
import { grown, joined, MaskTable, type NumberRule } from "./mask_table.ts";
import { scanGlued, scanGluedRow } from "./glued_numbers.ts";
import { isLetterBehind, letterBefore } from "./letters.ts";
import { scanRow } from "./number_rows.ts";
import { isHexGroup, isInLongerRow, isInTable, isListed } from "./number_tables.ts";
import type { Recognizer } from "./recognizer.ts";
import { isAlone, type ScannedView } from "./scanned_view.ts";

const MAX_GROUPS = 14;
/** Maximum number of groups of a number. */
const MOST_GROUPS = 7;
/** Characters in a mask for a digit and a letter. */
const NINE = 57;
const LETTER = 65;
/** Minimum number of digits, unless one of the groups contains letters too and is at least this long. */
const FEWEST_DIGITS = 4;
const LONG_MIXED = 9;
/** Maximum number of separators in a number whose letters may be at any position. */
const MOST_FREE = 4;
/** Maximum number of groups and digits of a number attached to a word. */
const MOST_IN_ROW = 6;
const FEWEST_IN_ROW = 9;
/** Numbers up to this many digits may occur in a longer row of groups by chance; card numbers are longer. */
const MAX_IN_LONGER_ROW = 15;
/** Kinds of separators: a number has only pluses or none, so that `1.24e+5` is excluded. */
const PLUSES = 1;
const OTHERS = 2;

/** The table of number forms of these recognizers. */
export function numberTable(recognizers: readonly Recognizer[]): NumberTable {
  const rules = recognizers.flatMap(({ type, numbers }) =>
    (numbers ?? []).map((forms) => ({ ...forms, type }))
  );
  const table: NumberTable = {
    masks: new MaskTable(),
    free: [],
    types: new Set(rules.map((rule) => rule.type)).size,
  };
  for (const rule of rules) {
    for (const written of rule.forms) {
      const [form, plain] = written.split("=");
      const mask = form.replace(/(.)\{(\d+)\}/g, (_, c, n) => c.repeat(Number(n)));
      const masks = mask.includes("~") ? [" ", "-", "."].map((s) => mask.replaceAll("~", s)) : [mask];
      for (const m of masks) {
        const entry = { rule, plain: plain ? Number(plain) : rule.plain };
        table.masks.add(m, entry);
        if (!rule.prefix) continue;
        for (const joint of ["", " ", "-", "."]) {
          table.masks.add("A".repeat(rule.prefix.length) + joint + m, {
            rule,
            plain: Math.max(entry.plain, 0.6),
          });
        }
      }
    }
    for (const length of rule.free?.lengths ?? []) {
      (table.free[length] ??= []).push({ rule, plain: rule.plain });
    }
  }
  return table;
}

const starts = new Int32Array(MAX_GROUPS);
const ends = new Int32Array(MAX_GROUPS);
const kinds = new Uint8Array(MAX_GROUPS);
/** Hash and length of each group's mask; length 0: the group is too long for a number. */
const hashes = new Int32Array(MAX_GROUPS);
const lengths = new Uint8Array(MAX_GROUPS);
const OPEN = 40;
const CLOSE = 41;

/**
 * Examines the groups in and around a run of letters, digits, `_` and `-` at `[start, end)` that contains a
 * digit, and further to the right while single separators join groups. Returns where it stopped: nothing
 * before that must be examined again.
 */
export function scanNumbers(view: ScannedView, table: NumberTable, start: number, end: number): number {
  const text = view.text;
  let done = end;
  for (let p = start; p < end;) {
    const c = CLASS_OF[text.charCodeAt(p)];
    if ((c & ALPHANUMERIC) === 0) {
      p++;
      continue;
    }
    let q = p + 1;
    let kind = c;
    for (; q < end; q++) {
      const next = CLASS_OF[text.charCodeAt(q)];
      if ((next & ALPHANUMERIC) === 0) break;
      kind |= next;
    }
    // A long word is not part of a number; a few letters may start one.
    if ((kind & DIGIT) === 0 && q - p > 6) {
      p = q + 1;
      continue;
    }
    p = Math.max(q, scanChain(view, table, p, q));
    done = Math.max(done, p);
  }
  return done;
}

/** Examines one chain of groups from the group at `[start, end)` on; returns where the next chain may start. */
function scanChain(view: ScannedView, table: NumberTable, start: number, end: number): number {
  const text = view.text;
  let n = 0;
  let digits = 0;
  let mixed = 0;
  let p = start;
  // Letters of a number may be in groups before its first digit: "IT 0074…", "DML PRY 77…".
  for (let k = 0; k < 2 && p > 1 && isJoint(text.charCodeAt(p - 1)); k++) {
    let q = p - 1;
    while (q > 0 && p - q < 9 && isLetter(text.charCodeAt(q - 1))) q--;
    if (q === p - 1 || p - 1 - q > 6 || (q > 0 && isAlphanumeric(text.charCodeAt(q - 1)))) break;
    p = q;
  }
  while (n < MAX_GROUPS) {
    let q = p;
    let kind = 0;
    let hash = 0;
    for (; q < text.length; q++) {
      const c = CLASS_OF[text.charCodeAt(q)];
      if ((c & ALPHANUMERIC) === 0) break;
      kind |= c;
      if (c === DIGIT) digits++;
      hash = grown(hash, c === DIGIT ? NINE : LETTER);
    }
    if (q === p) break;
    if (p >= end && kind !== DIGIT && (kind & DIGIT) === 0 && q - p > 3) break;
    starts[n] = p;
    ends[n] = q;
    kinds[n] = kind;
    hashes[n] = hash;
    lengths[n] = q - p > MAX_COMPACT ? 0 : q - p;
    if (kind !== DIGIT && (kind & DIGIT) !== 0) mixed = Math.max(mixed, q - p);
    n++;
    const joint = text.charCodeAt(q);
    if (
      (joint === 40 && text.charCodeAt(q + 2) === 41 || joint === 91 && text.charCodeAt(q + 2) === 93) &&
      n < MAX_GROUPS
    ) {
      // A check character in brackets, as on Hong Kong identity cards.
      if ((CLASS_OF[text.charCodeAt(q + 1)] & ALPHANUMERIC) === 0) break;
      starts[n] = q;
      ends[n] = q + 3;
      kinds[n] = kinds[n - 1];
      const inner = CLASS_OF[text.charCodeAt(q + 1)] === DIGIT ? NINE : LETTER;
      hashes[n] = grown(grown(OPEN, inner), CLOSE);
      lengths[n] = 3;
      n++;
      break;
    }
    if (!isJoint(joint)) break;
    p = q + 1;
  }
  if (n === 0) return end;
  const last = ends[n - 1];
  const isDump = n === MAX_GROUPS && isDumpRow(text);
  if (!isDump && (digits >= FEWEST_DIGITS || mixed >= LONG_MIXED) && last - starts[0] >= 6) {
    for (let i = 0; i < n; i++) {
      if (i > 0 && !attachable(text, i)) continue;
      if (kinds[i] !== DIGIT && ends[i] - starts[i] >= 8 && (kinds[i] & DIGIT) !== 0) {
        scanGlued(view, table, starts[i], ends[i]);
      }
      trySpans(view, table, i, n);
    }
    if (mixed > 0 && n >= 3 && digits >= FEWEST_IN_ROW) tryGluedRows(view, table, n);
  }
  // Preceding letters, such as those of a folder, are not part of the row.
  const own = starts.indexOf(start);
  if (own < n && kinds[own] === DIGIT && (n - own < 3 || n === MAX_GROUPS)) {
    scanRow(view, table, starts[own], ends[own]);
  }
  // A number that starts in the last groups of a full chain may continue after it.
  return n === MAX_GROUPS ? Math.max(end, starts[MAX_GROUPS - MOST_GROUPS + 1]) : last;
}

/**
 * A group may start a number unless it is attached to a digit by a hyphen, dot or slash; a long group may in
 * any case.
 */
function attachable(text: string, group: number): boolean {
  const start = starts[group];
  const joint = text.charCodeAt(start - 1);
  return joint === 32 || (CLASS_OF[text.charCodeAt(start - 2)] & DIGIT) === 0 || isLong(start, ends[group]);
}

/** Groups of which the first or last is attached to a word: "card4539 5787 6362 1486and". */
function tryGluedRows(view: ScannedView, table: NumberTable, n: number): void {
  for (let i = 0; i < n - 2; i++) {
    if (kinds[i + 1] !== DIGIT) continue;
    const glued = kinds[i] !== DIGIT;
    if (glued ? (kinds[i] & DIGIT) === 0 : !attachable(view.text, i)) continue;
    // All separators must be the same character.
    const joint = view.text.charCodeAt(ends[i]);
    for (let j = i + 2; j < n && j < i + MOST_IN_ROW; j++) {
      if ((kinds[j] & DIGIT) === 0 || view.text.charCodeAt(ends[j - 1]) !== joint) break;
      // A hexadecimal group as long as the others: part of a table.
      if (kinds[j] !== DIGIT && isLike(view.text, j, i + 1)) break;
      if ((glued || kinds[j] !== DIGIT) && ends[j] - starts[i] > FEWEST_IN_ROW + 1) {
        scanGluedRow(view, table, starts[i], ends[j]);
      }
      if (kinds[j] !== DIGIT) break;
    }
  }
}

/** Whether a group is hexadecimal, and as long as another one. */
function isLike(text: string, group: number, other: number): boolean {
  const length = ends[other] - starts[other];
  return ends[group] - starts[group] === length && isHexGroup(text, starts[group], length);
}

/** Whether the groups of a full chain are the middle of a hex dump, in which no number starts or ends. */
function isDumpRow(text: string): boolean {
  const length = ends[0] - starts[0];
  if (length > 4 || length < 2) return false;
  for (let i = 0; i < MAX_GROUPS; i++) {
    if (starts[i] !== starts[0] + i * (length + 1) || text.charCodeAt(starts[i] - 1) > 32) return false;
    if (!isHexGroup(text, starts[i], length)) return false;
  }
  return isInTable(text, starts[0], ends[MAX_GROUPS - 1], length);
}

/** Whether groups have the same length. */
function areEven(first: number, last: number): boolean {
  for (let i = first + 1; i <= last; i++) {
    if (ends[i] - starts[i] !== ends[first] - starts[first]) return false;
  }
  return true;
}

/** Whether the neighbours of a number in a table are numbers of the same kind. */
function isOneOf({ check }: NumberRule, text: string, start: number, end: number): boolean {
  if (check === undefined) return false;
  return isListed(text, start, end, (written) => check(written.replace(/[^A-Za-z0-9]/g, "").toUpperCase()));
}

function trySpans(view: ScannedView, table: NumberTable, first: number, n: number): void {
  const text = view.text;
  const { masks } = table;
  let hash = 0;
  let compact = 0;
  let kind = 0;
  let joints = 0;
  for (let j = first; j < n; j++) {
    if (lengths[j] === 0) return;
    const bracket = (CLASS_OF[text.charCodeAt(starts[j])] & ALPHANUMERIC) === 0;
    if (j > first && !bracket) {
      const joint = text.charCodeAt(starts[j] - 1);
      hash = grown(hash, joint);
      joints |= joint === 43 ? PLUSES : OTHERS;
    }
    hash = joined(hash, hashes[j], lengths[j]);
    kind |= kinds[j];
    compact += bracket ? 1 : ends[j] - starts[j];
    if (compact > MAX_COMPACT) return;
    // No mask can match here, nor forms with letters at any position, nor unusual groupings.
    const loose = j - first <= MOST_FREE && joints !== (PLUSES | OTHERS);
    if (kind !== DIGIT && !loose && !masks.mayBegin(hash) && !masks.mayBe(hash)) {
      return;
    }
    if ((kind & DIGIT) === 0 || compact < 6) continue;
    let exact = j === first && kind === DIGIT
      ? masks.digits(compact)
      : masks.mayBe(hash)
      ? masks.forms(maskOf(text, starts[first], ends[j]))
      : undefined;
    const start = starts[first];
    const end = ends[j];
    // Unusual groupings, as after a separator was lost, count if the number is named.
    const regrouped = exact === undefined && kind === DIGIT && j > first && compact >= 9 &&
      isWordNear(view, start, end);
    if (regrouped) exact = masks.digits(compact);
    const free = kind === DIGIT || !loose ? undefined : table.free[compact];
    if (exact === undefined && free === undefined) continue;
    if (!bounded(text, start, end)) continue;
    const inTable = j > first && text.charCodeAt(ends[first]) === 32 &&
      isInTable(text, start, end, ends[first] - start);
    // A hex dump, or a list of digits.
    if (inTable && (kind !== DIGIT || ends[first] - starts[first] === 1)) continue;
    const raw = text.slice(start, end);
    const plain = j === first ? raw : raw.replace(/[^A-Za-z0-9]/g, "");
    const upper = kind === DIGIT ? plain : plain.toUpperCase();
    // Without a word nearby, only forms that need no name are examined: long tables contain nothing else.
    const wordNear = regrouped || isWordNear(view, start, end);
    const named = kind !== DIGIT || wordNear;
    const inRow = j > first + 1 && compact < MAX_IN_LONGER_ROW && areEven(first, j) &&
      isInLongerRow(text, start, end, ends[first] - start);
    for (const form of exact ?? []) {
      if (!named && form.plain < 0.5 && !isAlone(view, start, end)) continue;
      const partOf = inRow || inTable && !isOneOf(form.rule, text, start, end);
      if (partOf && !wordNear) continue;
      if (partOf) judge(view, { rule: form.rule, plain: -1 }, start, end, upper, plain !== upper);
      else if (!regrouped) judge(view, form, start, end, upper, plain !== upper);
      else if (form.rule.check) {
        judge(view, { rule: form.rule, plain: -1, regrouped: true }, start, end, upper, false);
      }
    }
    // "Seite 204037 von 93" is a phrase, and so is "Página 9001100 de 380".
    if (
      free &&
      !(j > first &&
        (plain !== upper && (/[A-Z]/.test(plain) || raw.includes("/")) ||
          isLatin(text.charCodeAt(start - 1))))
    ) {
      for (const form of free) {
        if (form.rule.free!.shape.test(upper)) judge(view, form, start, end, upper, plain !== upper);
      }
    }
  }
}

function isWordNear(view: ScannedView, start: number, end: number): boolean {
  return letterBefore(view, start) >= start - BEFORE || isLetterBehind(view, end, BEHIND);
}

/** Square brackets are treated like round ones. */
const ROUND: Readonly<Record<string, string>> = { "[": "(", "]": ")" };

function maskOf(text: string, start: number, end: number): string {
  let mask = "";
  for (let i = start; i < end; i++) {
    const c = CLASS_OF[text.charCodeAt(i)];
    mask += c === DIGIT ? "9" : (c & ALPHANUMERIC) !== 0 ? "A" : ROUND[text[i]] ?? text[i];
  }
  return mask;
}

/** Latin letters that are not ASCII. */
function isLatin(c: number): boolean {
  return c >= 0xc0 && c < 0x250;
}

function isLetter(c: number): boolean {
  return (CLASS_OF[c] & ALPHANUMERIC & ~DIGIT) !== 0;
}

/** Separators within numbers: space, hyphen, dot, slash, plus. */
function isJoint(c: number): boolean {
  return c === 32 || c === 45 || c === 46 || c === 47 || c === 43;
}
