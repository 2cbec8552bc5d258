/**
 * Finds numbers that follow a written form (an identity number, a card, a tax number) in one walk over the groups
 * of letters and digits around each digit.
 *
 * Each rule lists the forms its numbers are written in as masks, `9` a digit, `A` a letter, the rest literal. Spans
 * of neighbouring groups are turned into masks and looked up in one table, so the cost of a text does not grow with
 * the number of rules: only a span of exactly the right form reaches a check. Rules whose letters may stand anywhere
 * are looked up by length and settled by a pattern on at most 24 characters.
 */

import { ALPHANUMERIC, CLASS_OF, DIGIT } from "./character_class.ts";
import type { NumberForms, Recognizer } from "./recognizer.ts";
import { after, before, isAlone, type ScannedView } from "./scanned_view.ts";

/** Forms of a number and the type that they are of. */
interface NumberRule extends NumberForms {
  readonly type: string;
}

interface Form {
  rule: NumberRule;
  /** Confidence without a name; negative for a grouping that no form has, which is a number only with one. */
  plain: number;
}

export interface NumberTable {
  masks: Map<string, Form[]>;
  free: Form[][];
  /** Types whose numbers are in it. */
  types: number;
}

const MAX_GROUPS = 12;
const MAX_COMPACT = 24;
const NINES = "9".repeat(MAX_COMPACT);

/** The table of the numbers of these recognizers. */
export function numberTable(recognizers: readonly Recognizer[]): NumberTable {
  const rules = recognizers.flatMap(({ type, numbers }) =>
    (numbers ?? []).map((forms) => ({ ...forms, type }))
  );
  const table: NumberTable = {
    masks: new Map(),
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
        add(table.masks, m, entry);
        if (!rule.prefix) continue;
        for (const joint of ["", " ", "-"]) {
          add(table.masks, "A".repeat(rule.prefix.length) + joint + m, {
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

function add(masks: Map<string, Form[]>, mask: string, form: Form): void {
  const list = masks.get(mask);
  if (list) list.push(form);
  else masks.set(mask, [form]);
}

const starts = new Int32Array(MAX_GROUPS);
const ends = new Int32Array(MAX_GROUPS);
const kinds = new Uint8Array(MAX_GROUPS);
const groupMasks: string[] = new Array(MAX_GROUPS).fill("");

/**
 * Looks at the groups around a run of letters and digits at `[start, end)` that holds a digit, and on to the right
 * for as long as single separators join groups. Answers where it stopped: nothing before that needs a second look.
 */
export function scanNumbers(view: ScannedView, table: NumberTable, start: number, end: number): number {
  const text = view.text;
  let n = 0;
  let digits = 0;
  let p = start;
  // Letters that belong to a number stand in groups before its first digit: "IT 0074…", "DML PRY 77…".
  for (let k = 0; k < 2 && p > 1 && isJoint(text.charCodeAt(p - 1)); k++) {
    let q = p - 1;
    while (q > 0 && p - q < 9 && isLetter(text.charCodeAt(q - 1))) q--;
    if (q === p - 1 || p - 1 - q > 6 || (q > 0 && isWord(text.charCodeAt(q - 1)))) break;
    p = q;
  }
  while (n < MAX_GROUPS) {
    let q = p;
    let kind = 0;
    while (q < text.length && (CLASS_OF[text.charCodeAt(q)] & ALPHANUMERIC) !== 0) {
      const c = CLASS_OF[text.charCodeAt(q++)];
      kind |= c;
      if (c === DIGIT) digits++;
    }
    if (q === p) break;
    if (p >= end && kind !== DIGIT && (kind & DIGIT) === 0 && q - p > 3) break;
    starts[n] = p;
    ends[n] = q;
    kinds[n] = kind;
    groupMasks[n] = q - p <= MAX_COMPACT ? maskOf(text, p, q) : "";
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
      groupMasks[n] = `(${maskOf(text, q + 1, q + 2)})`;
      n++;
      break;
    }
    if (!isJoint(joint)) break;
    p = q + 1;
  }
  if (n === 0) return end;
  if (digits >= 2 && ends[n - 1] - starts[0] >= 7) {
    for (let i = 0; i < n; i++) {
      if (i > 0 && !attachable(text, starts[i])) continue;
      trySpans(view, table, i, n);
    }
  }
  return Math.max(end, n === MAX_GROUPS ? starts[MAX_GROUPS - 1] : ends[n - 1]);
}

/** A group may begin a number unless it hangs on a digit by a hyphen, dot or slash. */
function attachable(text: string, start: number): boolean {
  const joint = text.charCodeAt(start - 1);
  return joint === 32 || (CLASS_OF[text.charCodeAt(start - 2)] & DIGIT) === 0;
}

function trySpans(view: ScannedView, table: NumberTable, first: number, n: number): void {
  const text = view.text;
  let mask = "";
  let compact = 0;
  let kind = 0;
  for (let j = first; j < n; j++) {
    if (groupMasks[j] === "") return;
    const bracket = groupMasks[j].charCodeAt(0) === 40;
    if (j > first && !bracket) mask += text[starts[j] - 1];
    mask += groupMasks[j];
    kind |= kinds[j];
    compact += bracket ? 1 : ends[j] - starts[j];
    if (compact > MAX_COMPACT) return;
    if ((kind & DIGIT) === 0 || compact < 6) continue;
    let exact = table.masks.get(mask);
    // Digits in unusual groups, as after a separator was lost, count where the number is named.
    const regrouped = exact === undefined && kind === DIGIT && j > first && compact >= 9;
    if (regrouped) exact = table.masks.get(NINES.slice(0, compact));
    const free = kind === DIGIT ? undefined : table.free[compact];
    if (exact === undefined && free === undefined) continue;
    const start = starts[first];
    const end = ends[j];
    if (!bounded(text, start, end)) continue;
    const raw = text.slice(start, end);
    const plain = raw.replace(/[^A-Za-z0-9]/g, "");
    const upper = kind === DIGIT ? plain : plain.toUpperCase();
    for (const form of exact ?? []) {
      if (!regrouped) judge(view, form, start, end, upper, plain !== upper);
      else if (form.rule.check) judge(view, { rule: form.rule, plain: -1 }, start, end, upper, false);
    }
    if (free) {
      for (const form of free) {
        if (form.rule.free!.shape.test(upper)) judge(view, form, start, end, upper, plain !== upper);
      }
    }
  }
}

/** Neither a part of a longer number or word, nor the fraction of one, nor an amount. */
function bounded(text: string, start: number, end: number): boolean {
  const prev = text.charCodeAt(start - 1);
  const next = text.charCodeAt(end);
  if (prev === 95 || next === 95 || prev === 36 || prev === 0x20ac || prev === 0xa3) return false;
  if (prev === 43 || (prev === 46 && (CLASS_OF[text.charCodeAt(start - 2)] & DIGIT) !== 0)) return false;
  if (next === 46 || next === 45 || next === 47 || next === 58) {
    if ((CLASS_OF[text.charCodeAt(end + 1)] & DIGIT) !== 0) return false;
  }
  if (prev === 45 || prev === 47) {
    // "a716-446655440000" is the end of a UUID, "SSN-078051120" a name and its value.
    let p = start - 1;
    while (p > 0 && start - p < 14 && (CLASS_OF[text.charCodeAt(p - 1)] & ALPHANUMERIC) !== 0) {
      if ((CLASS_OF[text.charCodeAt(--p)] & DIGIT) !== 0) return false;
    }
  }
  return next !== 37;
}

function judge(
  view: ScannedView,
  form: Form,
  start: number,
  end: number,
  upper: string,
  small: boolean,
): void {
  const { rule } = form;
  let compact = upper;
  if (rule.prefix && compact.startsWith(rule.prefix) && !rule.free) {
    compact = compact.slice(rule.prefix.length);
  } else if (rule.prefix && form.plain >= 0.6 && form.plain !== rule.plain && /^[A-Z]/.test(compact)) return;
  const valid = rule.check === undefined || rule.check(compact);
  if (!valid && rule.loose === undefined) return;
  const plain = small && !rule.anyCase ? Math.min(form.plain, 0.4) : form.plain;
  let confidence = valid ? plain : 0;
  if (rule.label.test(before(view, start, 64)) || rule.label.test(after(view, end, 32).split("\n", 1)[0])) {
    confidence = Math.max(confidence, valid ? rule.labelled ?? 0.95 : rule.loose ?? 0);
  } else if (view.focused && form.plain >= 0 && isAlone(view, start, end) && valid) {
    confidence = Math.max(confidence, rule.alone ?? 0.6);
  }
  if (confidence >= 0.5) view.candidates.push({ type: rule.type, start, end, confidence });
}

function maskOf(text: string, start: number, end: number): string {
  let mask = "";
  for (let i = start; i < end; i++) mask += CLASS_OF[text.charCodeAt(i)] === DIGIT ? "9" : "A";
  return mask;
}

function isLetter(c: number): boolean {
  return (CLASS_OF[c] & ALPHANUMERIC & ~DIGIT) !== 0;
}

function isWord(c: number): boolean {
  return (CLASS_OF[c] & ALPHANUMERIC) !== 0 || c === 95;
}

/** Space, hyphen, dot, slash, plus: what stands between the groups of one number. */
function isJoint(c: number): boolean {
  return c === 32 || c === 45 || c === 46 || c === 47 || c === 43;
}
