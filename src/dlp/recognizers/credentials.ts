/**
 * Credentials: tokens with a vendor's beginning, key blocks, web tokens, addresses with a password in them, and
 * random-looking values beside words such as "secret" or "token".
 *
 * A value in the last group counts only if it looks drawn by chance; examples, placeholders, names of variables and
 * template expressions do not.
 */

import { after, ALNUM, before, CLASS, type Field, JOIN } from "./field.ts";
import { entropy, isPlaceholder, looksRandom, strangeness, wordy } from "./randomness.ts";
import { SERVICES, VENDOR_PAIRS, VENDORS } from "./vendors.ts";

/** Tries the vendors' beginnings at `start`; answers whether one fitted. */
export function scanVendor(field: Field, start: number): boolean {
  const text = field.text;
  const a = text.charCodeAt(start);
  const b = text.charCodeAt(start + 1);
  if ((a | b) > 127 || VENDOR_PAIRS[a * 128 + b] !== 1) return false;
  for (const rule of VENDORS.get(text.slice(start, start + 2))!) {
    if (!text.startsWith(rule.prefix, start)) continue;
    rule.pattern.lastIndex = start;
    const match = rule.pattern.exec(text);
    if (!match) continue;
    const body = match[0].slice(rule.prefix.length);
    if (entropy(body) < (body.length < 20 ? 2.4 : 2.9) && !/^[A-Z0-9]{16}$/.test(body)) continue;
    if (body.length >= 12 && wordy(body)) continue;
    if (
      /abcdefgh|EXAMPLE|XXXX|xxxx|\.\.\./.test(body) ||
      body.length > 20 && isPlaceholder(body) && entropy(body) < 3.6
    ) {
      continue;
    }
    report(field, rule.type, start, start + match[0].length, 0.95);
    return true;
  }
  return false;
}

function report(field: Field, type: string, start: number, end: number, confidence: number): void {
  field.found.push({ type, start, end, confidence });
}

const JWT =
  /eyJ[A-Za-z0-9_-]{5,4000}\.(?:eyJ[A-Za-z0-9_-]{4,16000}(?:\.[A-Za-z0-9_-]{0,2000})?|[A-Za-z0-9_-]{4,16000}\.[A-Za-z0-9_-]{0,2000})/y;

/** A JSON web token: a header that decodes to JSON naming an algorithm or a type, a body, a signature. */
export function scanJwt(field: Field, start: number): boolean {
  JWT.lastIndex = start;
  const match = JWT.exec(field.text);
  if (!match) return false;
  const header = match[0].slice(0, match[0].indexOf("."));
  let readable = "";
  try {
    readable = atob(
      header.replaceAll("-", "+").replaceAll("_", "/").slice(0, header.length - header.length % 4),
    );
  } catch {
    return false;
  }
  if (!/^\{\s*"/.test(readable)) return false;
  report(field, "JWT", start, start + match[0].length, 0.95);
  return true;
}

const KEY_BLOCK =
  /-----BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----([^-]{0,12000}?(?:-(?!----)[^-]{0,12000}?){0,40})(?:-----[A-Z0-9 ]{0,60}-----|$)/y;

/** A key block, whole; answers where it ends, or where it was sought from. */
export function scanKeyBlock(field: Field, start: number): number {
  KEY_BLOCK.lastIndex = start;
  const match = KEY_BLOCK.exec(field.text);
  if (!match || match[1].replace(/\\n|\s|[^A-Za-z0-9+/=]/g, "").length < 24) return start;
  report(field, "PRIVATE_KEY", start, start + match[0].length, 0.95);
  return start + match[0].length;
}

const USERINFO = /:\/\/([^\s:/@"'<>`{}$%()[\]]{0,80}):([^\s/@"'<>`]{1,120})@[A-Za-z0-9[\]._-]{1,253}/y;
const DATABASES =
  /(?:mongodb(?:\+srv)?|postgres(?:ql)?(?:\+\w+)?|mysql(?:\+\w+)?|mariadb|rediss?|amqps?|mssql(?:\+\w+)?|sqlserver|oracle|clickhouse|jdbc:\w+|couchbases?|cassandra|neo4j(?:\+s)?|bolt|kafka|nats|ldaps?)$/i;

/** `://` at `at`: an address with a user and a password in front of the host. */
export function scanUserinfo(field: Field, at: number): void {
  const text = field.text;
  USERINFO.lastIndex = at;
  const match = USERINFO.exec(text);
  if (!match) return;
  const password = match[2];
  if (/^(?:\$|\{|<|\[|%[sd]$|\*+$|x+$|:)|^(?:pass(?:word|wd)?|pwd|secret|token)$|\$\{|\{\{/i.test(password)) {
    return;
  }
  if (/^(?:user(?:name)?|login)$/i.test(match[1]) && /^(?:pass\w*|pwd|secret|token|key)$/i.test(password)) {
    return;
  }
  const scheme = before(field, at, 24).match(/[A-Za-z][A-Za-z0-9+:]*$/)?.[0] ?? "";
  const start = at + 3;
  const end = start + match[1].length + 1 + password.length;
  if (DATABASES.test(scheme)) {
    report(field, "DATABASE_CONNECTION_STRING", at - scheme.length, at + match[0].length, 0.9);
    report(field, "BASIC_AUTH", start, end, 0.8);
  } else report(field, "BASIC_AUTH", start, end, 0.85);
}

const STRONG =
  "passw(?:or[dt]|d)|passphrase|passcode|pwd|secret|token|api[ _.-]?key|apikey|auth(?:[ _-]?key|orization|token)|" +
  "access[ _.-]?key|private[ _.-]?key|secret[ _.-]?key|signing[ _.-]?key|encryption[ _.-]?key|credentials?|bearer|crumb|" +
  "cookie|webhook|jwt|license[ _.-]?key|private|access|key|kennwort|contraseña|mot de passe|пароль|密码|密碼|" +
  "(?<![a-z])(?:api|pass|auth)|[_-]pat";
const CLOSE = "[\\]\"'`)}>]{0,3}";
const OPEN = "[(\"'`\\[@<]{0,3}";
/** A word, perhaps within an identifier that goes on, an operator, and what opens a value; or a word and a blank. */
const NAMED = new RegExp(
  `(?:${STRONG})(?:s?\\d{0,2}[\\w.]{0,12}?${CLOSE}\\s{0,8}(?:string\\s{0,3})?(?:=>|:{0,3}=|\\?=|\\.=|\\+=|[:=,>|(]|->|is |set to |value=|\\{\\s{0,8}default\\s{0,3}=)\\s{0,24}|s?[\\s:_.-]{1,8})${OPEN}$`,
  "i",
);
const SERVICE = new RegExp(
  `(?<![A-Za-z])(?:${SERVICES})[\\w .-]{0,24}["']?\\s{0,3}(?:=>|:{0,3}=|[:=,>])?\\s{0,5}["'\`]?$`,
  "i",
);
const NOT_SECRET =
  /(?:public[_ -]?key|idempotency[_ -]?key|pub[_ -]?key|key[_ -]?(?:id|name|code|type|path|file|word|store|length|size|pair)|primary[_ -]?key|foreign[_ -]?key|token[_ -]?(?:type|count|id|s|uri|url)|[_ -]?(?:hash|version|vault\w*)|secrets?[_ -]?(?:name|id|ref)|credentials?[_ -]?id|password[_ -]?(?:field|hash|length|policy|reset)|author|cache[_ -]?key|sort[_ -]?key|partition[_ -]?key|access[_ -]?(?:log|or|mode|level|ible))s?["'\])]{0,3}\s{0,3}(?:=>|[:=,(]|-{2,5})?\s{0,5}["'(]{0,3}$/i;

/** The value that begins at `start`, to the closing quote, a blank or a mark that ends a value. */
function valueEnd(text: string, start: number): number {
  let end = start;
  let colons = 0;
  let marks = 0;
  while (end < text.length && end - start < 400) {
    const c = text.charCodeAt(end);
    if ((CLASS[c] & (ALNUM | JOIN)) === 0) {
      if (!isValueMark(c) || ++marks > 24) break;
      if ((c === 58 || c === 124 || c === 46) && ++colons > 4) break;
    }
    end++;
  }
  // A full stop, comma or colon at the end belongs to the sentence.
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

/**
 * A run with digits, or a long one: is it, or does it end in, a random-looking value beside a word that says so?
 * Answers where the value ends, as a negative number if it is none.
 */
export function scanNamedValue(field: Field, runStart: number): number {
  const text = field.text;
  let start = runStart;
  // The run is a part of the value where base64's other characters stand in it.
  while (start > 0 && runStart - start < 64 && isInner(text.charCodeAt(start - 1))) start--;
  if (text.charCodeAt(start - 1) === 58 && text.charCodeAt(start) === 47) start = runStart;
  while (start < runStart && (CLASS[text.charCodeAt(start)] & ALNUM) === 0) start++;
  const end = valueEnd(text, runStart);
  // What goes on from before is the middle of data.
  if (end - start < 10 || isInner(text.charCodeAt(start - 1))) return -end;
  const whole = text.slice(start, end);
  // "vendor-secret-7d0c…": the word and the value are one run.
  const joined = whole.length >= 20 && /\d/.test(whole) && /[_.:=-]/.test(whole) ? JOINED.exec(whole) : null;
  const value = joined ? whole.slice(joined[0].length) : whole;
  if (!looksRandom(value, false)) return -end;
  const lead = before(field, start, 72);
  const named = joined !== null || NAMED.test(lead);
  const service = !named && looksRandom(value, true) && SERVICE.test(lead) && !/:\/\/\S*$/.test(lead);
  if (!named && !service || NOT_SECRET.test(lead) || isPlaceholder(value)) return -end;
  // Lists of things have keys too.
  if (!joined && UUID.test(value) && /(?<![\w-])["']?key["']?\s{0,3}[:=]\s{0,3}["']?$/i.test(lead)) {
    return -end;
  }
  const word = joined ? joined[0] : lead;
  const from = end - value.length;
  report(field, typeOf(word), from, end, service || /key|private|access|api|login$/i.test(word) ? 0.7 : 0.8);
  return end;
}

const LINE =
  /^["'`<{(\s]{0,8}(?![\w.-]{0,40}(?:commit|sha\d*|md5|hash|digest|sum|uuid|guid|id|etag|rev|version|build|integrity)\b)[\w.-]{2,40}(?: \w{1,10})?["'`]?\s{0,3}[:=\s]\s{0,3}["'`]?$/i;

/** Where nothing but secrets is looked for: a field that holds a name and a random-looking value, no more. */
export function scanAssignment(field: Field): void {
  const { text, first, last } = field;
  if (last - first > 300 || last - first < 26) return;
  const value = /[\w+/=.~-]{24,}$/.exec(text.slice(first, last))?.[0];
  if (
    !value || value.length === last - first || !looksRandom(value.replace(/^[:=-]+/, ""), true) ||
    isPlaceholder(value)
  ) return;
  if (!LINE.test(text.slice(0, last - value.length))) return;
  report(field, "GENERIC_SECRET", last - value.length, last, 0.5);
}

/** + / ~ and what runs are made of. */
function isInner(c: number): boolean {
  return (CLASS[c] & (ALNUM | JOIN)) !== 0 || c === 43 || c === 47 || c === 126;
}

function typeOf(lead: string): string {
  const tail = lead.slice(-40);
  if (/aws[^\n]{0,20}secret|secret[_ ]?access[_ ]?key/i.test(tail)) return "AWS_SECRET_KEY";
  if (/azure/i.test(tail)) return "AZURE_KEY";
  if (/pass(?:word|wd|phrase)|pwd/i.test(tail)) return "PASSWORD";
  return /api|token|key|access|auth/i.test(tail) ? "API_KEY" : "GENERIC_SECRET";
}

const PASSWORD_WORD =
  /(?:pass(?:word|wd|phrase|code)?|pwd|secret|passwort|kennwort|contraseña|mot de passe|пароль|密码)(?:\s?\(\w{0,12}\))?["'\]]{0,2}\s{0,8}(?:=>|:{1,2}=|={1,3}|:|is|was|->|value=)\s{0,8}(["'`]?)/iy;

/** A password word at `start` (or inside an identifier that ends there) with a value given to it. */
export function scanPassword(field: Field, start: number): void {
  const text = field.text;
  PASSWORD_WORD.lastIndex = start;
  const match = PASSWORD_WORD.exec(text);
  if (!match) return;
  const from = start + match[0].length;
  const quote = match[1];
  const rest = after(field, from, 130);
  const value = quote
    ? rest.slice(0, Math.max(0, closing(rest, quote)))
    : /^[^\s"'`<>,;)\]}]{0,120}/.exec(rest)![0].replace(/[.:!?]+$/, "");
  if (!isPassword(value, quote !== "")) return;
  report(field, "PASSWORD", from, from + value.length, 0.7);
}

function closing(rest: string, quote: string): number {
  for (let i = 0; i < rest.length; i++) {
    if (rest[i] === "\\") i++;
    else if (rest[i] === quote || rest[i] === "\n") return rest[i] === quote ? i : -1;
  }
  return -1;
}

const COMMON =
  /^(?:true|false|null|none|nil|undefined|string|str|required|optional|empty|hidden|text|password|passwd|pwd|secret|token|user|username|admin|root|test|foo|bar|baz|default|input|value|self|this|new|old|my|the|an?|not|in|on|for|to|of|is|and|or|it|wrong|incorrect|invalid|correct|reset|changed|expired|protected|stored|sent|weak|strong|too|at|least|must|should|[a-z]+Password|[\w.]*password\w*)$/i;

/** Whether a value given to a password is one that somebody could have chosen. */
export function isPassword(value: string, quoted: boolean): boolean {
  if (value.length < 5 || value.length > 100 || COMMON.test(value) || isPlaceholder(value)) return false;
  if (/^arn:|^[$<{%[(#@&]|[({]$|\(\)|\$\{|=>|\s{2}/.test(value) || /^[A-Z][A-Z0-9_]+$/.test(value)) {
    return false;
  }
  const kinds = Number(/[a-z]/.test(value)) + Number(/[A-Z]/.test(value)) + Number(/\d/.test(value)) +
    Number(/[^A-Za-z0-9\s._-]/.test(value));
  // A member of an object, or a call.
  if (!quoted && /^[A-Za-z_$][\w$]*(?:\?|!)?\.[A-Za-z_$]|^[A-Za-z_$][\w$.]*[(\[]/.test(value)) return false;
  if (quoted) {
    if (/\s/.test(value)) return false;
    // One lower-case word may be a word; without a vowel pattern it was drawn.
    return kinds >= 2 || value.length >= 8 && strangeness(value) > 0.2;
  }
  if (/[.(\[]\w+/.test(value) && (kinds < 3 || /[([]/.test(value))) return false;
  if (value.length >= 8 && /^[A-Za-z_-]+$/.test(value) && strangeness(value) > 0.3) return true;
  return kinds >= 3 ||
    kinds === 2 && /\d/.test(value) && !/^[A-Za-z_]+\d{1,2}$/.test(value) && value.length >= 6;
}

const HEADER = /(?:basic|bearer|token|apikey)\s{1,3}([A-Za-z0-9+/_.~=-]{12,600})/iy;

/** `Authorization: Bearer …` and the like; `start` is where the scheme's name begins. */
export function scanAuthorization(field: Field, start: number): void {
  HEADER.lastIndex = start;
  const match = HEADER.exec(field.text);
  if (!match || !/(?:auth\w*|["'\s])["']?\s{0,2}[:=]?\s{0,2}["']?$/i.test(before(field, start, 24))) return;
  const value = match[1];
  const basic = /^basic/i.test(match[0]);
  if (!looksRandom(value, !basic) || isPlaceholder(value)) return;
  const from = start + match[0].length - value.length;
  report(field, basic ? "BASIC_AUTH" : "API_KEY", from, from + value.length, 0.8);
}

const TELEGRAM = /\d{5,16}:A?[A-Za-z0-9_-]{34,35}(?![\w-])/y;
const DISCORD = /[MNOA][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![\w-])/y;
const AZURE_AD = /[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}(?![\w~-])/y;
const TERRAFORM = /[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9=_-]{60,70}/y;
const MAILCHIMP = /[0-9a-f]{32}-us\d{1,2}(?!\w)/y;
const MAXMIND = /[A-Za-z0-9_]{29,32}_mmk(?!\w)/y;
const TRUENAS = /\d{1,2}-[A-Za-z0-9]{64}(?![\w-])/y;

/** Tokens known by their shape as a whole. `start` begins the run that ends at `end`; what follows it sorts them. */
export function scanShaped(field: Field, start: number, end: number): boolean {
  const next = field.text.charCodeAt(end);
  const length = end - start;
  if (next === 58) return shaped(field, "TELEGRAM_BOT_TOKEN", TELEGRAM, start);
  if (next === 126) return length >= 5 && shaped(field, "AZURE_KEY", AZURE_AD, end - 5);
  if (next === 46) {
    return length === 14
      ? shaped(field, "API_KEY", TERRAFORM, start)
      : length >= 24 && length <= 28 && shaped(field, "DISCORD_TOKEN", DISCORD, start);
  }
  if ((length === 66 || length === 67) && field.text.charCodeAt(end - 65) === 45) {
    return shaped(field, "API_KEY", TRUENAS, start);
  }
  if (length < 33 || length > 37) return false;
  return shaped(field, "API_KEY", MAXMIND, start) || shaped(field, "API_KEY", MAILCHIMP, start);
}

function shaped(field: Field, type: string, pattern: RegExp, start: number): boolean {
  pattern.lastIndex = start;
  const match = pattern.exec(field.text);
  if (!match || entropy(match[0]) < 3.2 || /xxxx|EXAMPLE/.test(match[0])) return false;
  report(field, type, start, start + match[0].length, 0.9);
  return true;
}

const CURL_USER =
  /(?:-u|--user)[ =]{1,3}(?:"([^"\s:]{0,80}:[^"\s]{1,120}|[^"\s:]{1,80}:)"|'([^'\s:]{0,80}:[^'\s]{1,120})'|([^\s:"']{1,80}:[^\s"']{3,120}))/y;

/** The user and password given to a command after `-u` or `--user`. */
export function scanUserOption(field: Field, start: number): void {
  CURL_USER.lastIndex = start;
  const match = CURL_USER.exec(field.text);
  if (!match || !/curl|wget|http|rest|docker|mysql|psexec/i.test(before(field, start, 200))) return;
  const pair = match[1] ?? match[2] ?? match[3];
  const colon = pair.indexOf(":");
  const password = pair.slice(colon + 1) || pair.slice(0, colon);
  if (!isPassword(password, true) || /^(?:user|name|pass|\$|<|\[)/i.test(password)) return;
  const end = match.index + match[0].length - (match[3] ? 0 : 1);
  report(field, "BASIC_AUTH", end - pair.length, end, 0.8);
}

const MANIFEST = /(?<![\w-])kind:\s{0,3}["']?secret["']?\s/i;
const ENTRY =
  /^[ \t]{1,8}["']?[\w.-]{1,80}["']?:\s{0,3}(?:[|>]-?\s{1,12})?["']?([A-Za-z0-9+/]{10,4000}={0,3})["']?\s*$/gm;

/** The values of a Kubernetes secret, which are in base64 and nothing else. */
export function scanManifest(field: Field): void {
  const text = field.text;
  if (!MANIFEST.test(text)) return;
  for (let at = text.search(/^data:/m), n = 0; at >= 0 && n < 1; n++) {
    const stop = text.slice(at + 5).search(/^\S/m);
    const block = text.slice(at, stop < 0 ? text.length : at + 5 + stop);
    for (const m of block.matchAll(ENTRY)) {
      const start = at + m.index + m[0].search(/\S/);
      report(field, "GENERIC_SECRET", start, at + m.index + m[0].trimEnd().length, 0.7);
    }
  }
}
