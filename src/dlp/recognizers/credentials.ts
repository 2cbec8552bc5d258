/**
 * Credentials: tokens with a vendor's beginning, key blocks, web tokens, addresses with a password in them, and
 * random-looking values beside words such as "secret" or "token".
 *
 * A value in the last group counts only if it looks drawn by chance; examples, placeholders, names of variables and
 * template expressions do not.
 */

import { after, ALNUM, before, CLASS, DIGIT, type Field, JOIN, LOWER, UPPER } from "./field.ts";
import { SERVICES, VENDOR_PAIRS, VENDORS } from "./vendors.ts";

/** Bits of information in a unit, by how often each occurs in the value. */
export function entropy(value: string): number {
  const counts = new Map<string, number>();
  for (const c of value) counts.set(c, (counts.get(c) ?? 0) + 1);
  let bits = 0;
  for (const n of counts.values()) bits -= n / value.length * Math.log2(n / value.length);
  return bits;
}

const EXAMPLE =
  /example|sample|placeholder|changeme|change_me|your[_-]?|insert|redact|dummy|fake|xxxx|x{5}|\*{3}|\.\.\.|abcdefgh|01234567|12345678(?!\d)|deadbeef|aaaaa|todo|replace|<[a-z]|\$\{|\{\{|\$\(|process\.env|getenv|environ/i;

/** Whether a value is a stand-in for a secret, not one. */
export function isPlaceholder(value: string): boolean {
  return EXAMPLE.test(value) || /^(.)\1+$/.test(value) || /(.)\1{7}/.test(value);
}

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
    if (
      /EXAMPLE|XXXX|xxxx|\.\.\./.test(body) || body.length > 20 && isPlaceholder(body) && entropy(body) < 3.6
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
  /eyJ[A-Za-z0-9_-]{5,4000}\.(?:eyJ|ey|[A-Za-z0-9_-])[A-Za-z0-9_-]{4,16000}\.[A-Za-z0-9_-]{0,2000}/y;

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
  /-----BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----([^-]{0,12000}?(?:-(?!----)[^-]{0,12000}?){0,40})(?:-----END [A-Z0-9 ]{0,60}-----|$)/y;

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
  "pass(?:word|wd|phrase|code)?|pwd|secret|token|api[ _.-]?key|apikey|auth(?:[ _-]?key|orization|token)?|access[ _.-]?key|" +
  "private[ _.-]?key|secret[ _.-]?key|signing[ _.-]?key|encryption[ _.-]?key|client[ _-]?secret|credentials?|bearer|" +
  "crumb|session|cookie|webhook|jwt|license[ _.-]?key|private|access|key|kennwort|passwort|contraseña|mot de passe|пароль|密码|密碼";
/** What may stand between the word and the value. */
const BETWEEN =
  `[\\]"'\`)}]{0,3}[\\w.]{0,12}?[\\]"'\`)}]{0,3}\\s{0,4}(?:=>|:{0,3}=|\\?=|\\.=|\\+=|[:=,>|]|->|is|string\\s{0,3}=|set to)?\\s{0,6}[("'\`\\[@]{0,3}`;
const NAMED = new RegExp(`(?:${STRONG})s?\\d{0,2}${BETWEEN}$`, "i");
const SERVICE = new RegExp(
  `(?<![A-Za-z])(?:${SERVICES})(?![a-z]{3})[\\w .-]{0,24}["']?\\s{0,3}(?:=>|:{0,3}=|[:=,>])?\\s{0,5}["'\`]?$`,
  "i",
);
const NOT_SECRET =
  /(?:public[_ -]?key|pub[_ -]?key|key[_ -]?(?:id|name|code|type|path|file|word|store|length|size|pair)|primary[_ -]?key|foreign[_ -]?key|token[_ -]?(?:type|count|id|s|uri|url)|secret[_ -]?(?:name|id|ref)|credentials?[_ -]?id|password[_ -]?(?:field|hash|length|policy|reset)|author|cache[_ -]?key|sort[_ -]?key|partition[_ -]?key|access[_ -]?(?:log|or|mode|level|ible))s?["'\])]{0,3}\s{0,3}(?:=>|[:=,(])?\s{0,5}["'(]{0,3}$/i;

/** The value that begins at `start`, to the closing quote, a blank or a mark that ends a value. */
function valueEnd(text: string, start: number): number {
  let end = start;
  while (end < text.length && end - start < 400) {
    const c = text.charCodeAt(end);
    if ((CLASS[c] & (ALNUM | JOIN)) === 0 && !isValueMark(c)) break;
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

/** A run of letters and digits, at least eight long: is it a random-looking value beside a word that says so? */
export function scanNamedValue(field: Field, runStart: number, runEnd: number): number {
  const text = field.text;
  let start = runStart;
  while (start > 0 && runStart - start < 8 && /[=+/.~-]/.test(text[start - 1]) && start > runStart - 2) {
    start--;
  }
  const end = valueEnd(text, runStart);
  if (end - runStart < 10) return runEnd;
  const lead = before(field, runStart, 72);
  const inRun = text.slice(runStart, end);
  // "vendor-secret-7d0c…": the word and the value are one run.
  const joined =
    /^[A-Za-z0-9]{0,24}?[_.-]?(?:[A-Za-z0-9]+[_.-]){0,3}?(?:secret|token|key|private|access|password)[_.:=-]{1,2}(?=[A-Za-z0-9-]{12,}$)/i
      .exec(inRun);
  const from = joined ? runStart + joined[0].length : runStart;
  const value = text.slice(from, end);
  const named = joined !== null || NAMED.test(lead);
  const service = !named && SERVICE.test(lead);
  if (!named && !service) return runEnd;
  if (NOT_SECRET.test(lead)) return runEnd;
  if (!looksRandom(value, service)) return runEnd;
  report(
    field,
    typeOf(lead + (joined?.[0] ?? "")),
    from,
    end,
    service || /key|private|access/i.test(lead) ? 0.7 : 0.8,
  );
  return end;
}

function typeOf(lead: string): string {
  const tail = lead.slice(-40);
  if (/aws[^\n]{0,20}secret|secret[_ ]?access[_ ]?key/i.test(tail)) return "AWS_SECRET_KEY";
  if (/azure/i.test(tail)) return "AZURE_KEY";
  if (/pass(?:word|wd|phrase)|pwd/i.test(tail)) return "PASSWORD";
  return /api|token|key|access|auth/i.test(tail) ? "API_KEY" : "GENERIC_SECRET";
}

/** Drawn by chance, as far as its units and their mix can tell. */
export function looksRandom(value: string, strict: boolean): boolean {
  const length = value.length;
  if (length < (strict ? 16 : 10) || isPlaceholder(value)) return false;
  let digits = 0;
  let upper = 0;
  let lower = 0;
  let turns = 0;
  let last = 0;
  for (let i = 0; i < length; i++) {
    const k = CLASS[value.charCodeAt(i)];
    if (k === DIGIT) digits++;
    else if (k === UPPER) upper++;
    else if (k === LOWER) lower++;
    if (k !== last) turns++;
    last = k;
  }
  const letters = upper + lower;
  if (/^[\w-]+(?:\.[A-Za-z_][\w-]*)+\(?$/.test(value) && digits < 6) return false;
  if (
    /^\/|\/\/|^[a-z]+:|\.(?:com|org|net|io|js|ts|py|go|rb|json|ya?ml|html?|css|pem|txt|md|sh|log|xml|conf)$/i
      .test(value)
  ) {
    return false;
  }
  if (letters === 0) return digits >= 15 && !strict && entropy(value) > 2.2;
  if (digits === 0) {
    // Letters alone are words, unless the cases alternate or the run is long and unpronounceable.
    if (upper > 2 && lower > 2 && turns > length * 0.35 && length >= 16) return entropy(value) > 3.3;
    return length >= 20 && entropy(value) > 3.6 && !/[_-]/.test(value) && unpronounceable(value);
  }
  if (/^[0-9a-f-]+$/i.test(value) && length < 14) return false;
  if (digits < 2 && turns < 8) return false;
  // A word and a number at its end ("password123", "version_2024") is a name.
  if (/^[A-Za-z_-]+\d{1,4}$/.test(value) || /^[A-Za-z]+(?:[_.-][A-Za-z]+)+\d{0,4}$/.test(value)) return false;
  if (/^v?\d+(?:\.\d+)+/.test(value)) return false;
  return entropy(value) >= (length < 14 ? 2.8 : 2.9);
}

/** Long runs without vowels, which words of no Latin-script language have. */
function unpronounceable(value: string): boolean {
  return /[bcdfghjklmnpqrstvwxz]{5}/i.test(value) || !/[aeiou]/i.test(value);
}

const PASSWORD_WORD =
  /(?:pass(?:word|wd|phrase|code)|pwd|passwort|kennwort|contraseña|mot de passe|пароль|密码)(?:\s?\(?\w{0,12}\)?)["'\]]{0,2}\s{0,3}(?:=>|:{1,2}=|[:=]|is|was|->)\s{0,3}(["'`]?)/iy;

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
  if (/^[$<{%[(#@&]|[({]$|\(\)|\$\{|=>|\s{2}/.test(value) || /^[A-Z][A-Z0-9_]+$/.test(value)) return false;
  const kinds = Number(/[a-z]/.test(value)) + Number(/[A-Z]/.test(value)) + Number(/\d/.test(value)) +
    Number(/[^A-Za-z0-9\s._-]/.test(value));
  if (quoted) {
    if (/\s/.test(value)) return false;
    // One lower-case word may be a word; without a vowel pattern it was drawn.
    return kinds >= 2 || value.length >= 8 && unpronounceable(value);
  }
  if (/[.(]\w+/.test(value) && kinds < 3) return false;
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
  if (!looksRandom(value, true) || isPlaceholder(value)) return;
  const from = start + match[0].length - value.length;
  report(field, basic ? "BASIC_AUTH" : "API_KEY", from, from + value.length, 0.8);
}

const TELEGRAM = /\d{5,16}:A?[A-Za-z0-9_-]{34,35}(?![\w-])/y;
const DISCORD = /[MNOA][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![\w-])/y;
const MAILCHIMP = /[0-9a-f]{32}-us\d{1,2}(?!\w)/y;
const AZURE_AD = /[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}(?![\w~-])/y;
const TERRAFORM = /[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9=_-]{60,70}/y;
const AIRTABLE = /pat[A-Za-z0-9]{14}\.[0-9a-z]{64}(?!\w)/y;
const MAPBOX = /[pst]k\.[A-Za-z0-9]{60}\.[A-Za-z0-9_-]{22}(?![\w-])/y;
const MAXMIND = /[A-Za-z0-9_]{29,32}_mmk(?!\w)/y;

const SHAPED: readonly { type: string; pattern: RegExp }[] = [
  { type: "TELEGRAM_BOT_TOKEN", pattern: TELEGRAM },
  { type: "DISCORD_TOKEN", pattern: DISCORD },
  { type: "API_KEY", pattern: MAILCHIMP },
  { type: "AZURE_KEY", pattern: AZURE_AD },
  { type: "API_KEY", pattern: TERRAFORM },
  { type: "API_KEY", pattern: AIRTABLE },
  { type: "API_KEY", pattern: MAPBOX },
  { type: "API_KEY", pattern: MAXMIND },
];

/** Tokens known by their shape as a whole; `start` begins a word. */
export function scanShaped(field: Field, start: number): boolean {
  for (const { type, pattern } of SHAPED) {
    pattern.lastIndex = start;
    const match = pattern.exec(field.text);
    if (!match || entropy(match[0]) < 3.2 || /xxxx|EXAMPLE/.test(match[0])) continue;
    report(field, type, start, start + match[0].length, 0.9);
    return true;
  }
  return false;
}
