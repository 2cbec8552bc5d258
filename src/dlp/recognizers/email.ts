/** E-mail addresses, including those with the at sign written as a word. */

import { isAlphanumeric } from "./character_class.ts";
import type { Recognizer } from "./recognizer.ts";
import { after, before, report, type ScannedView } from "./scanned_view.ts";

/** Checks the surroundings of an `@` for an e-mail address. */
function scanEmail(view: ScannedView, at: number): void {
  const text = view.text;
  if (text.charCodeAt(at - 1) === 32 && text.charCodeAt(at + 1) === 32) return scanSpacedEmail(view, at);
  let start = at;
  if (text.charCodeAt(at - 1) === 34) {
    // A quoted local part may contain anything but an unescaped quote; a quote that closes another word does
    // not start one.
    start = text.lastIndexOf('"', at - 2);
    if (start < 0 || at - start > 64 || start > 0 && isLocal(text.charCodeAt(start - 1))) return;
    if (!/^"(?:[^"\\\r\n]|\\.)+"$/.test(text.slice(start, at))) return;
  } else {
    const ascii = text.charCodeAt(at - 1) < 128;
    while (start > 0 && at - start <= 64 && isLocal(text.charCodeAt(start - 1))) {
      if (ascii && isUnspaced(text.charCodeAt(start - 1))) break;
      start--;
    }
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
    else if (isUnspaced(c) && dot >= 0 && isTopLevel(text, label, end)) break;
    end++;
  }
  while (text.charCodeAt(end - 1) === 45) end--;
  // Markdown emphasis on both sides.
  while (text.charCodeAt(start) === 95 && text.charCodeAt(end - 1) === 95) {
    start++;
    end--;
  }
  if (
    dot < 0 || start === at || text.charCodeAt(end) === 64 ||
    text.charCodeAt(end) === 95 && !isEmphasis(text, start, end)
  ) {
    return;
  }
  // "john@acme.com123": the domain is followed directly by another value.
  const glued = /^[A-Za-z]{2,}(?=\d+$)/.exec(text.slice(dot + 1, end));
  if (glued) end = dot + 1 + glued[0].length;
  const domain = text.slice(at + 1, end);
  const tld = text.slice(dot + 1, end);
  if (!/^(?:xn--[a-z0-9-]{2,59}|[a-z\u00a1-\uffff]{2,63})$/i.test(tld) || /\.\.|(?:^|\.)-|-\./.test(domain)) {
    return;
  }
  if (text.slice(start, at).includes("..")) return;
  // "https://user:password@host" and "https://token@host" are URLs with user information.
  if (text.charCodeAt(start - 1) === 58 && /:\/\/[^\s/@]{0,80}:$/.test(before(view, start, 90))) return;
  if (text.charCodeAt(start - 1) === 47 && isUserinfo(view, start, at, end)) return;
  if (text.charCodeAt(start - 1) === 60 && isMessageId(view, start, at)) return;
  // "sprite@2x.png" is a file, "git@host.org:path" a repository.
  if (/^\d+x\./i.test(domain) && /^(?:png|jpe?g|gif|webp|svg|css|js)$/i.test(tld)) return;
  if (text.charCodeAt(end) === 58 && text.slice(start, at) === "git") return;
  report(view, "EMAIL_ADDRESS", start, end, 0.95);
}

/** Addresses with slashes, as they are often written by mistake. */
const OF_PERSON = /(?:^|[^a-z])(?:mail(?:to)?|e-?mail|sips?|xmpp|im|acct):\/\/$/i;

/** Whether a name, "@" and a domain are the user and host of a URL, and not its user alone: "https://jo%40corp.example:…@host". */
function isUserinfo(view: ScannedView, start: number, at: number, end: number): boolean {
  const { from, to } = view.origins;
  const isEncoded = from && to && to[at] - from[at] > 1;
  const scheme = before(view, start, 12);
  return !isEncoded && /[a-z]:\/\/$/i.test(scheme) && !OF_PERSON.test(scheme) &&
    !/^(?::[^\s/@"'<>]{0,80})?@/.test(after(view, end, 84));
}

/** Headers of messages whose values are identifiers in the form of an address. */
const ID_HEADER =
  /(?:^|[\n"'])(?:(?:[\w-]{0,24}message|content|thread)-?_?id|in-reply-to|references)["']?:[^\n]{0,200}$/i;

/** Whether a local part with many digits, or of no words, identifies a message: `Message-ID: <4f2a9c31.1767225600@host>`. */
function isMessageId(view: ScannedView, start: number, at: number): boolean {
  const local = view.text.slice(start, at);
  return ((local.match(/\d/g)?.length ?? 0) > 5 || local.length > 23) &&
    ID_HEADER.test(before(view, start, 240).replace(/\r?\n[ \t]+/g, " "));
}

function isEmphasis(text: string, start: number, end: number): boolean {
  return text.charCodeAt(start - 1) === 95 && text.charCodeAt(end) === 95;
}

const SPELLED =
  /[A-Za-z0-9._%+-]{1,64} ?[([{<] ?at ?[)\]}>] ?[A-Za-z0-9-]{1,63}(?:(?: ?[([{<] ?dot ?[)\]}>] ?|\.)[A-Za-z0-9-]{1,63}){1,4}/gi;

const SPELLED_SIGN = /[([{<] ?at ?[)\]}>]/iy;

/** Checks a bracket for an at sign written as a word, as in "(at)". */
function scanSpelledEmail(view: ScannedView, at: number): void {
  const text = view.text;
  const next = text.charCodeAt(at + 1);
  if ((next | 32) !== 97 && next !== 32) return;
  SPELLED_SIGN.lastIndex = at;
  if (!SPELLED_SIGN.test(text)) return;
  const from = Math.max(0, at - 66);
  for (const match of text.slice(from, at + 320).matchAll(SPELLED)) {
    const start = from + match.index;
    const end = start + match[0].length;
    if (start > at || end < at || !/(?:\.|[)\]}>] ?)[a-z]{2,}$/i.test(match[0])) continue;
    report(view, "EMAIL_ADDRESS", start, end, 0.7);
    return;
  }
}

const SPACED =
  /(?<![\w.+-])[A-Za-z0-9]{1,40}[._+-][A-Za-z0-9._+-]{1,40} @ [A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,3}\.[a-z]{2,24}(?![\w-])/i;

/** An at sign with spaces on both sides; the text before it must not look like an ordinary word. */
function scanSpacedEmail(view: ScannedView, at: number): void {
  const from = Math.max(0, at - 82);
  const match = SPACED.exec(view.text.slice(from, at + 200));
  if (match && from + match.index < at) {
    report(view, "EMAIL_ADDRESS", from + match.index, from + match.index + match[0].length, 0.6);
  }
}

const IN_WORDS =
  /(?<![\w.])[A-Za-z0-9._%+-]{1,64} at [A-Za-z0-9-]{1,63}(?: dot [A-Za-z0-9-]{1,63}){0,3} dot (?:com|org|net|edu|gov|mil|info|biz|example|dev|app|io|co|de|uk|fr|nl|ch|eu|ca|au|jp|br|ru|dk|fi|cz|se|pl|es|pt|ie|nz|za|mx|ar|kr|tr|us)(?![\w-])/gi;

function scanDot(view: ScannedView, start: number, end: number): void {
  if (/^dot$/i.test(view.text.slice(start, end))) scanWordedEmail(view, start);
}

/** Checks the word "dot" for an address written with words. */
function scanWordedEmail(view: ScannedView, start: number): void {
  const from = Math.max(0, start - 200);
  for (const match of view.text.slice(from, start + 80).matchAll(IN_WORDS)) {
    const at = from + match.index;
    if (at > start || at + match[0].length < start) continue;
    report(view, "EMAIL_ADDRESS", at, at + match[0].length, 0.6);
    return;
  }
}

function isNamed(c: number): boolean {
  return isAlphanumeric(c) || c === 95 ||
    c > 0xa0 && c < 0xfe00 && !(c >= 0x2000 && c < 0x2070) && !isMark(c);
}

/** Signs of Latin-1, and those of Chinese and Japanese: a full stop, a comma, brackets, a middle dot. */
function isMark(c: number): boolean {
  return c < 0xc0 && c !== 0xaa && c !== 0xb5 && c !== 0xba || c >= 0x3000 && c < 0x3005 ||
    c > 0x3007 && c < 0x3020 || c === 0x30fb;
}

/** A letter of a script whose words are written without spaces, or with endings: Chinese, Japanese, Korean, Thai. */
function isUnspaced(c: number): boolean {
  return c >= 0x0e00 && c < 0x1100 || c >= 0x3005 && c < 0xa000 || c >= 0xac00 && c < 0xd7b0 ||
    c >= 0xf900 && c < 0xfb00;
}

/** Whether a label consists of at least two ASCII letters. */
function isTopLevel(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    if ((text.charCodeAt(i) | 32) < 97 || (text.charCodeAt(i) | 32) > 122) return false;
  }
  return end - start > 1;
}

function isLocal(c: number): boolean {
  return isNamed(c) || c === 46 || c === 43 || c === 45 || c === 37 || c === 126 || c === 35;
}

export const EMAIL: readonly Recognizer[] = [
  {
    type: "EMAIL_ADDRESS",
    group: "CONTACT",
    aliases: ["EMAIL"],
    byDefault: true,
    triggers: [{ on: "sign", signs: "@", scan: scanEmail }, {
      on: "sign",
      signs: "([{<",
      scan: scanSpelledEmail,
    }, { on: "run", lengths: [3], begins: "d", followedBy: " ", scan: scanDot }],
    samples: {
      found: [
        "to <«a.b+c@sub.example.co.uk»>",
        "«user (at) example (dot) com»",
        "write to «jane.doe at corp dot example» now",
        '«"j doe"@corp.example»',
        "連絡先は090-1234-5678、メールは«lukas_k@correo.example»です。カード",
        "메일은 «anna@firma.example»입니다",
        "请发邮件到«anna@firma.example»谢谢",
        "「«anna@firma.example»」",
        "«用户@例子.公司»",
        "«jürgen@müller.example»",
        '<a href="mailto://«jane.doe@corp.example»">',
        "sip://«jane.doe@corp.example»",
        "https://«jane.doe%40corp.example»:pw!@proxy.corp.test:3128",
        "ftp://«jane.doe@corp.example»:«pw@ftp.corp.example»/",
      ],
      clean: [
        "sprite@2x.png",
        "git@github.com:a/b",
        "@scope/pkg@1.2.3",
        "meet me (at) noon",
        "meet me at noon dot",
        "https://bob:tr0ub4dor@corp.example/x",
        "https://ghp_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789@git.example/a/b.git",
        "ssh://git@corp.example/a",
        "Message-ID: <4f2a9c31.1767225600123@mail.corp.example>",
        "References: <a@b>\n <CAF1767225600123xyz@mail.corp.example>",
      ],
    },
  },
];
