/** Values assigned to password words such as "pwd" or "passphrase". */

import { isDigit } from "../character_class.ts";
import { FOREIGN_PASSWORDS, foreignWords } from "../foreign_words.ts";
import { isIdentifier, isPlaceholder, looksRandom, strangeness } from "../randomness.ts";
import { REPLY } from "../reply.ts";
import { after, before, report, type ScannedView } from "../scanned_view.ts";

/** Lower-case password words at the end of runs; those with non-ASCII letters are in foreign_words.ts. */
const MORE_WORDS =
  "passord(?:et)?|(?<=l[öo])senord(?:et)?|adgangskoden?|salasana(?:n[ai]|si)?|heslo|geslo|jelsz(?:[óo]|av[aá]\\p{L}{0,3})|parol(?:a|ă)|parool|" +
  "lozinka|zaporka|(?<=kata )(?:sandi(?:nya)?|laluan)";
const PASSWORD_WORD = new RegExp(
  `(?:pass(?:word|wd|phrase|code|e)?|(?<=master|primary)auth|pwd|secret|passwort|kennwort|wachtwoord|senha|clave|mdp|parola(?: d['’]ordine)?|pw|ww|psk|identified(?: with \\w{1,30})? by|${MORE_WORDS}|${FOREIGN_PASSWORDS})` +
    "(?:\\s?\\(\\w{0,12}\\))?[\"'\\]】」』]{0,2}(?:: ?&?(?:str|[Ss]tring)\\?? (?==))?(?:[ \\t]{9,64}(?=[:=])|\\s{0,8})" +
    `(?:=>|:{1,2}=|={1,3}|[:：]|(?<=[】」』])|is|was|est|este|es|é|è|e|je|är|er|(?<=salasana\\p{L}{0,3}\\s)on|jest|to|ist|lautet|şu\\s?:|это|είναι|هي|هو|היא|הוא|है|คือ|là|adalah|は|은|는|是|为|為|<-|->|-{1,2}(?=\\s)|(?=\\s[^\\s"'\`<>(]{8})|(?=\\s?\\(["'])|(?=\\s["'])|\\)?\\s?(?:\\|\\||\\?\\?|\\?:|\\bor\\b)(?=\\s{0,8}["'\`])|\\{\\s?get;[^{}\\n]{0,30}\\}\\s?=|value=|["'][;|,\\t](?! {0,8}\\n)|[;|\\t]|(?=\\s{0,8}<\\/))` +
    "(?:(?<=[:=])[ \\t]{9,64}|\\s{0,8})(?:(?<=:[ \\t]{0,4})(?:&[\\w-]{1,40}[ \\t]{1,4}|!!str[ \\t]{1,4}|[|>][+-]?[ \\t]{0,3}\\r?\\n[ \\t]{1,24}))?(?:[\"']\\s?[;,|]\\s?|(?:<\\/?[a-z]{1,8}>\\s{0,8}){1,3})?[([<{“‘„«»「『（【*\\u{1f300}-\\u{1faff}]{0,2}(?:[NBRUEL@]{1,2}(?=[\"']))?([\"'`]?)",
  "iuy",
);

/**
 * The same with further words between the password word and the assignment: "mot de passe provisoire :",
 * "hasło do wifi to", "şifreniz:". A value with four character classes needs no assignment.
 */
const WORD =
  "(?:pass(?:word|wd|phrase|code|e)?|p?pw|ww|pwd|passwort|kennwort|wachtwoord|senha|clave|mdp|parola|" +
  `${MORE_WORDS}|${FOREIGN_PASSWORDS})\\p{L}{0,4}`;
/** "on" is Finnish for "is". */
const GIVES =
  "is|was|c['’]est|est|este|es|é|è|e|je|är|er|(?<=salasana\\p{L}{0,3}\\s)on|jest|to|ist|lautet|это|είναι|هي|هو|היא|הוא|है|คือ|là|adalah";
const WORDS = `${WORD}\\)?(?:[ -]\\p{L}[\\p{L}\\d_'’-]{0,14}){0,4}(?: \\w{1,32}@[\\w.-]{1,64})?`;
const PASSWORD_PHRASE = new RegExp(
  `${WORDS}?\\s{0,2}(?:[:=：]|\\s(?:${GIVES}|—|–|-)(?=\\s))\\s{0,6}["'\`]?`,
  "iuy",
);
const PASSWORD_BESIDE = new RegExp(`${WORDS} (?=\\S{8})`, "iuy");

/** The word in a question, and the value that answers it and ends its line. */
const PASSWORD_ASKED = new RegExp(`${WORD}${REPLY}["'\`]?(?=\\S{5,64}\\s*$)`, "imuy");
/** Maximum length from the word to the question mark. */
const LONGEST_QUESTION = 64;
const IS_BEFORE = /\s(?:is|ist|est|es|è|é|jest|to|это|as|als|comme|como)\s/i;
/** "x7$kLm29 is my password": the value, and the text between it and the word that starts here. */
const VALUE_BEFORE = new RegExp(
  `(?<=(?:^|[\\s"'“\`(:])((?=\\S{0,64}\\d)[^\\s"'<>()]{6,64})["'”\`]? (?:(?:is|ist|est|es|è|é|jest|to|это) (?:\\p{L}[\\p{L}'’-]{0,9} )|(?:as|als|comme|como) )(?:\\p{L}[\\p{L}'’-]{0,9} ){0,2})` +
    `${WORD}(?=\\s*(?:[.,;!?)]|$)| (?:for|to|of|on|für|zum|pour|para|per|voor|do|dla|от|к)\\s)`,
  "imuy",
);

/** A word before the value that assigns it. */
const IS_GIVEN = new RegExp(`\\s(?:${GIVES}|by)\\s+$`, "iu");

/** Letters, digits and a character that words do not contain. */
function isUnlikeWords(value: string): boolean {
  return value.length >= 8 && /[A-Za-z]{2}/.test(value) && /\d{2}/.test(value) &&
    /[!#$%^&*?+~]/.test(value) &&
    !/[/=@]/.test(value);
}

const AT_END =
  /(?:pass(?:word|wd|phrase|code)|pwd|(?<=bind|root)pw|(?<![a-z])identified|(?<=[_-]|require|remote|store|key|db|user|admin|root|bind|mail|smtp|imap|ftp|ldap|sql|wifi|auth|mongo|redis|login|proxy|master|share|account)pass|(?<=master|primary)auth|secret|passwort|kennwort|wachtwoord|(?<![a-z])(?:senha|clave|mdp|parola|haslo|sifre|contrasena)|(?<=mot de |palavra-)passe|passord(?:et)?|(?<![a-z])senord(?:et)?|adgangskoden?|salasana(?:n[ai]|si)?|(?<![a-z])(?:heslo|geslo|jelsz|jelszava(?:m|d|t)?|parol|parool|lozinka|zaporka|sandi(?:nya)?|laluan))\d{0,2}$/i;

/** Bit masks of the preceding letter, by the last three letters of these words in lower case; digits may follow. */
const ENDS = new Int32Array(27 ** 3);
/** Bit masks of the second-last letter by the last, which rule out most words. */
const LAST_TWO = new Int32Array(32);
for (
  const end
    of "word oord auth sswd rase code pass cret wort enha lave rola aslo ifre sena asse sord nord rdet kode oden sana nana sani nasi eslo elsz zava avam avad avat arol rool inka orka andi inya luan fied ndpw otpw"
      .split(" ")
) {
  ENDS[endAt(end, 4)] |= 1 << (end.charCodeAt(0) & 31);
  LAST_TWO[end.charCodeAt(3) & 31] |= 1 << (end.charCodeAt(2) & 31);
}
ENDS[endAt("pwd", 3)] = -1;
LAST_TWO["d".charCodeAt(0) & 31] |= 1 << ("w".charCodeAt(0) & 31);

function endAt(text: string, end: number): number {
  let n = 0;
  for (let i = end - 3; i < end; i++) n = n * 27 + Math.min(26, Math.abs((text.charCodeAt(i) | 32) - 96));
  return n;
}

/** Password words with non-ASCII letters. */
export function scanForeignPasswords(view: ScannedView): void {
  for (const at of foreignWords(view).passwords) scanPassword(view, at);
}

/** A run that is, or ends with, a password word: `DB_PASSWORD=`, `userPassword:`. */
export function scanPasswordWord(view: ScannedView, start: number, end: number): void {
  const { text } = view;
  let last = end;
  while (end - last < 2 && isDigit(text.charCodeAt(last - 1))) last--;
  const unit = text.charCodeAt(last - 1);
  if (last < 3 || unit < 64 || (LAST_TWO[unit & 31] & 1 << (text.charCodeAt(last - 2) & 31)) === 0) return;
  if ((ENDS[endAt(text, last)] & 1 << (text.charCodeAt(last - 4) & 31)) === 0) return;
  const word = AT_END.exec(text.slice(Math.max(0, Math.min(start, end - 14)), end));
  if (word) scanPassword(view, end - word[0].length);
}

/** A password word at `start` (or within an identifier that ends there) with an assigned value. */
export function scanPassword(view: ScannedView, start: number): void {
  const text = view.text;
  PASSWORD_WORD.lastIndex = start;
  const match = PASSWORD_WORD.exec(text);
  if (!scanArgument(view, start) && (!match || !scanGiven(view, start, match))) scanPhrase(view, start);
}

/** The value after a phrase must look like a password itself. */
function scanPhrase(view: ScannedView, start: number): void {
  scanTyped(view, start) || scanBehind(view, start, PASSWORD_PHRASE, 3) ||
    scanBehind(view, start, PASSWORD_BESIDE, 4) ||
    view.text.slice(start, start + LONGEST_QUESTION).includes("?") &&
      scanBehind(view, start, PASSWORD_ASKED, 2) ||
    scanBefore(view, start);
}

function scanBefore(view: ScannedView, start: number): void {
  const { text } = view;
  // A value that precedes its name must be followed by a space.
  if (text.charCodeAt(start - 1) !== 32 || !IS_BEFORE.test(before(view, start, 32))) return;
  VALUE_BEFORE.lastIndex = start;
  const value = VALUE_BEFORE.exec(text)?.[1];
  if (value === undefined || kindsOf(value) < 2 || !isPassword(value, false)) return;
  const at = text.lastIndexOf(value, start);
  report(view, "PASSWORD", at, at + value.length, 0.6);
}

/** As an installation program generates it. */
const HEXADECIMAL = /^(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{32,64}$/;

function scanBehind(view: ScannedView, start: number, phrase: RegExp, leastKinds: number): boolean {
  phrase.lastIndex = start;
  const match = phrase.exec(view.text);
  if (!match) return false;
  const from = start + match[0].length;
  const value = /^[^\s"'`<>,;)\]}\u0370-\uffff]{0,64}/.exec(after(view, from, 64))![0].replace(
    /[.:!?]+$/,
    "",
  );
  if (kindsOf(value) < leastKinds && !(/:\s*$/.test(match[0]) && HEXADECIMAL.test(value))) return false;
  if (value.length < 8) return false;
  if (!isPassword(value, false)) return false;
  if (!/\d|[A-Za-z][!#$%^&*?+~][A-Za-z]/.test(value) || /[/\\]|@[\w-]+\.\w/.test(value)) return false;
  report(view, "PASSWORD", from, from + value.length, 0.6);
  return true;
}

const ROOTED =
  /^\/(?:home|usr|etc|var|run|opt|tmp|srv|mnt|root|Users|app|data|dev|proc|secrets|vault|workspaces?|private|Volumes)\/[\w./@+-]+$/;

/** A path, which is not a password: `PWD` is a shell's current folder, and other words may name a password file. */
function isFolder(value: string, word: string): boolean {
  return ROOTED.test(value) || /^(?:\/[a-z][a-z._-]*){2,}$/.test(value) ||
    /^pwd$/i.test(word) && /^(?:~?\/|[A-Za-z]:[\\/])[\w. /\\@+-]+$/.test(value);
}

/** A statement of SQL that sets a password, up to the word for it. */
const SETS_PASSWORD = /\b(?:CREATE|ALTER)\s{1,4}(?:USER|ROLE|LOGIN)\s[^;]*$/i;
const STATEMENT_WITHIN = 160;

/** Whether the word before a quoted value is one of SQL: `IDENTIFIED BY '…'`, `ALTER ROLE jo WITH PASSWORD '…'`. */
function isSql(view: ScannedView, start: number, word: string): boolean {
  return /\bby\s{1,4}["']$/i.test(word) || SETS_PASSWORD.test(before(view, start, STATEMENT_WITHIN));
}

/** In a device configuration, the kind of encryption and the value: `username jo password 7 0822455D0A16`. */
const TYPED = /(?:password|passwd|secret) [05-9] ([^\s"'`<>,;]{5,100})(?=["'`]|[ \t]*(?:\r?\n|$))/iy;

function scanTyped(view: ScannedView, start: number): boolean {
  TYPED.lastIndex = start;
  const value = TYPED.exec(view.text)?.[1];
  if (value === undefined || !/\d/.test(value) && kindsOf(value) < 3 || !isPassword(value, true)) {
    return false;
  }
  const from = view.text.indexOf(value, start + 8);
  report(view, "PASSWORD", from, from + value.length, 0.7);
  return true;
}

/** What precedes the value that is used where a variable has none. */
const IS_DEFAULT = /(?:\|\||\?\?|\?:|\bor)\s*["'`]$/;
/** A name or type that YAML allows in front of a value. */
const OF_YAML = /:[ \t]*(?:&[\w-]+|!!str)[ \t]+$/;

/** In an address, what follows the value. */
const NEXT_ARGUMENT = /&(?:amp;)?[A-Za-z_][\w.[\]-]{0,40}=[^]*$/;

/** Behind an assignment in a line of its own, such a sign belongs to the value. */
const AT_LINE_END = /^[!?]{1,3}(?=[ \t]*(?:\r?\n|$))/;

const lettersOf = (text: string) => text.replace(/[^A-Za-z]/g, "").toLowerCase();

/** Whether a value without digits is the name that it is assigned to: `client_secret: "clientSecret"`. */
function isOwnName(view: ScannedView, start: number, value: string): boolean {
  if (/[^A-Za-z_-]/.test(value)) return false;
  const name = /[\w-]*$/.exec(before(view, start, 40))![0] + /^[\w-]*/.exec(after(view, start, 40))![0];
  return lettersOf(name) === lettersOf(value);
}

/** A name of several words, or of one. */
function isNameInList(value: string): boolean {
  return isIdentifier(value) || /^[A-Z]?[a-z]+$/.test(value) && strangeness(value) < 0.2;
}

/** A value assigned directly to a password word; returns whether it is a password. */
function scanGiven(view: ScannedView, start: number, match: RegExpExecArray): boolean {
  const from = start + match[0].length;
  // A file name in a list of files.
  if (view.text.charCodeAt(start - 1) === 47 && !/["'=:]/.test(match[0])) return false;
  const quote = match[1];
  const rest = after(view, from, 130);
  let value = quote
    ? rest.slice(0, Math.max(0, closing(rest, quote)))
    : /^[^\s"'`<>,;)\]}\u0370-\uffff]{0,120}/.exec(rest)![0].replace(/[.:!?]+$/, "");
  if (!quote) value = value.replace(NEXT_ARGUMENT, "");
  if (!isPassword(value, quote !== "")) {
    if (quote || !/[:=]\s{0,8}$/.test(match[0])) return false;
    value = drawnToken(rest, value.length);
    if (kindsOf(value) < 4 || value.length < 8 || !isPassword(value, false)) return false;
  } else if (!quote) value = drawnToken(rest, value.length);
  if (!quote && /[:=]\s*$/.test(match[0])) value += AT_LINE_END.exec(rest.slice(value.length))?.[0] ?? "";
  if (isFolder(value, view.text.slice(start, start + 3))) return false;
  // The name of a resource of AWS, of which the word is a part.
  if (match[0].endsWith(":") && /\barn:[^\s"']{1,120}$/.test(before(view, start, 128))) return false;
  // A translation of the word, the name in another spelling, a filter in a template, or the next name of a list.
  if (match[0].toLowerCase().startsWith(value.toLowerCase()) || isOwnName(view, start, value)) return false;
  if (!quote && /\|\s*$/.test(match[0]) && /\{\{[^{}]*$/.test(before(view, start, 80))) return false;
  if (/["']\s?[,|]\s*["']$/.test(match[0]) && isNameInList(value)) return false;
  // The word is the value of a member, and the next member follows: `type:"password",disabled:!0`.
  if (!quote && /["'],\s*$/.test(match[0]) && /^[A-Za-z_$][\w$]*[:(]/.test(value)) return false;
  // The word and the value are names, of which one is meant.
  if (/["'`]\s?or\s*["'`]$/i.test(match[0]) && !isChosen(value) && !looksRandom(value, true)) return false;
  if (
    quote && /\w\s{1,4}\(?["'`]$|\w\(["'`]$/.test(match[0]) && !IS_DEFAULT.test(match[0]) &&
    !isChosen(value) &&
    !looksRandom(value, true) && !isSql(view, start, match[0])
  ) return false;
  // Only white space in between: usually just the next word of a sentence.
  if (
    /\w\s+[*([{<]*$/.test(match[0]) && !IS_GIVEN.test(match[0]) && !OF_YAML.test(match[0]) &&
    !isUnlikeWords(value)
  ) {
    return false;
  }
  report(view, "PASSWORD", from, from + value.length, 0.7);
  return true;
}

/** The line before a password word: an option, or a setting at the beginning of the line. */
const OPTION = /(?:^|\s)--?[\w-]*$/;
const SETTING =
  /(?:(?:^|\n)(?:[^\n]{0,80}(?:[|>#/+•-][ \t]|[:\t→]))?|(?:^|[:,[{(=\s])["'`])[ \t]*(?:(?:[\w.-]{1,40}[ \t]{1,8}){0,4}(?:login|user(?:name)?|account|enable|set)[ \t]{1,8}(?:\S{1,64}[ \t]{1,8})?)?[\w-]*$/;
/** A value that ends with its line or a blank, quoted or not. */
const ARGUMENT =
  /([ \t]+|=)(?:"([^"\s]{6,100})"|'([^'\s]{6,100})'|([^\s"'`<>{[$(*&-][^\s"'`<>]{5,99}))(?=["'\s]|$)/y;

/** The argument of an option (`--db-password Heron42!`) or of a setting in a line of its own (`requirepass Heron42!`). */
function scanArgument(view: ScannedView, start: number): boolean {
  const { text } = view;
  const word = /^[A-Za-z]+/.exec(text.slice(start, start + 14))?.[0].length ?? 0;
  ARGUMENT.lastIndex = start + word;
  const match = word < 2 ? null : ARGUMENT.exec(text);
  if (!match) return false;
  const value = match[2] ?? match[3] ?? match[4];
  const lead = before(view, start, 120);
  const isSetting = match[1] !== "=" && SETTING.test(lead) &&
    /^["'`]?[ \t]*(?:\r?\n|["'},\])]|$)/.test(after(view, ARGUMENT.lastIndex, 16));
  if (!isSetting && !OPTION.test(lead)) return false;
  if (
    !/\d/.test(value) || kindsOf(value) < 2 || !isPassword(value, match[4] === undefined) ||
    isFolder(value, "") ||
    /^[\d.:]+$|[;,]$|^\w+:\/|:\d{1,5}$/.test(value)
  ) return false;
  // In a line of text that is broken before the word.
  if (isSetting && (value.length < 8 || /^[A-Za-z]+\d{1,2}$/.test(value))) return false;
  const from = ARGUMENT.lastIndex - value.length - (match[4] === undefined ? 1 : 0);
  report(view, "PASSWORD", from, from + value.length, 0.7);
  return true;
}

/** A character that usually ends a value, and the text after it up to the next such character. */
const NEXT_PIECE = /[<>,;)\]}][^\s"'`<>,;)\]}\u0370-\uffff]*/y;
/** Words, numbers, tags, calls and assignments: typical text after such a character in lists, markup and code. */
const OTHER_PIECE =
  /^(?:<\/|.(?:[a-z]{3,}|[A-Z][a-z]{2,}|[A-Z]{2,}|\d+|[A-Za-z_][\w.-]*[=:(].*|[.(].*|(?:br|p|b|i|td|tr|li|h\d|div)\b.*)[.:!?]*$)/;

/**
 * The first `length` units of a text, extended beyond such a character if a generated password may contain
 * it. One at the end belongs to the text.
 */
function drawnToken(rest: string, length: number): string {
  let end = length;
  while (rest[end] === "." || rest[end] === ":" || rest[end] === "!" || rest[end] === "?") end++;
  for (;;) {
    NEXT_PIECE.lastIndex = end;
    const piece = NEXT_PIECE.exec(rest)?.[0];
    if (piece === undefined || OTHER_PIECE.test(piece)) break;
    end += piece.length;
  }
  const whole = rest.slice(0, end).replace(/[<>,;)\]}.:!?]+$/, "");
  return whole.length > length && kindsOf(whole) === 4 ? whole : rest.slice(0, length);
}

/** Neither an identifier nor a word followed by a number. */
function isChosen(value: string): boolean {
  return value.length >= 8 && kindsOf(value) >= 3 && /\d/.test(value) &&
    !/^[A-Za-z_.-]+\d{0,4}$/.test(value) &&
    !/[/\\=]/.test(value);
}

/** The number of character classes in a value: lower case, upper case, digits, other. */
export function kindsOf(value: string): number {
  return Number(/[a-z]/.test(value)) + Number(/[A-Z]/.test(value)) + Number(/\d/.test(value)) +
    Number(/[^A-Za-z0-9\s._-]/.test(value));
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

/** Names of types with a number of bits: `Uint8Array`, `Int64`, `Utf8String`, `Ed25519Key`. */
const NUMBERED_TYPE =
  /^\*?(?:(?:Big)?U?[Ii]nt|Float|Utf|UTF|Base|Sha|SHA|Ed|Aes|AES|Curve|Vec|Simd)\d{1,5}(?:[A-Z][a-z]+){0,3}[?)\]>]?:?$/;

/**
 * Whether a value that begins like a variable, a template or a reference is a password all the same: signs
 * between its letters and digits, which names do not have.
 */
function isBehindSign(value: string): boolean {
  const rest = value.replace(/^[$%#@&]+/, "");
  return rest.length >= 7 && kindsOf(rest) >= 2 && /^[\w!#$%^&*?+~.@-]+$/.test(rest) &&
    (strangeness(rest) > 0.3 || isMixed(rest) || kindsOf(rest) > 2 && /\w[!#$%^&*?+~]\w/.test(rest)) &&
    !/^([$%#@&])\w+\1$/.test(value);
}

/** Letters whose case changes more often than in names that are joined of words. */
function isMixed(value: string): boolean {
  const words = value.match(/[A-Z]?[a-z]+|[A-Z]+/g)?.length ?? 0;
  return words > 3 && value.length < words * 2.7;
}

/** Longer than members of objects in minified code, of all kinds of characters, and in no order that names have. */
function isDrawn(value: string): boolean {
  return value.length >= 12 && /[a-z]/.test(value) && /[A-Z]/.test(value) && /\d/.test(value) &&
    !/[()[\]{}?:&|=,/]/.test(value) && (strangeness(value) > 0.3 || /[!#$%^*~]\w/.test(value));
}

/** Whether a value assigned to a password word may be a real password. */
export function isPassword(value: string, quoted: boolean): boolean {
  if (value.length < 5 || value.length > 100 || COMMON.test(value) || isPlaceholder(value)) return false;
  if (/^arn:|^[<{[(]|[({]$|\(\)|\$\{|=>|\s{2}/.test(value) || /^[A-Z][A-Z0-9_]+$/.test(value)) {
    return false;
  }
  if (/^[$%#@&]/.test(value) && !isBehindSign(value)) return false;
  // What an entity of markup ends.
  if (/^\w{0,4}&[a-z]{2,8};?$/.test(value)) return false;
  // A hexadecimal number, or a placeholder in documentation.
  if (/^0x[\da-f]+$|^[\w.]*\[:?\w+\]/i.test(value)) return false;
  // Text of a non-Latin script, which is not used for passwords.
  if (/[\u0080-\uffff]/.test(value) && (!/\d/.test(value) || /[\u0900-\u1fff\u2e80-\uffff]/.test(value))) {
    return false;
  }
  const kinds = kindsOf(value);
  // The type of a member or parameter, or a regular expression.
  if (!quoted && (NUMBERED_TYPE.test(value) || /^\/.*\\[bdsw]/i.test(value))) return false;
  // A named argument.
  if (!quoted && /^[A-Za-z_]\w*=[A-Za-z_]*$/.test(value)) return false;
  // A member of an object, or a call.
  if (
    !quoted && /^[A-Za-z_$][\w$]*(?:\?|!)?\.[A-Za-z_$]|^[A-Za-z_$][\w$.]*[(\[]/.test(value) &&
    !/^\w+(?:\.\w+)*\.\d{2,4}$/.test(value) && !isDrawn(value)
  ) {
    return false;
  }
  if (quoted) {
    if (/\s/.test(value)) return false;
    // A single lower-case word may be an ordinary word; without usual letter pairs it is random.
    return kinds >= 2 || value.length >= 8 && strangeness(value) > 0.2;
  }
  if (/[.(\[]\w+/.test(value) && (kinds < 3 || /[([]/.test(value))) return false;
  if (value.length >= 8 && /^[A-Za-z_-]+$/.test(value) && (strangeness(value) > 0.3 || isMixed(value))) {
    return true;
  }
  return kinds >= 3 ||
    kinds === 2 && /\d/.test(value) && !/^[A-Za-z_]+\d{1,2}$/.test(value) && value.length >= 6;
}
