/**
 * E-mail addresses, telephone numbers, and, when asked for, web addresses, host names and postal codes.
 *
 * Telephone numbers are settled by the length and pattern tables of libphonenumber's "min" metadata, read directly:
 * parsing through the library costs tens of microseconds a number, a table look-up a fraction of one.
 */

import metadata from "libphonenumber-js/metadata.min.json";
import { ALNUM, before, CLASS, DIGIT, type Field, isAlone, words } from "./field.ts";

/** Position of an `@`: takes what stands around it as an e-mail address if it can be one. */
export function scanEmail(field: Field, at: number): void {
  const text = field.text;
  let start = at;
  if (text.charCodeAt(at - 1) === 34) {
    // A quoted name may hold anything but a bare quote; one that closes a word's quote is no name.
    start = text.lastIndexOf('"', at - 2);
    if (start < 0 || at - start > 64 || start > 0 && isLocal(text.charCodeAt(start - 1))) return;
    if (!/^"(?:[^"\\\r\n]|\\.)+"$/.test(text.slice(start, at))) return;
  } else {
    while (start > 0 && at - start <= 64 && isLocal(text.charCodeAt(start - 1))) start--;
    while (start < at && !isNamed(text.charCodeAt(start))) start++;
  }
  if (start === at || at - start > 64 || text.charCodeAt(at - 1) === 46) return;
  let end = at + 1;
  let dot = -1;
  let label = end;
  while (end < text.length && end - at < 255) {
    const c = text.charCodeAt(end);
    if (c === 46) {
      if (end === label || end - label > 63 || !isNamed(text.charCodeAt(end + 1))) break;
      dot = end;
      label = end + 1;
    } else if (c !== 45 && !isNamed(c)) break;
    end++;
  }
  while (text.charCodeAt(end - 1) === 45) end--;
  if (dot < 0 || text.charCodeAt(end) === 64 || text.charCodeAt(end) === 95) return;
  // "john@acme.com123" runs into the next value.
  const glued = /^[A-Za-z]{2,}(?=\d+$)/.exec(text.slice(dot + 1, end));
  if (glued) end = dot + 1 + glued[0].length;
  const domain = text.slice(at + 1, end);
  const tld = text.slice(dot + 1, end);
  if (!/^(?:xn--[a-z0-9-]{2,59}|[a-z\u00a1-\uffff]{2,63})$/i.test(tld) || /\.\.|(?:^|\.)-|-\./.test(domain)) {
    return;
  }
  if (text.slice(start, at).includes("..")) return;
  // "sprite@2x.png" is a file, "git@host.org:path" the address of a repository.
  if (/^\d+x\./i.test(domain) && /^(?:png|jpe?g|gif|webp|svg|css|js)$/i.test(tld)) return;
  if (text.charCodeAt(end) === 58 && text.slice(start, at) === "git") return;
  field.found.push({ type: "EMAIL_ADDRESS", start, end, confidence: 0.95 });
}

const SPELLED =
  /[A-Za-z0-9._%+-]{1,64} ?[([{<] ?at ?[)\]}>] ?[A-Za-z0-9-]{1,63}(?:(?: ?[([{<] ?dot ?[)\]}>] ?|\.)[A-Za-z0-9-]{1,63}){1,4}/gi;

/** Addresses with the at sign written out in brackets. */
export function scanSpelledEmails(field: Field): void {
  const text = field.text;
  const marks = /[([{<] ?at ?[)\]}>]/gi;
  for (let mark = marks.exec(text); mark; mark = marks.exec(text)) {
    const from = Math.max(0, mark.index - 66);
    SPELLED.lastIndex = 0;
    const around = text.slice(from, mark.index + 320);
    for (let m = SPELLED.exec(around); m; m = SPELLED.exec(around)) {
      if (from + m.index > mark.index || from + m.index + m[0].length < mark.index) continue;
      if (!/(?:\.|[)\]}>] ?)[a-z]{2,}$/i.test(m[0])) continue;
      const start = from + m.index;
      field.found.push({ type: "EMAIL_ADDRESS", start, end: start + m[0].length, confidence: 0.7 });
      break;
    }
  }
}

function isNamed(c: number): boolean {
  return (CLASS[c] & ALNUM) !== 0 || (c > 0xa0 && c < 0xfe00 && !(c >= 0x2000 && c < 0x2070)) || c === 95;
}

function isLocal(c: number): boolean {
  return isNamed(c) || c === 46 || c === 43 || c === 45 || c === 37 || c === 126 || c === 35;
}

interface Country {
  pattern: RegExp;
  lengths: ReadonlySet<number>;
}

const CALLING: Record<string, string[]> = metadata.country_calling_codes;
const COUNTRIES = metadata.countries as unknown as Record<string, [string, string, string, number[]]>;
const NON_GEOGRAPHIC = metadata.nonGeographic as unknown as Record<
  string,
  [string, string, string, number[]]
>;
const known = new Map<string, Country[]>();

function countries(code: string): Country[] {
  let list = known.get(code);
  if (!list) {
    const rows = (CALLING[code] ?? []).map((id) => COUNTRIES[id]);
    if (NON_GEOGRAPHIC[code]) rows.push(NON_GEOGRAPHIC[code]);
    list = rows.filter(Boolean).map((row) => ({
      pattern: new RegExp(`^(?:${row[2]})$`),
      lengths: new Set(row[3]),
    }));
    known.set(code, list);
  }
  return list;
}

/** 2 for a number in a range that is assigned, 1 for one of possible length, 0 for none. */
function international(digits: string): 0 | 1 | 2 {
  let possible: 0 | 1 = 0;
  for (let n = 1; n <= 3; n++) {
    const list = countries(digits.slice(0, n));
    if (list.length === 0) continue;
    // The trunk zero is often left in: +44 (0)20…, +82 010….
    const national = digits.slice(n);
    for (const form of national[0] === "0" ? [national, national.slice(1)] : [national]) {
      for (const country of list) {
        if (country.pattern.test(form)) return 2;
        if (country.lengths.has(form.length)) possible = 1;
      }
    }
  }
  return possible;
}

const PHONE_WORDS = words(
  "(?:tele)?phones?(?:[ _-]*(?:no|num(?:ber)?|#))?",
  "tel(?:[ _-]*(?:no|nr|num(?:ber)?))?",
  "mobile|cell(?:ular)?|fax|call(?:ing|back|ed)?|whats ?app|sms|dial|ring|contact(?: us)?(?: at)?|hotline|reach (?:me|us|him|her|you)",
  "(?:my|his|her|their|your|the) [\\w ]{0,16}numbers? is|desk|office|t[ée]l[ée]phone|tel[ée]fono|telefon\\w*|handy(?:nummer)?|mobil|rufnummer|portable|celular|m[óo]vil|numer",
);

/** Tries for a telephone number whose first digit is at `at`; answers where a look further on may begin. */
export function scanPhone(field: Field, at: number): number {
  const text = field.text;
  let start = at;
  if (text.charCodeAt(start - 1) === 40) start--;
  const plus = text.charCodeAt(start - 1) === 43;
  if (plus) start--;
  const prev = text.charCodeAt(start - 1);
  if ((CLASS[prev] & ALNUM) !== 0 || prev === 95 || prev === 36) return at;
  if (prev === 46 || prev === 45 || prev === 47 || prev === 44) {
    if ((CLASS[text.charCodeAt(start - 2)] & DIGIT) !== 0) return at;
  }
  let digits = "";
  let groups = "";
  let p = at;
  let end = at;
  while (p < text.length && digits.length < 18) {
    const c = text.charCodeAt(p);
    if ((CLASS[c] & DIGIT) !== 0) {
      digits += text[p++];
      end = p;
      continue;
    }
    const joint = /^(?: ?\(0\) ?|\) ?[-.]? ?| ?\(|[ .\-/]| - )(?=\d)/.exec(text.slice(p, p + 6));
    if (!joint) break;
    groups += `${p - at}${joint[0].replace(/[^ .()/-]/g, "")}`;
    p += joint[0].length;
  }
  if (digits.length < 7) return at;
  const next = text.charCodeAt(end);
  if (next === 95 || (CLASS[next] & ALNUM & ~DIGIT) !== 0 && !/^x ?\d/i.test(text.slice(end, end + 3))) {
    return at;
  }
  if (next === 58 && (CLASS[text.charCodeAt(end + 1)] & DIGIT) !== 0) return at;
  const labelled = PHONE_WORDS.test(before(field, start, 40).replace(/^[^]*\n(?=[^]*\S)/, ""));
  const alone = isAlone(field, start, end);
  let confidence = 0;
  if (plus) {
    if (digits.length > 15) return at;
    const grade = international(digits);
    if (grade === 2) confidence = 0.9;
    else if (grade === 1 && (labelled || alone || groups !== "")) confidence = 0.6;
    else if ((labelled || alone) && digits.length >= 8) confidence = 0.5;
  } else {
    confidence = national(
      text.slice(start, end),
      digits,
      labelled,
      alone && field.focused,
      /^[-/#]\w/.test(text.slice(end, end + 2)),
    );
  }
  if (confidence < 0.5) return at;
  const extension = /^ ?(?:x|ext\.?|extension) ?\d{1,6}/i.exec(text.slice(end, end + 16));
  field.found.push({ type: "PHONE_NUMBER", start, end: end + (extension?.[0].length ?? 0), confidence });
  return end;
}

const NANP =
  /^(?:1[ .-])?(?:\([2-9]\d\d\)[ .-]? ?[2-9]\d\d[ .-]?\d{4}|[2-9]\d\d([ .-])[1-9]\d\d\1\d{4}|[2-9]\d\d\/[2-9]\d\d-\d{4})$/;
const BRACKETED = /^\(\d{2,5}\) ?\d[\d -]{4,10}$/;
const TRUNK = /^0\d{1,4}[ /-]\d{2,4}(?:[ -]?\d{2,4}){0,4}$/;
const DATE =
  /^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\b|^\d{4}[./-]\d\d\b|^(?:1[5-9]|20)\d\d ?[-/] ?(?:1[5-9]|20)\d\d$|^\d+$(?<=^(?:19|20)\d{6})/;

function national(written: string, digits: string, labelled: boolean, alone: boolean, part: boolean): number {
  if (digits.length > 15 || /^(\d)\1+$/.test(digits) && !labelled) return 0;
  if (part && !labelled) return 0;
  if (NANP.test(written)) {
    return written[0] === "(" ? 0.75 : labelled ? 0.9 : /\./.test(written) ? 0.5 : 0.6;
  }
  if (DATE.test(written) || /^\d+(?:\.\d+)+$/.test(written) && !labelled) return 0;
  const trunk = digits[0] === "0";
  if (labelled) {
    if (digits.length > 13) return 0;
    return BRACKETED.test(written) || trunk
      ? 0.7
      : digits.length === 7 && !/\D/.test(written)
      ? 0
      : digits.length <= 11 || international(digits) === 2
      ? 0.55
      : 0;
  }
  if (BRACKETED.test(written) && digits.length >= 9) return 0.55;
  if (TRUNK.test(written) && digits.length >= 10 && digits.length <= 12) return alone ? 0.6 : 0.45;
  if (!alone || digits.length > 13) return 0;
  if (trunk) return digits.length >= 9 && digits.length <= 12 ? 0.55 : 0;
  if (/^[2-9]\d\d[2-9]\d{6}$/.test(digits)) return 0.5;
  return digits.length >= 10 && international(digits) === 2
    ? 0.55
    : digits.length <= 9 && digits.length >= 8
    ? 0.5
    : 0;
}

const URL =
  /(?<![A-Za-z0-9])(?:https?|ftps?|wss?):\/\/[^\s<>"'`{}|\\^[\]]{3,2000}|(?<![A-Za-z0-9.@-])www\.[A-Za-z0-9-]{1,63}\.[^\s<>"'`{}|\\^[\]]{2,2000}/gi;
const DOMAIN =
  /(?<![A-Za-z0-9@._/-])(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,6}[a-z]{2,24}(?![A-Za-z0-9@_(])/gi;
const STREET =
  /(?<![\w.])\d{1,5}[A-Za-z]? (?:[A-Z][A-Za-z'.-]{1,20} ){1,4}(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Square|Sq|Way|Terrace|Place|Pl|Parkway|Pkwy|Highway|Hwy)\b\.?(?:,? (?:Apt|Suite|Ste|Unit|#) ?\w{1,6})?|(?<!\w)[A-ZÄÖÜ][a-zäöüß]{2,20}(?:straße|strasse|str\.|weg|platz|allee|gasse) \d{1,4}[a-z]?\b/g;
const POSTCODE =
  /(?<!\w)(?:GIR ?0AA|[A-PR-UWYZ](?:\d{1,2}|[A-HK-Y]\d|[A-HK-Y]\d\d|\d[A-HJKPS-UW]|[A-HK-Y]\d[ABEHMNPRV-Y]) ?\d[ABD-HJLNP-UW-Z]{2})(?!\w)|(?<!\w)[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z] ?\d[ABCEGHJ-NPRSTV-Z]\d(?!\w)/g;
const ZIP = /(?<![\w.,$-])\d{5}(?:-\d{4})?(?![\w.-]*\d)/g;
const ZIP_WORDS = words(
  "zip(?: ?code)?",
  "postal(?: ?code)?",
  "post ?code",
  "plz",
  "postleitzahl",
  "code postal",
  "cap",
);

/** The types that only an explicit wish brings in; each is one pattern of its own. */
export function scanPlaces(field: Field): void {
  const each = (type: string, pattern: RegExp, confidence: (start: number, end: number) => number) => {
    if (!field.wants.has(type)) return;
    for (const m of field.text.matchAll(pattern)) {
      const end = m.index + m[0].replace(/[.,;:!?)]+$/, "").length;
      const c = confidence(m.index, end);
      if (c >= 0.5) field.found.push({ type, start: m.index, end, confidence: c });
    }
  };
  each("URL", URL, () => 0.9);
  each("DOMAIN_NAME", DOMAIN, () => 0.6);
  each("STREET_ADDRESS", STREET, () => 0.65);
  each("POSTAL_CODE", POSTCODE, () => 0.7);
  each(
    "POSTAL_CODE",
    ZIP,
    (start, end) =>
      ZIP_WORDS.test(before(field, start, 24)) || / [A-Z]{2},? $/.test(before(field, start, 5))
        ? 0.8
        : field.focused && isAlone(field, start, end)
        ? 0.6
        : 0,
  );
}
