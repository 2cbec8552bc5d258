/**
 * Personal data, searched for only on request, and only where a phrase introduces it: without a language
 * model a name is recognised by its context.
 */

import { CLASS_OF, DIGIT, isDigit, LETTER, LOWER } from "./character_class.ts";
import { validDate } from "./checksums.ts";
import { matchesOf } from "./matches.ts";
import { REPLY } from "./reply.ts";
import type { Recognizer } from "./recognizer.ts";
import { before, report, type ScannedView } from "./scanned_view.ts";

/** Words for date of birth, by language. */
const BIRTH_NAMES = [
  'd\\.?o\\.?b\\.?|(?:dates?|days?|place and date)[ _-]?of[ _-]?birth|birth[ _-]?da(?:te|y)|(?<=[\\n"]|^)bday',
  "geb(?:urts|\\.|oorte)?[ -]?(?:datum|tag)|geb\\.?[ -]?dat\\.?|verjaardag",
  "date[ _]?(?:et lieu )?(?:de[ _])?naiss(?:ance)?\\.?|anniversaire",
  "(?:fecha|f\\.)[ _]?(?:de[ _])?nac(?:imiento)?\\.?|cumpleaños",
  "data[ _](?:di[ _])?nascita|data e luogo di nascita|compleanno",
  "data[ _](?:de[ _])?nasc(?:imento)?\\.?|anivers[áa]rio",
  "data[ _]ur(?:odzenia|\\.)|urodziny",
  "do[ğg]um[ _](?:tarih|gün)[iü]m?",
  "(?:дата|день) рождения|д\\. ?р",
  "出生日期|生日|生年月日|誕生日|생년월일|생일",
  "تاريخ (?:الميلاد|الولادة)|تاریخ تولد|תאריך לידה|ημ(?:\\.|ερομηνία) ?γέννησης|дата (?:народження|на раждане)|ngày sinh|วันเกิด|जन्म ?(?:तिथि|दिन)",
  "(?:tanggal|tgl\\.?|tarikh) lahir|datum (?:rođenja|rojstva)|dátum narodenia|rođendan|sünniaeg|dzimšanas datums|gimimo data|data de naixement",
  "birt\\s{1,3}\\d date",
  "födelsedatum|fødselsdato|syntymäaika|datum narození|születési (?:idő|dátum)|data nașterii",
].map((one) => one.normalize("NFKC") === one ? one : `${one}|${one.normalize("NFKC")}`).join("|");
/** Phrases between a person and the date of birth. */
const BORN = [
  "born(?: on|[^\\n.;]{0,40}? on)?|(?<=[(,] ?)b(?:\\.|(?=\\.))",
  "geboren(?: (?:bin|wurde|ist) (?:ich|er|sie))?(?: am| op)?|geb\\.?(?: am)?|(?<=[,(] )\\*(?=\\d)|(?<=\\()\\*",
  "n[ée]+(?:\\(e\\)|e)? le|nac(?:[ií]|id[oa]|ió) el|nat[oa](?:\\/[oa])?(?: ad? [A-Za-z\\u00c0-\\u00ff][A-Za-z\\u00c0-\\u00ff ]{1,24}?(?: \\([A-Z]{2}\\))?)? il|nasc(?:id[oa]|i|eu) (?:em|a|no dia)",
  "urodzon[ya](?: dnia)?|urodził(?:a|em|am)? się(?: w?\\s?dni[au])?|ur(?:\\.|(?=\\.))|родил(?:ся|ась)|narozen[áý]?|född(?: den)?|født(?: den)?",
  "出生于|生于|출생",
].join("|");
const IS = "is|was|ist|lautet|war|est|es|era|é|è|to|jest|şu|это";
/** Whose date it is, in the name of a field: "patientBirthDate". */
const WHOSE =
  "(?:patient|customer|client|user|member|person|employee|applicant|subscriber|insured|holder|owner|child|spouse|guest)[ _-]?";
const NAMED_AS = `(?<![A-Za-z])(?:(?:${WHOSE})?(?:${BIRTH_NAMES})|${BORN})`;
/** After words that name a date, before its introduction. */
const NAMED_BIRTH = new RegExp(
  `(?<=${NAMED_AS}["'\\])】」』]{0,2}(?: ?\\([^)\\n]{2,16}\\))?(?:\\s{0,2}(?:${IS}|は|은|는|이|是|为|為))?` +
    `(?:\\s{0,2}(?:->|=>|[:=#|—–-]|：|\\s(?:on|the|der|am|den|le|el|il|em|op)))?)`,
  "iy",
);
/** The same for a date that answers a question. */
const ASKED_BIRTH = new RegExp(`(?<=${NAMED_AS}${REPLY})`, "iuy");
/** Maximum distance between a name and the date. */
const NAMED_WITHIN = 120;
/** Phrases after a date of birth. */
const BORN_BEHIND = new RegExp(
  ` ?(?:г\\. ?р\\.|года рождения|doğumlu|生まれ|出生|생(?![가-힣])|geboren(?![A-Za-z])|に(?:\\p{Lo}{1,9}で)?生まれ|에 (?:\\p{Lo}{1,9}에서 )?태어)` +
    `|(?: tarihinde|['’]?[td][ea])(?: \\p{L}[\\p{L}'’]{0,20}){0,3} doğ(?:du|mu[şs])`,
  "iuy",
);
/** "12/03/1984 is my date of birth", "12/03/1984 (DOB)" */
const NAME_BEHIND = new RegExp(
  `['"]?,? ?(?:\\((?:the )?|(?:${IS}) (?:[a-z]{1,5} ){0,2})(?:${BIRTH_NAMES})(?![A-Za-z])`,
  "iy",
);
const MONTHS = [
  "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?",
  "jän(?:ner)?|januar|februar|märz|mai|juni|juli|oktober|dezember",
  "janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre",
  "enero|febrero|marzo|abril|mayo|junio|julio|agosto|se[pt]tiembre|octubre|noviembre|diciembre",
  "janeiro|fevereiro|março|maio|junho|julho|setembro|outubro|novembro|dezembro",
  "gennaio|febbraio|aprile|maggio|giugno|luglio|settembre|ottobre|dicembre",
  "januari|februari|maart|mei|augustus",
  "stycznia|lutego|marca|kwietnia|maja|czerwca|lipca|sierpnia|września|października|listopada|grudnia",
  "ocak|şubat|mart|nisan|may[ıi]s|haziran|temmuz|ağustos|eylül|ekim|kas[ıi]m|aral[ıi]k",
  "января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря",
].join("|");
const WRITTEN_DATE =
  `(?:(\\d{4})([-/.])(\\d{1,2})\\2(\\d{1,2})|(\\d{1,2})([-/.])(\\d{1,2})\\6(\\d{4}|\\d{2})` +
  `|(?:${MONTHS})\\.? \\d{1,2}(?:st|nd|rd|th)?,? \\d{4}` +
  `|\\d{1,2}(?:st|nd|rd|th|er)?\\.? (?:of |de )?(?:${MONTHS})\\.?,? (?:de )?\\d{4}` +
  `|\\d{1,2}(?:-(?:${MONTHS})-|/(?:${MONTHS})/|(?:${MONTHS}))\\d{4}|\\d{1,2}-(?:${MONTHS})-\\d{2}` +
  `|(?:19|20)\\d\\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\\d|3[01])` +
  `|\\d{4}年\\d{1,2}月\\d{1,2}日|\\d{4}년 ?\\d{1,2}월 ?\\d{1,2}일)`;
const DATE = new RegExp(`${WRITTEN_DATE}(?=T\\d|(?!\\w))`, "iy");
/** The name of a month before the day. */
const MONTH_AT_END = new RegExp(`(?:${MONTHS})\\.? $`, "i");
const LONGEST_MONTH = 14;
/** Patterns that start with the value are tried only at capitals, so the text before it is tested afterwards. */
const CAPITAL = "[A-Z\\u00c0-\\u024f]";
const SMALL = "[a-z\\u00df-\\u024f'’-]{1,24}";
const NAME = `${CAPITAL}${SMALL}`;
const MORE_NAMES = `(?: (?:[A-Z]\\. )?(?:van |von |de |da |del |bin |al-)?${NAME}){0,3}`;
const NAMES = `${NAME}${MORE_NAMES}`;
const PERSON = new RegExp(
  `${CAPITAL}(?<=[ "]${CAPITAL})(?:(?:` +
    `(?<=\\b(?:[Mm]y name is|[Nn]ame:|I am|I'm|called|[Ss]igned,?|[Dd]ear|[Rr]egards,?) ${CAPITAL})` +
    `|(?<=\\b(?:Mr|Mrs|Ms|Mx|Miss|Dr|Prof|Sir|Herr|Frau|Monsieur|Madame|Señora?)\\.? ${CAPITAL})` +
    `|(?<="(?:full_?|first_?|last_?|customer_?|owner_?)name"\\s?:\\s?"${CAPITAL})` +
    `)${SMALL}${MORE_NAMES}|(?<="name"\\s?:\\s?"${CAPITAL})${SMALL}${MORE_NAMES} ${NAME}(?="))`,
  "g",
);
const AGE =
  /(?<![\w.])\d{1,3}(?=[- ]years?[- ]old\b| ?y\/?o\b)|(?<=\b(?:aged?|age:|age is|turned) )\d{1,3}(?![\w.%-]*\d)/gi;
const ORGANIZATION = new RegExp(
  `${NAMES} (?:Inc|Corp|Corporation|Ltd|Limited|LLC|LLP|PLC|GmbH|AG|S\\.A\\.|SARL|BV|NV|AB|Oy|Pty|Company|Bank|University|Foundation)\\b\\.?`,
  "g",
);
const LOCATION = new RegExp(
  `${CAPITAL}(?<= ${CAPITAL})(?<=\\b(?:lives? in|living in|moved to|based in|born in|located in|flew to|city of) ${CAPITAL})` +
    `${SMALL}${MORE_NAMES}`,
  "g",
);

/** A part with digits: the date that starts in it, if words identify it as a date of birth. */
function scanBirthDate(view: ScannedView, start: number, end: number): void {
  const { text } = view;
  let at = start;
  // Digits attached to a word: "DOB1990-05-31".
  if (!isDigit(text.charCodeAt(start))) { for (at = end; isDigit(text.charCodeAt(at - 1)); at--); }
  const month = text.charCodeAt(at - 1) === 32 && isMonthEnd(text.charCodeAt(at - 2))
    ? MONTH_AT_END.exec(before(view, at, LONGEST_MONTH))?.[0].length ?? 0
    : 0;
  if (at === end || month === 0 && !mayBeDate(text, at)) return;
  DATE.lastIndex = at - month;
  const date = DATE.exec(text);
  if (!date || !exists(date)) return;
  // Runs of filler characters count once.
  const lead = before(view, date.index, NAMED_WITHIN).replace(/([ \t._])\1+/g, "$1");
  const stop = DATE.lastIndex;
  const opened = openingOf(lead);
  const named = isAt(NAMED_BIRTH, lead + date[0], opened) ||
    lead.includes("?") && isAt(ASKED_BIRTH, lead, lead.length) ||
    (isAt(BORN_BEHIND, text, stop) || isAt(NAME_BEHIND, text, stop)) && !/[\w./-]$/.test(lead);
  if (named) report(view, "DATE_OF_BIRTH", date.index, stop, 0.85);
}

/** The start of trailing spaces, filler dots, line breaks or quotes. */
function openingOf(lead: string): number {
  let at = lead.length;
  if (/["'(“„]/.test(lead.charAt(at - 1))) at--;
  while (isBlank(lead.charCodeAt(at - 1))) at--;
  if (lead.charCodeAt(at - 1) === 10) at--;
  while (isBlank(lead.charCodeAt(at - 1)) || /[._]/.test(lead.charAt(at - 1))) at--;
  return at;
}

function isBlank(unit: number): boolean {
  return unit === 32 || unit === 9;
}

function isAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

/** A letter, or the dot of an abbreviation. */
function isMonthEnd(unit: number): boolean {
  return (CLASS_OF[unit] & LOWER) !== 0 || unit === 46;
}

/** Whether a date may start with these digits: the following characters rule out most numbers. */
function mayBeDate(text: string, start: number): boolean {
  let end = start;
  while (end - start < 5 && isDigit(text.charCodeAt(end))) end++;
  const joint = text.charCodeAt(end);
  if (joint > 127) return true;
  // Year, month and day without separators.
  if (end - start === 5) {
    return /^(?:19|20)\d{6}(?!\d)/.test(text.slice(start, start + 9));
  }
  if (joint === 32 || joint === 46 && text.charCodeAt(end + 1) === 32) {
    const letter = text.charCodeAt(joint === 32 ? end + 1 : end + 2);
    return letter > 127 || (CLASS_OF[letter] & LETTER) !== 0;
  }
  if (joint !== 45 && joint !== 46 && joint !== 47) {
    return (CLASS_OF[joint] & LETTER) !== 0 && (CLASS_OF[text.charCodeAt(end + 1)] & LETTER) !== 0;
  }
  if ((CLASS_OF[text.charCodeAt(end + 1)] & LETTER) !== 0) {
    return (CLASS_OF[text.charCodeAt(end + 3)] & LETTER) !== 0;
  }
  // The month between two equal separators.
  const month = text.charCodeAt(end + 2) === joint ? end + 2 : end + 3;
  return text.charCodeAt(month) === joint && isDigit(text.charCodeAt(month + 1));
}

/** Numeric dates must be valid, in one of the two orders of day and month. */
function exists(date: RegExpExecArray): boolean {
  if (date[1]) return validDate(Number(date[1]), Number(date[3]), Number(date[4]));
  if (!date[5]) return true;
  const year = Number(date[8]);
  return validDate(year, Number(date[7]), Number(date[5])) ||
    validDate(year, Number(date[5]), Number(date[7]));
}

export const PERSON_DATA: readonly Recognizer[] = [
  {
    type: "DATE_OF_BIRTH",
    group: "PERSON_DATA",
    aliases: ["DATE_OF_BIRTH_DOB", "DOB"],
    triggers: [{ on: "part", longest: 16, holds: DIGIT, scan: scanBirthDate }],
    samples: {
      found: [
        "born on «12 March 1981»",
        "DOB: «1990-05-31»",
        "Patient, *«14.06.2002», Tel.",
        "DOB«1990-05-31»",
        '{"dateOfBirth":"«1990-05-31»T00:00:00Z"}',
        "geboren am «31.12.1999»",
        "생년월일은 «1981년 3월 12일»",
        "誕生日は«1981年3月12日»です",
        "【生年月日】«1981年3月12日»",
        "| DOB | «1981-03-12» |",
        "ur. «12.03.1981»",
        "né le «3 mars 1981»",
        "Geb.-Dat.: «21.04.1982»",
        "nato a Torino (TO) il «02/08/1977».",
        "geboren bin ich am «12.03.1981».",
        "sono nato a Reggio Emilia il «12/03/1981».",
        "PID|1||00482913^^^H^MR||ROE^JANE||«19840312»|F|||12 MAIN ST^^BOSTON",
        "BEGIN:VCARD\nBDAY:«1981-03-12»\nEND:VCARD",
        "DOB: «18-Sep-1953»",
        "date of birth «18/SEP/1953»",
        "Date of birth: «18SEP1953»",
        "dob=«18-Sep-53»",
        '{"birthDate":"«19530918»"}',
        "DOB (dd/mm/yyyy) ..... «12/03/1981»",
        "«1981年3月12日»生まれ",
        "Mein Geburtstag ist der «12. März 1981».",
        "Anna (b. «1981-03-12»)",
        "Nací el «12/03/1981»",
        "Urodziłam się «12.03.1981»",
        "am «12.03.1981» geboren",
        "«12 Mart 1981» tarihinde İzmir'de doğdum",
        "«1981.03.12»에 서울에서 태어났습니다",
        "«12/03/1981» is my date of birth",
        "«1981-03-12» (DOB)",
        "What is your date of birth?\nUser: it's «12/03/1981»",
      ],
      clean: [
        "DOB: 31.02.1990",
        "the meeting on 12 March 1981",
        "12/03/2021 is the date of the meeting",
        "plan a 11/03/2021, b 12/03/2021",
        "Is the date of birth asked for? Yes.\nVersion of 12/03/2021",
      ],
    },
  },
  {
    type: "PERSON",
    group: "PERSON_DATA",
    aliases: ["NAME", "PERSON_NAME"],
    triggers: [matchesOf("PERSON", PERSON, () => 0.5)],
    samples: {
      found: ["My name is «Ada Brandt».", "Dr. «Grete Holm»", '"full_name": "«Jan van Dijk»"'],
      clean: ["Ada Brandt", "my name is secret"],
    },
  },
  {
    type: "AGE",
    group: "PERSON_DATA",
    triggers: [matchesOf("AGE", AGE, () => 0.6, /years?[- ]old|\dy|\d y|age|turned/i)],
    samples: { found: ["aged «44»", "a «7»-year-old"], clean: ["page 44", "44 years of service"] },
  },
  {
    type: "ORGANIZATION",
    group: "PERSON_DATA",
    triggers: [matchesOf("ORGANIZATION", ORGANIZATION, () => 0.5, / [A-Z][A-Za-z.]{1,10}\b/)],
    samples: { found: ["at «Holm Marine Ltd»"], clean: ["limited liability", "the company"] },
  },
  {
    type: "LOCATION",
    group: "PERSON_DATA",
    triggers: [matchesOf("LOCATION", LOCATION, () => 0.5)],
    samples: { found: ["who lives in «Bergen»"], clean: ["Bergen", "lives in a house"] },
  },
];
