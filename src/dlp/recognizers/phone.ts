/** Telephone numbers. International ones are validated by libphonenumber's data. */

import { ALPHANUMERIC, CLASS_OF, DIGIT } from "./character_class.ts";
import { gradeOf } from "./phone_plan.ts";
import { isLetterBehind, letterBefore } from "./letters.ts";
import type { Recognizer } from "./recognizer.ts";
import { NAMED_PHONE, OTHER_NUMBER, PHONE_WORDS } from "./phone_words.ts";
import { REPLY } from "./reply.ts";
import { before, isAlone, isNamedBy, report, type ScannedView } from "./scanned_view.ts";

/** Preceding lines, and sentences that end before a capitalized word. */
const OTHER_SENTENCE =
  /^[^]*(?:\n(?=[^]*\S)|\p{L}{4}[.!?] +(?=\p{Lu}\p{L}*[ '’](?:[\p{L}\d]|$))|\p{L}{7}[.!?] +(?=$)|\p{L}{4}[.!]\s*\n\s*(?=$)|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}][.。]\s*)/u;
/** The part of the preceding text that belongs to the number's own line and sentence. */
function ownSentence(lead: string): string {
  return /[\n.!?。]/.test(lead) ? lead.replace(LEADERS, " ").replace(OTHER_SENTENCE, "") : lead;
}
/** The dots between a name and its value in a printed list. */
const LEADERS = / ?\.{2,40} ?$/;

/** What names of vulnerabilities and standards begin with. */
const IDENTIFIED = /(?<![A-Za-z])(?:CVE|CWE|RHSA|USN|DSA|ISO|IEC|RFC|ISBN|ISSN|ICD|EC)-$/i;
const MOST_DIGITS = 18;
const FEWEST_DIGITS = 7;
/** From this number of digits on, a number does not continue after a dash or bracket. */
const MOST_BEFORE_DASH = 9;
const JOINT = / ?\(0\) ?(?=\d)|\) ?[-.]? ?(?=\d)| ?\((?=\d)| - (?=\d)/y;

/** Length of the separator between two groups; 0: the number ends. */
function jointLength(text: string, at: number): number {
  const c = text.charCodeAt(at);
  if (c !== 32 && c !== 40 && c !== 41 && c !== 45 && c !== 46 && c !== 47) return 0;
  if (c !== 40 && c !== 41 && CLASS_OF[text.charCodeAt(at + 1)] === DIGIT) return 1;
  if (c === 45 || c === 46 || c === 47) return 0;
  JOINT.lastIndex = at;
  return JOINT.test(text) ? JOINT.lastIndex - at : 0;
}

/** The digits of a number; a zero in brackets is dialled only within the country, and removed. */
function digitsOf(text: string, start: number, end: number): string {
  return text.slice(start, end).replace(/\(0\)/g, "").replace(/\D/g, "");
}

/** Words after a telephone number that identify it. */
const PHONE_BEHIND = /^\s?(?:erreichbar|numara(?!l)|로 (?:연락|전화)|으로 (?:연락|전화)|に(?:お電話|連絡))/;

/** Words that connect a value with its name, such as "is". */
const IS_BEHIND = /^["')]? (?:is|ist|est|es|è|é|jest|to|это|är|er|on|je|este) /;
/** Maximum distance of the end of a name after the number. */
const NAMED_BEHIND = 40;

/** Whether words after a number name it: "0170 2345678 is my mobile". */
function isNamedBehind(view: ScannedView, end: number): boolean {
  const { text } = view;
  if (!isLetterBehind(view, end, NAMED_BEHIND)) return false;
  const behind = text.slice(end, end + NAMED_BEHIND);
  return PHONE_BEHIND.test(behind) ||
    IS_BEHIND.test(behind) && isNamedBy(NAMED_PHONE, behind.replace(/[.,;:!?\n][^]*$/, ""));
}

/** A question, and what may stand between it and a reply. */
const ASKED = new RegExp(`[^?\\n]{1,60}${REPLY}$`, "iu");
/** Maximum distance of the start of a question before the number that answers it. */
const ASKED_WITHIN = 110;

/** Whether the number answers a question that names it. */
function isAsked(view: ScannedView, start: number): boolean {
  const lead = before(view, start, ASKED_WITHIN);
  if (!lead.includes("?")) return false;
  const question = ASKED.exec(lead)?.[0];
  return question !== undefined && isNamedBy(NAMED_PHONE, question);
}

/** Maximum distance of a name before a telephone number. */
const NAMED_WITHIN = 40;

/** Whether there is a non-hexadecimal letter, which each of the words contains: tables of numbers have none. */
function isWordNear(view: ScannedView, start: number): boolean {
  const { text } = view;
  if (letterBefore(view, start) < start - NAMED_WITHIN) return false;
  for (let i = start - 1, stop = Math.max(0, start - NAMED_WITHIN); i >= stop; i--) {
    const c = text.charCodeAt(i) | 32;
    if (c > 127 || c > 102 && c < 123) return true;
  }
  return false;
}

function isLetterNear(view: ScannedView, start: number, end: number): boolean {
  return letterBefore(view, start) >= start - NAMED_WITHIN || isLetterBehind(view, end, NAMED_BEHIND);
}

/** Where groups of the number that is examined end before a blank, and the number of digits up to there. */
const endsAt = new Int32Array(MOST_DIGITS);
const endCounts = new Int32Array(MOST_DIGITS);

/**
 * Other digits may follow a telephone number: "+1 415 555 0132 2026-03-04". Returns the index of the last of the first `n`
 * ends at which the digits so far are a whole number; -1: there is none.
 */
function wholeEnd(n: number, isWhole: (end: number, count: number) => boolean): number {
  for (let i = n - 1; i >= 0; i--) if (isWhole(endsAt[i], endCounts[i])) return i;
  return -1;
}

/** Whether a number has the digits of the North American plan, with or without the country code. */
function isNanpLength(count: number): boolean {
  return count === 10 || count === 11;
}

/** The international prefix of most countries, and a country code in a group of its own. */
const ABROAD = /^00[1-9]\d{0,2}[ /.(-]/;

/** Checks for a telephone number whose first digit is at `at`; returns where to continue. */
function scanPhone(view: ScannedView, at: number): number {
  const text = view.text;
  let start = at;
  if (text.charCodeAt(start - 1) === 40) start--;
  const plus = text.charCodeAt(start - 1) === 43;
  if (plus) start--;
  const prev = text.charCodeAt(start - 1);
  if ((CLASS_OF[prev] & ALPHANUMERIC) !== 0 || prev === 36) return at;
  if (prev === 45 && IDENTIFIED.test(text.slice(start > 10 ? start - 10 : 0, start))) return at;
  if (prev === 46 || prev === 45 || prev === 47 || prev === 44) {
    if ((CLASS_OF[text.charCodeAt(start - 2)] & DIGIT) !== 0) return at;
  }
  let count = 0;
  let grouped = false;
  let end = at;
  let ends = 0;
  for (let p = at; p < text.length && count < MOST_DIGITS;) {
    if (CLASS_OF[text.charCodeAt(p)] === DIGIT) {
      count++;
      end = ++p;
      continue;
    }
    const joint = jointLength(text, p);
    if (joint === 0) break;
    // Something else in brackets, or behind a dash.
    if (joint > 1 && text.charCodeAt(p) === 32 && count >= MOST_BEFORE_DASH) break;
    grouped = true;
    if (count >= FEWEST_DIGITS && text.charCodeAt(p) === 32) {
      endsAt[ends] = end;
      endCounts[ends++] = count;
    }
    p += joint;
  }
  if (count < FEWEST_DIGITS) return at;
  const abroad = !plus && grouped && ABROAD.test(text.slice(at, at + 6));
  if (ends > 0) {
    const isWhole = (to: number, digits: number) =>
      abroad
        ? gradeOf(digitsOf(text, start, to).slice(2)) === "assigned"
        : plus
        ? gradeOf(digitsOf(text, start, to)) === "assigned"
        : isNanpLength(digits) && NANP.test(text.slice(start, to));
    const last = isWhole(end, count) ? -1 : wholeEnd(ends, isWhole);
    if (last >= 0) [end, count] = [endsAt[last], endCounts[last]];
  }
  // Without a name, a form that needs none: tables contain nothing else.
  if (
    !plus && !isNanpLength(count) && text.charCodeAt(start) !== 40 &&
    !isLetterNear(view, start, end) &&
    !isAlone(view, start, end)
  ) return at;
  // An opening bracket around the whole number.
  if (text.charCodeAt(start) === 40 && !text.slice(at, end).includes(")")) start++;
  let confidence = isCut(text, start, end, plus && count >= 10)
    ? 0
    : plus
    ? international(view, start, end, grouped)
    : abroad && gradeOf(digitsOf(text, start, end).slice(2)) === "assigned" &&
        (isAlone(view, start, end) || isNamedBefore(view, start) || isNamedBehind(view, end))
    ? 0.8
    : domestic(view, start, end);
  if (confidence < 0.5 && !plus && ends > 0 && isNamedBefore(view, start)) {
    const last = wholeEnd(ends, (to) => (confidence = domestic(view, start, to, true)) >= 0.5);
    if (last >= 0) end = endsAt[last];
  }
  if (confidence < 0.5) return at;
  const extension = /^ ?(?:x|ext\.?|extension) ?\d{1,6}/i.exec(text.slice(end, end + 16));
  report(view, "PHONE_NUMBER", start, end + (extension?.[0].length ?? 0), confidence);
  return end;
}

/** Whether the words before a number name it, or a question before asks for it. */
function isNamedBefore(view: ScannedView, start: number): boolean {
  return isWordNear(view, start) &&
    (isNamedBy(PHONE_WORDS, ownSentence(before(view, start, NAMED_WITHIN))) || isAsked(view, start));
}

/** Whether a word between the name and the number names something else: "call us about order 12345678". */
function isOther(view: ScannedView, start: number): boolean {
  const other = OTHER_NUMBER.exec(before(view, start, NAMED_WITHIN));
  return other !== null && !isNamedBy(PHONE_WORDS, other[0]);
}

/** Whether the text goes on in a way that no telephone number does. */
function isCut(text: string, start: number, end: number, mayBeGlued: boolean): boolean {
  const prev = text.charCodeAt(text.charCodeAt(start - 1) === 43 ? start - 2 : start - 1);
  const next = text.charCodeAt(end);
  // Markdown emphasis must be on both sides.
  if ((next === 95) !== (prev === 95)) return true;
  // Attached words are accepted only after a number with a country code.
  if (isGlued(text, end) && !mayBeGlued) return true;
  return next === 58 && (CLASS_OF[text.charCodeAt(end + 1)] & DIGIT) !== 0;
}

/** Whether a letter follows directly, and not an extension. */
function isGlued(text: string, end: number): boolean {
  return (CLASS_OF[text.charCodeAt(end)] & ALPHANUMERIC & ~DIGIT) !== 0 &&
    !/^x ?\d/i.test(text.slice(end, end + 3));
}

/** Confidence of a number with a plus. Words are searched only where they decide. */
function international(view: ScannedView, start: number, end: number, grouped: boolean): number {
  const written = view.text.slice(start, end);
  const digits = digitsOf(view.text, start, end);
  // A coordinate, as in time zone data: "+4439-06336".
  if (digits.length > 15 || /^\+\d{4}(?:\d\d)?-\d{5}(?:\d\d)?$/.test(written)) return 0;
  const isLabelled = () => isNamedBefore(view, start) || isNamedBehind(view, end);
  // A signed decimal fraction. With a dot after its country code, as in domain registries, it is a telephone
  // number.
  if (/^\+\d+\.\d+$/.test(written) && !/^\+\d{1,3}\.\d{7,}$/.test(written) && !isLabelled()) return 0;
  const grade = gradeOf(digits);
  if (grade === "assigned") return 0.9;
  if (isGlued(view.text, end)) return 0;
  if (grade === "possible" && grouped) return 0.6;
  if (digits.length < 8 && grade !== "possible") return 0;
  if (!isAlone(view, start, end) && !isLabelled()) return 0;
  return grade === "possible" ? 0.6 : 0.5;
}

/** Whether groups of digits stand before and behind a number, between the same blanks as its own groups: a row of numbers. */
function isInRow(text: string, start: number, end: number): boolean {
  return text.charCodeAt(start - 1) === 32 && text.charCodeAt(end) === 32 &&
    CLASS_OF[text.charCodeAt(start - 2)] === DIGIT &&
    CLASS_OF[text.charCodeAt(end + 1)] === DIGIT && /^[\d ]+$/.test(text.slice(start, end));
}

/** Confidence of a number without a country code. Words are searched only where they decide. */
function domestic(view: ScannedView, start: number, end: number, namedBefore?: true): number {
  const { text } = view;
  const written = text.slice(start, end);
  const digits = digitsOf(text, start, end);
  // A fraction.
  if (/^0\.\d+$/.test(written)) return 0;
  const labelled = national(written, digits, true, false, false);
  if (namedBefore) return labelled;
  const alone = view.focused && isAlone(view, start, end);
  const isPart = /^[-/#]\w/.test(text.slice(end, end + 2)) || isInRow(text, start, end);
  const other = national(written, digits, false, alone, isPart);
  if (labelled === other || /^[1-9]\d+$/.test(written) && isOther(view, start)) return other;
  return isNamedBefore(view, start) || isNamedBehind(view, end) ? labelled : other;
}

const NANP =
  /^(?:1[ .-])?(?:\([2-9]\d\d\)[ .-]? ?[2-9]\d\d[ .-]?\d{4}|[2-9]\d\d([ .-])[1-9]\d\d\1\d{4}|[2-9]\d\d\/[2-9]\d\d-\d{4})$/;
const BRACKETED = /^\(\d{2,5}\) ?\d[\d -]{4,10}$/;
/** The year of a volume and its pages. */
const YEAR_AND_PAGES = /^\((?:1[89]|20)\d\d\) ?\d{1,4}-\d{1,4}$/;
const TRUNK = /^0\d{1,4}[ /-]\d{2,4}(?:[ -]?\d{2,4}){0,4}$/;
const DATE =
  /^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\b|^\d{4}[./-]\d\d\b|^(?:1[5-9]|20)\d\d ?[-/] ?(?:1[5-9]|20)\d\d$|^\d+$(?<=^(?:19|20)\d{6})/;

function national(written: string, digits: string, labelled: boolean, alone: boolean, part: boolean): number {
  if (digits.length > 15 || /^(\d)\1+$/.test(digits) && !labelled) return 0;
  if (part && !labelled || YEAR_AND_PAGES.test(written)) return 0;
  if (NANP.test(written)) {
    return written[0] === "(" ? 0.75 : labelled ? 0.9 : /\./.test(written) ? 0.5 : 0.6;
  }
  if (
    DATE.test(written) && !(labelled && digits.length >= 9) || /^\d+(?:\.\d+)+$/.test(written) && !labelled
  ) return 0;
  const trunk = digits[0] === "0";
  if (labelled) {
    if (digits.length > 13) return 0;
    return BRACKETED.test(written) || trunk
      ? 0.7
      : digits.length === 7 && !/\D/.test(written)
      ? 0
      : digits.length <= 11 || gradeOf(digits) === "assigned"
      ? 0.55
      : 0;
  }
  if (BRACKETED.test(written) && digits.length >= 9) return 0.55;
  if (TRUNK.test(written) && digits.length >= 10 && digits.length <= 12) return alone ? 0.6 : 0.45;
  if (!alone || digits.length > 13) return 0;
  if (trunk) return digits.length >= 9 && digits.length <= 12 ? 0.55 : 0;
  if (/^[2-9]\d\d[2-9]\d{6}$/.test(digits)) return 0.5;
  return digits.length >= 10 && gradeOf(digits) === "assigned"
    ? 0.55
    : digits.length <= 9 && digits.length >= 8
    ? 0.5
    : 0;
}

export const PHONE: readonly Recognizer[] = [
  {
    type: "PHONE_NUMBER",
    group: "CONTACT",
    aliases: ["PHONE", "TR_PHONE_NUMBER", "PH_MOBILE_NUMBER"],
    byDefault: true,
    triggers: [{ on: "part", first: DIGIT, scan: scanPhone }],
    samples: {
      found: [
        "ring «+49 30 901820»",
        "«(415) 555-0132 x12»",
        "«+14155550132» 83920174",
        "tel «06 12 34 06 89» (2026-03-01)",
        "tel «06 12 34 06 89» - 2 pieces",
        "Mobile: «612 345 678» 2026-03-01 10:00",
        "«+37861234567» (2026-03-01)",
        "«+41 781 234 567» - 95868673",
        "+44: «+44 20 7946 0958» 10:15",
        "call «415-555-0132» 2026-03-04",
        "or «+1-555-123-4567».",
        "téléphone : «01 23 45 67 89»",
        "Rappelez-moi au «0623456789»",
        "Fixe : «01 23 45 67 89»",
        "제 번호는 «010-5239-5235»입니다",
        "Registrant Fax «+1.4155550132» ok",
        "Agent: could you give me your mobile?\nCustomer: sure, «07400 125089»",
        "«07400 125089» is my mobile.",
        "Quel est ton numéro de portable ?\n«06 12 34 06 89»",
        'variable "phone" {\n  default = "«07400 125089»"\n}',
        "tfno. «612 345 678»",
        "Handynr.: «089/24336143».",
        "ich bin unter «0176/91099684» erreichbar",
        "sending OTP 482913 to «07283 797298».",
        'contact:\n  - type: mobile\n    value: "«07012 013834»"\n',
        "mój numer to «601 234 567».",
        "Mobil: «0049 221 99326437»",
        "«0049 30 901820»",
        "Kontakt: «602-075-722».",
        "What is your Durchwahl?\n[10:13] Anna: «0176 52296153»",
        "мой номер: «8 912 345 67 89».",
        "私の番号は«090-1234-5678»です",
        "call about the order: «07400 125089».",
        "order hotline: «07400 125089».",
        "טלפון: «050-234-5678»",
        "Điện thoại: «0912 345 678»",
        "โทร «081 234 5678»",
        "Κινητό: «691 234 5678»",
        "โทร. «02 123 4567»",
        "رقم الجوال: «051 258 6454»",
        "मोबाइल: «98765 43210»",
        "Ph: «0412 345 678»",
        "Ruf mich bitte unter «030 123456» an",
        "You can reach Sarah on «0121 496 0871» or by mail.",
        "Caller ID: «0121 496 0871»",
        "caller,callee\n«+447400123456»,«+447400654321»",
      ],
      clean: [
        "copyright 1999-2001",
        "overflow the call stack (CVE-2026-9358)",
        "Physica A 388 (2009) 764-774",
        "233 377 610 987 1597 2584 4181",
        'toString(2) // telephone("0.1010101011")',
        "the caller cannot send max_tokens=999999999",
        "the counter will reach overflow at 2147483647",
        "2013-05-12 10:30:45",
        "part 555-123-4567-A",
        "Is that page for mobile use?\nYes, see order 07400 125089",
        "07400 125089 is my order",
        "x 123-45-6789-0 y",
        "Decimal('+35236450.6')",
        "שניידר 0400 4392232",
        "注文番号：5309743215",
        "0069 0307 0301; LATIN SMALL LETTER",
        "Numer zamówienia: 530974321",
        "Номер заказа: 53097432",
        "please call us about order 53097432",
        "Kontaktieren Sie uns telefonisch zu Auftrag 53097432",
        "'+3.140000'",
      ],
    },
  },
];
