/**
 * Random-looking values beside words such as "secret" or "token", or beside the name of a service. Examples,
 * placeholders, names of variables and template expressions do not look random.
 */

import { ALPHANUMERIC, CLASS_OF, isAlphanumeric, JOINER } from "../character_class.ts";
import { isIdentifier, isPlaceholder, looksRandom } from "../randomness.ts";
import { before, report, type ScannedView } from "../scanned_view.ts";
import { SERVICES } from "./services.ts";

const STRONG =
  "passw(?:or[dt]|d)|passphrase|passcode|pwd|secret|token|api[ _.-]?key|apikey|auth(?:[ _-]?key|orization|token)|" +
  "access[ _.-]?key|private[ _.-]?key|secret[ _.-]?key(?:[ _.-]?base)?|signing[ _.-]?key|encryption[ _.-]?key|credentials?|bearer|crumb|" +
  "totp|otp[ _-]?(?:secret|seed)|jsessionid|phpsessid|asp\\.net_sessionid|connect\\.sid|laravel_session|ci_session|cookie|webhook|jwt|license[ _.-]?key|private|access|key|kennwort|contraseña|mot de passe|пароль|密码|密碼|" +
  "schl[üu]ssel|jeton|cl[ée] (?:d['’ ]?(?:api|acc[èe]s)|secr[èe]te|priv[ée]e)|(?:clave|chave|chiave) (?:d[eai] )?(?:api|acceso|acesso|se[cg]reta|priva[dt]a)|klucz|anahtar[ıi]?|" +
  "sleutel|ключ|токен|密钥|令牌|ト[ー-]クン|キ[ー-]|シ[ー-]クレット|토큰|키|시크릿|密鑰|秘密|" +
  "cookie[\"']?[:,][^\\n]{0,40}?[ ;\"'][\\w.-]{1,24}(?==)|authorization[\"']?: ?[\"']?[a-z-]{2,16}|(?<![a-z])(?:api|pass|auth|pat(?![a-z]))|[_-]pat";
const CLOSE = "[\\]\"'`)}>】」』]{0,3}";
/** With the prefix of a signed cookie, "s:". */
const OPEN = "[(\"'`\\[@<「『【]{0,3}(?:base64:[+/]?|s:)?";
/** A word, possibly within a longer identifier, an operator, and the opening of a value; or a word and a space. */
const NAMED = new RegExp(
  `(?:${STRONG})(?:s?\\d{0,2}[\\w.]{0,12}?(?:[ '’][A-Za-z\\u00c0-\\uffff]{1,16}){0,3}?${CLOSE}(?:: ?&?(?:str|[Ss]tring)\\?? (?==))?\\s{0,8}(?:string\\s{0,3})?(?:=>|:{0,3}=|\\?=|\\.=|\\+=|\\|\\||\\?\\?|\\?:|\\bor(?= {1,8}["'\\x60])|\\{ ?get;[^{}\\n]{0,30}\\} ?=|:[ \\t]{0,3}(?:&[\\w-]{1,40}|!!str|[|>][+-]?(?=[ \\t]{0,3}\\n))|[:=,>|(]|->|is |est |es |è |é |ist |jest |это |は|是|为|為|은 |는 |คือ|(?<=[】」』])|set to |to (?=[\\x60"'])|--(?:body|value)[ =]|value=|\\{\\s{0,8}default\\s{0,3}=)\\s{0,24}|s?[\\s:_.-]{1,8})${OPEN}$`,
  "i",
);
const SERVICE = new RegExp(
  `(?<![A-Za-z])(?:${SERVICES})[\\w .-]{0,24}["']?[ \\t]{0,3}(?:=>|[?.+]=|:{0,3}=|\\|\\|:?|[:=,>])?[ \\t]{0,5}["'\`=]{0,3}$`,
  "i",
);
/** "q7Zk29xLm4Vb81RtYp03 is my API key" */
const NAMED_BEHIND =
  /^["'`”]? (?:is|ist|est|es|è|é|jest|to|это) (?:[a-zà-ž'’]{1,8} ){0,3}(?:api[ -]?key|(?:access |secret |auth )?(?:token|key|secret)|passwor[dt]|mot de passe|contraseña|senha|jeton|schlüssel|klucz|chiave|clave)(?=\s*(?:[.,;!?)"'\n]|$)| (?:for|für|pour|para|per|voor|do|dla|для)\s)/i;
const BEHIND = 56;
const NOT_SECRET =
  /(?:(?:recv|send|search)[_ -]?key|keyserver[^\n]{0,48}|fingerprint|public[_ -]?key|[gp]pg[_ -]?key|key[_ -]?error|idempotency[_ -]?key|pub[_ -]?key|key[_ -]?(?:id|name|code|type|path|file|word|store|length|size|pair)|primary[_ -]?key|foreign[_ -]?key|token[_ -]?(?:type|count|id|s|uri|url)|[_ -]?(?:hash|version|vault(?![_-]?(?:token|secret|pass))\w*)|secrets?[_ -]?(?:name|id|ref)|credentials?[_ -]?id|password[_ -]?(?:view|hash|length|policy|reset)|author|cache[_ -]?key|sort[_ -]?key|partition[_ -]?key|access[_ -]?(?:log|or|mode|level|ible))s?["'\])]{0,3}\s{0,3}(?:=>|[:=,(|]|-{2,5})?\s{0,5}["'(]{0,3}$/i;

/** The end of a value that starts at `start`: a closing quote, white space or a terminating character. */
function valueEnd(text: string, start: number): number {
  let end = start;
  let colons = 0;
  let marks = 0;
  while (end < text.length && end - start < 400) {
    const c = text.charCodeAt(end);
    if ((CLASS_OF[c] & (ALPHANUMERIC | JOINER)) === 0) {
      if (!isValueMark(c) || ++marks > 24) break;
      if ((c === 58 || c === 124 || c === 46) && ++colons > 4) break;
    }
    end++;
  }
  // Punctuation at the end belongs to the sentence.
  while (end > start && /[.,:;!?&|]/.test(text[end - 1])) end--;
  return end;
}

/** + / = . : ~ | % @ ! # $ ^ & * in a value. */
function isValueMark(c: number): boolean {
  return c === 43 || c === 47 || c === 61 || c === 46 || c === 126 || c === 58 || c === 124;
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const JOINED = new RegExp(
  `^(?:[A-Za-z0-9]{0,24}?[_.-]?(?:[A-Za-z0-9]{1,24}[_.-]){0,3}?(?:secret|token|key|private|access|password){1,3}[_.:=-]{1,2}` +
    `|(?:${SERVICES})[_.:=-]{1,2}(?=[\\w-]{24}))(?=[\\w+/=.-]{10,}$)`,
  "i",
);

/** The name of a model behind that of its vendor, "gpt-4.1-2025-04-14": words, a version and a date. */
const DATED =
  /^[a-z]{1,16}\d?(?:[-.](?:[a-z]{1,16}|[a-z\d]{1,5})){0,6}-(?:20\d\d-?|preview-)[01]\d-?[0-3]\d$/i;

/** "ACCESS_KEY=" behind "AWS_SECRET_" */
const REST_OF_NAME = /^(?:[A-Za-z]{2,16}[_.-]){0,3}[A-Za-z]{2,16}[:=]{1,2}(?=.{10})/;

/**
 * Examines a run with digits, or a long one: whether it is, or ends with, a random-looking value beside a
 * word that names it.
 */
export function scanNamedValue(view: ScannedView, runStart: number): void {
  const { text, credentials } = view;
  const joiner = text.charCodeAt(runStart - 1);
  if (runStart < credentials.judgedEnd && (joiner === 43 || joiner === 47 || joiner === 126)) return;
  if (!isWordNear(view, runStart)) return;
  const end = valueEnd(text, runStart);
  credentials.judgedEnd = end;
  const start = valueStart(text, runStart);
  // A run that continues earlier text is the middle of data.
  if (end - start < 10) return;
  let signs = signsBefore(text, start);
  if (isInner(text.charCodeAt(start - signs - 1))) return;
  const whole = text.slice(start, end);
  if (signs > 0 && !isBase64(whole)) return;
  // "vendor-secret-7d0c…": word and value are one run.
  const joined = whole.length >= 20 && !UUID.test(whole) && /\d/.test(whole) && /[_.:=-]/.test(whole)
    ? JOINED.exec(whole)
    : null;
  let value = joined ? whole.slice(joined[0].length).replace(REST_OF_NAME, "") : whole;
  if (joined) {
    signs = BEGINNING.exec(value)![0].length;
    value = value.slice(signs);
    if (signs > 0 && !isBase64(value)) return;
  }
  if (!looksRandom(value, false) || joined && isIdentifier(whole) || DATED.test(value)) return;
  const lead = before(view, start - signs, NAMED_WITHIN);
  const named = joined !== null || NAMED.test(lead);
  const behind = !named && text.charCodeAt(end) !== 10 && NAMED_BEHIND.exec(text.slice(end, end + BEHIND));
  // Behind "github." and the like stands the rest of a host's name and a path.
  const service = !named && !behind && looksRandom(value, true) && SERVICE.test(lead) &&
    !/\.$|:\/\/\S*$/.test(lead);
  if (
    !named && !service && !behind || NOT_SECRET.test(joined ? lead + joined[0] : lead) || isPlaceholder(value)
  ) return;
  // The middle of a base64 block, whose lines may end with any word, or a range of characters.
  if (!joined && /[\w+/]{40}\r?\n$/.test(lead) || /^U\+[0-9A-F]{4}/.test(value)) return;
  // The name of a resource, of which the word is a part.
  if (/\barn:[\w-]{2,12}:[^\s"']{0,60}$/.test(lead)) return;
  // A list of files with checksums.
  if (/\/[\w.+-]+[ \t]+$/.test(lead) && /^[0-9a-f]+$/.test(value)) return;
  // The word ended the previous line, and the next one is an assignment.
  if (/\n[ \t]*$/.test(lead) && /^ ?= /.test(text.slice(end, end + 3))) return;
  // A list of checksums: the word ended the previous line.
  if (/\w[ \t]*\r?\n[ \t]*$/.test(lead) && /^[0-9a-f]+$/.test(value)) return;
  // "key" is also the name of ids in lists.
  if (
    !joined && UUID.test(value) &&
    /(?:(?<![\w-]|\w )|(?<=[=:][^\s=]{1,24} ))["']?key["']?\s{0,3}[:=]\s{0,3}["']?$/i.test(lead)
  ) {
    return;
  }
  const word = joined ? joined[0] : behind ? behind[0] : lead;
  const confidence = service || /key|private|access|api|login$/i.test(word) ? 0.7 : 0.8;
  report(view, typeOf(word), end - value.length - signs, end, confidence);
  credentials.namedValueEnd = end;
}

/** Maximum distance of a naming word before the value or within its run. */
const NAMED_WITHIN = 72;
const NAMES_ITSELF = 32;

/** Whether there is a non-hexadecimal letter: lists of numbers and checksums have no names. */
function isWordNear({ text, credentials }: ScannedView, start: number): boolean {
  const stop = Math.min(text.length, start + NAMES_ITSELF);
  for (let i = Math.max(credentials.lettersTo, start - NAMED_WITHIN); i < stop; i++) {
    const c = text.charCodeAt(i) | 32;
    if (c > 102 && c < 123 || c > 127) credentials.lastLetter = i;
  }
  credentials.lettersTo = Math.max(credentials.lettersTo, stop);
  return credentials.lastLetter >= start - NAMED_WITHIN;
}

/** The start of the value that contains a run, if the value has further base64 characters. */
function valueStart(text: string, runStart: number): number {
  let start = runStart;
  while (start > 0 && runStart - start < 64 && isInner(text.charCodeAt(start - 1))) start--;
  if (text.charCodeAt(start - 1) === 58 && text.charCodeAt(start) === 47) start = runStart;
  while (start < runStart && !isAlphanumeric(text.charCodeAt(start))) start++;
  return start;
}

/** The signs that a value in base64 may begin with. */
const BEGINNING = /^[+/]{0,2}/;

/** How many `+` and `/` stand directly before a value: with them begins every thirtieth key in base64. */
function signsBefore(text: string, start: number): number {
  let first = start;
  while (start - first < 2 && (text[first - 1] === "+" || text[first - 1] === "/")) first--;
  return start - first;
}

/** Letters of both cases and digits, and no path: at least as long as a key of 128 bits. */
function isBase64(value: string): boolean {
  return /^[A-Za-z0-9+/]{22,}={0,2}$/.test(value) && /[a-z]/.test(value) && /[A-Z]/.test(value) &&
    /\d/.test(value);
}

/** + / ~ and the characters of runs. */
function isInner(c: number): boolean {
  return (CLASS_OF[c] & (ALPHANUMERIC | JOINER)) !== 0 || c === 43 || c === 47 || c === 126;
}

function typeOf(lead: string): string {
  const tail = lead.slice(-40);
  if (/aws[^\n]{0,20}secret|secret[_ ]?access[_ ]?key/i.test(tail)) return "AWS_SECRET_KEY";
  if (/azure/i.test(tail)) return "AZURE_KEY";
  if (/pass(?:word|wd|phrase)|pwd/i.test(tail)) return "PASSWORD";
  return /api|token|key|access|auth/i.test(tail) ? "API_KEY" : "GENERIC_SECRET";
}
