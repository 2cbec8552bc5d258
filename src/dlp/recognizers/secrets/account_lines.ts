/**
 * Passwords in lines that consist of an account and its password: maps of mail servers, secrets of PPP and
 * IPsec, password files of Dovecot and WebDAV, lists for `chpasswd`, and lists of leaked accounts.
 */

import { strangeness } from "../randomness.ts";
import { lastLine, LINE_END, LINE_START } from "../lines.ts";
import type { Trigger } from "../recognizer.ts";
import { before, report, type ScannedView } from "../scanned_view.ts";
import { isPassword, kindsOf } from "./password.ts";

/** Longest beginning of a line that is examined. */
const LONGEST_LEAD = 200;
/** The rest of a line behind a colon, without the colons of empty fields. */
const REST = new RegExp(`([^\\s"'\`<>:|;]{6,100})(?=:*${LINE_END})`, "y");

const HOST = "\\*?\\[?[\\w.-]{1,120}\\.[A-Za-z]{2,24}\\]?";
const USER = "[\\w.+-]{2,64}";
const ADDRESS = `${USER}@[\\w.-]{1,120}\\.[A-Za-z]{2,24}`;
/** A server and its user (`[smtp.corp.example]:587 jo:…`, `*.corp.example:jo:…`), or an address alone. */
const ACCOUNT = new RegExp(
  `^[ \\t]*(?:${HOST}(?::\\w{2,12})?[ \\t]{1,20}${USER}(?:@[\\w.-]{1,120})?|${HOST}:${USER}|["'\`]?${ADDRESS})$`,
);
/** A user in a list for `chpasswd`, and the credentials of a server for Ruby's packages. */
const LISTED = new RegExp(
  `chpasswd:[ \\t]*\\r?\\n(?:[ \\t]{1,16}expire:[^\\n]{0,20}\\n)?[ \\t]{1,16}list:[ \\t]*(?:[|>][+-]?[ \\t]*)?\\r?\\n(?:[ \\t-]{1,16}[^\\s-][^\\n]{0,119}\\n){0,50}[ \\t-]{1,16}["'\`]?${USER}$`,
);
const BUNDLE = /\bBUNDLE_[A-Z0-9_]{2,80}["']?[:=][ \t]*["']?[\w.-]{1,64}$/;
const LISTED_WITHIN = 2000;

/** Behind the name of a package: `com.corp.lib:core:31.0-jre`. */
const VERSION = /^v?\d+\.\d[\w.+-]*$/i;

/** With a digit, not a path, file, number or version. */
function isAccountPassword(value: string): boolean {
  return isPassword(value, true) && kindsOf(value) > 1 && /\d/.test(value) && !VERSION.test(value) &&
    !/^[$%{~]|[/\\]|\.[a-z]{1,5}\d?$|^[A-Za-z]+[_.-]?v?\d[\d.]*$/i.test(value);
}

/** In an order that names do not have. */
function isDrawn(value: string): boolean {
  return isAccountPassword(value) && value.length >= 8 && kindsOf(value) > 2 &&
    (strangeness(value) > 0.2 || /\d[A-Za-z]+\d|[!#$%^&*?+~]/.test(value));
}

/** A colon behind the name of a user: the password that fills the rest of the line. */
function scanColon(view: ScannedView, at: number): void {
  const { text } = view;
  const next = text.charCodeAt(at + 1);
  const last = text.charCodeAt(at - 1);
  // Most colons are followed by a blank, a slash or a quote, and preceded by no name.
  if (!(next > 32) || next === 34 || next === 47 || next === 58 || !(last > 47)) return;
  REST.lastIndex = at + 1;
  const value = REST.exec(text)?.[1];
  if (value === undefined || !isAccountPassword(value)) return;
  const lead = before(view, at, LONGEST_LEAD);
  const line = lastLine(lead);
  const isGiven = ACCOUNT.test(line) || BUNDLE.test(lead) ||
    /^[ \t-]{1,16}["'`]?[\w.+-]+$/.test(line) && LISTED.test(before(view, at, LISTED_WITHIN));
  if (isGiven) report(view, "PASSWORD", at + 1, at + 1 + value.length, 0.75);
}

/** `jo * "secret" *` */
const PPP =
  /[ \t]*(?:"[^"\n]{1,64}"|[\w.@\\-]{1,64})[ \t]{1,20}\*[ \t]{1,20}(?:"([^"\s]{5,100})"|([^\s"'`#<>|]{5,100}))(?:[ \t]{1,20}(?:\*|[\d./:]{3,40}|"[^"\n]{0,40}"|-)){0,4}[ \t]*(?=\r?\n|$|["'`][ \t]*[,;)}\]\s])/y;

const LONGEST_NAME = 90;

/** An asterisk for any server, in the secrets of PPP. */
function scanStar(view: ScannedView, at: number): void {
  const { text } = view;
  const prev = text.charCodeAt(at - 1);
  const next = text.charCodeAt(at + 1);
  if (prev !== 32 && prev !== 9 || next !== 32 && next !== 9) return;
  const lead = before(view, at, LONGEST_NAME);
  const line = lastLine(lead);
  const start = at - line.length;
  if (line.length < 3 || line === lead && start > 0) return;
  PPP.lastIndex = start;
  const match = PPP.exec(text);
  const value = match?.[1] ?? match?.[2];
  if (value === undefined || !isDrawn(value) && !(match![1] !== undefined && isAccountPassword(value))) {
    return;
  }
  const from = text.indexOf(value, at);
  report(view, "PASSWORD", from, from + value.length, 0.75);
}

/** `: PSK "secret"` in the secrets of IPsec. */
const IPSEC = /(?:PSK|XAUTH|EAP|NTLM|PIN)[ \t]{1,8}"([^"\n]{5,120})"/y;

function scanIpsec(view: ScannedView, start: number): void {
  if (!/(?:^|[\s%\w]):?[ \t]{0,8}:[ \t]{1,8}$/.test(before(view, start, 12))) return;
  IPSEC.lastIndex = start;
  const value = IPSEC.exec(view.text)?.[1];
  if (value === undefined || !isPassword(value, true)) return;
  report(view, "PASSWORD", IPSEC.lastIndex - 1 - value.length, IPSEC.lastIndex - 1, 0.8);
}

/** A password in clear text in a directory or password file: `{PLAIN}secret`. */
const PLAIN = /\{(?:PLAIN|CLEARTEXT|CLEAR)\}([^\s:"'`<>]{5,100})/iy;

function scanPlain(view: ScannedView, start: number): void {
  PLAIN.lastIndex = start - 1;
  const value = PLAIN.exec(view.text)?.[1];
  if (value === undefined || !isPassword(value, true)) return;
  report(view, "PASSWORD", PLAIN.lastIndex - value.length, PLAIN.lastIndex, 0.8);
}

/** The address of a folder, a user and a password, which fill a line. */
const FOLDER =
  /https?:\/\/[^\s"'`<>]{4,200}[ \t]{1,20}["']?[\w.+@\\-]{2,64}["']?[ \t]{1,20}(?:"([^"\s]{6,100})"|([^\s"'`<>|]{6,100}))[ \t]*(?=\r?\n|$|["'`][ \t]*[,;)}\]\s])/y;
const AT_START = new RegExp(`${LINE_START}$`);

function scanFolder(view: ScannedView, start: number): void {
  const { text } = view;
  if (start > 0 && text.charCodeAt(start - 1) > 32 && !/["'`+>|]/.test(text[start - 1])) return;
  if (!AT_START.test(before(view, start, 90))) return;
  FOLDER.lastIndex = start;
  const match = FOLDER.exec(text);
  const value = match?.[1] ?? match?.[2];
  if (value === undefined || !isDrawn(value)) return;
  const from = start + match![0].lastIndexOf(value);
  report(view, "PASSWORD", from, from + value.length, 0.7);
}

export const ACCOUNT_LINE_TRIGGERS: readonly Trigger[] = [
  { on: "sign", signs: ":", scan: scanColon },
  { on: "sign", signs: "*", scan: scanStar },
  { on: "run", lengths: [3, 4, 5], begins: "pxen", followedBy: " ", scan: scanIpsec },
  { on: "run", lengths: [5, 9], begins: "pc", followedBy: "}", scan: scanPlain },
  { on: "run", lengths: [4, 5], begins: "h", followedBy: ":", scan: scanFolder },
];
