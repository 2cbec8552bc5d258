/**
 * Data about persons, looked for only on request, and only where a phrase says what follows: without a language
 * model a name is a name because something introduces it.
 */

import { type Field } from "./field.ts";
import { validDate } from "./checksums.ts";

const BIRTH =
  /(?<![A-Za-z])(?:d\.?o\.?b\.?|(?:date|day|place and date) of birth|birth[ _-]?da(?:te|y)|born(?: on|[^\n.;]{0,40}? on)?|geburtsdatum|geboren(?: am)?|née? le|date de naissance|fecha de nacimiento|data di nascita|data de nascimento|geboortedatum|дата рождения|出生日期|生年月日)["'\])]{0,2}\s{0,2}(?:is|was|[:=#-])?\s{0,3}["'(]?/gi;
const MONTHS =
  "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?";
const DATE = new RegExp(
  `(?:(\\d{4})([-/.])(\\d{1,2})\\2(\\d{1,2})|(\\d{1,2})([-/.])(\\d{1,2})\\6(\\d{4}|\\d{2})` +
    `|(?:${MONTHS})\\.? \\d{1,2}(?:st|nd|rd|th)?,? \\d{4}|\\d{1,2}(?:st|nd|rd|th)?\\.? (?:of )?(?:${MONTHS})\\.?,? \\d{4}` +
    `|\\d{4}年\\d{1,2}月\\d{1,2}日)(?!\\w)`,
  "iy",
);
const NAME = "[A-Z\\u00c0-\\u024f][a-z\\u00df-\\u024f'’-]{1,24}";
const NAMES = `${NAME}(?: (?:[A-Z]\\. )?(?:van |von |de |da |del |bin |al-)?${NAME}){0,3}`;
const PERSON = new RegExp(
  `(?<=\\b(?:[Mm]y name is|[Nn]ame:|I am|I'm|called|[Ss]igned,?|[Dd]ear|[Rr]egards,?) )${NAMES}` +
    `|(?<=\\b(?:Mr|Mrs|Ms|Mx|Miss|Dr|Prof|Sir|Herr|Frau|Monsieur|Madame|Señora?)\\.? )${NAMES}` +
    `|(?<="(?:full_?|first_?|last_?|customer_?|owner_?)?name"\\s?:\\s?")${NAMES}`,
  "g",
);
const AGE =
  /(?<![\w.])\d{1,3}(?=[- ]years?[- ]old\b| ?y\/?o\b)|(?<=\b(?:aged?|age:|age is|turned) )\d{1,3}(?![\w.%-]*\d)/gi;
const ORGANIZATION = new RegExp(
  `${NAMES} (?:Inc|Corp|Corporation|Ltd|Limited|LLC|LLP|PLC|GmbH|AG|S\\.A\\.|SARL|BV|NV|AB|Oy|Pty|Company|Bank|University|Foundation)\\b\\.?`,
  "g",
);
const LOCATION = new RegExp(
  `(?<=\\b(?:lives? in|living in|moved to|based in|born in|located in|flew to|city of) )${NAMES}`,
  "g",
);

/** Adds what is introduced as a birth date, a person, an age, an organization or a place. */
export function scanPersons(field: Field): void {
  const { text, wants, found } = field;
  if (wants.has("DATE_OF_BIRTH")) {
    for (const m of text.matchAll(BIRTH)) {
      DATE.lastIndex = m.index + m[0].length;
      const date = DATE.exec(text);
      if (!date || !real(date)) continue;
      found.push({ type: "DATE_OF_BIRTH", start: date.index, end: DATE.lastIndex, confidence: 0.85 });
    }
  }
  const each = (type: string, pattern: RegExp, confidence: number) => {
    if (!wants.has(type)) return;
    for (const m of text.matchAll(pattern)) {
      found.push({ type, start: m.index, end: m.index + m[0].length, confidence });
    }
  };
  each("PERSON", PERSON, 0.5);
  each("AGE", AGE, 0.6);
  each("ORGANIZATION", ORGANIZATION, 0.5);
  each("LOCATION", LOCATION, 0.5);
}

/** Numeric dates must exist, in one of the two orders of day and month. */
function real(date: RegExpExecArray): boolean {
  if (date[1]) return validDate(Number(date[1]), Number(date[3]), Number(date[4]));
  if (!date[5]) return true;
  const year = Number(date[8]);
  return validDate(year, Number(date[7]), Number(date[5])) ||
    validDate(year, Number(date[5]), Number(date[7]));
}
