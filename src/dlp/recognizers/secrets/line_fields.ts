/**
 * Passwords recognised by their position in a line: PostgreSQL's password file, Oracle's connection strings,
 * Windows' `net`, SNMP communities.
 */

import { isPlaceholder } from "../randomness.ts";
import { before, report, type ScannedView } from "../scanned_view.ts";
import { isPassword, kindsOf } from "./password.ts";

/** The text before the port in a line `host:port:database:user:password`, and everything from the colon on. */
const HOST = /(?:^|[\n"'`])([\w.*-]{1,120}):$/;
/** The same within a sentence: a name with a dot, or the local host. */
const HOST_IN_PROSE = /[ \t(](?:localhost|\w[\w-]{0,62}(?:\.[\w-]{1,62}){1,6}):$/;
const REST = /:(?:\*|[\w.$-]{1,63}):(?:\*|[A-Za-z_][\w.$@-]{0,62}):((?:[^\s:\\"'`]|\\[:\\]){5,100})/y;
const LINE_END = /["'`]|\s*(?:\n|$)/y;
/** Default ports of PostgreSQL and its poolers. */
const PORT = /^(?:5432|5433|5439|6432|26257)$/;

/** A line of PostgreSQL's password file, found by its port at `[start, end)`. */
export function scanPgPass(view: ScannedView, start: number, end: number): void {
  const { text } = view;
  if (text.charCodeAt(start - 1) !== 58) return;
  const port = text.slice(start, end);
  if (!/^\d+$/.test(port)) return;
  REST.lastIndex = end;
  const match = REST.exec(text);
  if (match === null) return;
  const host = before(view, start, 124);
  LINE_END.lastIndex = REST.lastIndex;
  const isLine = HOST.test(host) && LINE_END.test(text);
  // The sign behind it may be one of the sentence.
  const password = isLine ? match[1] : match[1].replace(/[.,;!?)]+$/, "");
  if (!isLine && !HOST_IN_PROSE.test(host)) return;
  if (!isPassword(password, true) || isPlaceholder(password)) return;
  if (!(isLine && PORT.test(port)) && (kindsOf(password) < 3 || !/\d/.test(password))) return;
  const from = REST.lastIndex - match[1].length;
  report(view, "PASSWORD", from, from + password.length, 0.8);
}

const ORACLE = /thin:([\w$#.-]{1,64})\/("[^"\s]{3,100}"|[^@\s"'`<>/]{3,100})@(?:\/\/)?[\w.(\[-]{1,120}/y;

/**
 * An Oracle connection string with user and password: `jdbc:oracle:thin:user/password@host`. `start` is the
 * start of "thin".
 */
export function scanOracle(view: ScannedView, start: number): void {
  if (!/jdbc:oracle:$/i.test(before(view, start, 12))) return;
  ORACLE.lastIndex = start;
  const match = ORACLE.exec(view.text);
  if (!match || isName(match[2])) return;
  report(view, "DATABASE_CONNECTION_STRING", start - "jdbc:oracle:".length, ORACLE.lastIndex, 0.9);
  const from = start + "thin:".length;
  report(view, "BASIC_AUTH", from, from + match[1].length + 1 + match[2].length, 0.8);
}

/** A word used in place of a password in documentation. */
function isName(value: string): boolean {
  return /^(?:\$|\{|<|\[|%|\*+$|x+$)|^"?(?:pass(?:word|wd)?|pwd|secret|tiger|manager)"?$/i.test(value) ||
    isPlaceholder(value);
}

const SQLPLUS =
  /sqlplus\s(?:-\w{1,8}\s(?:\d\s)?){0,3}["']?([\w$#.-]{1,64})\/("[^"\s]{3,100}"|[^@\s"'`<>/]{3,100})@[\w/.(\[-]{1,120}/iy;

/** User and password for Oracle's client: `sqlplus user/password@host`. */
export function scanSqlPlus(view: ScannedView, start: number): void {
  SQLPLUS.lastIndex = start;
  const match = SQLPLUS.exec(view.text);
  if (!match || isName(match[2])) return;
  const from = start + match[0].indexOf(`${match[1]}/${match[2]}@`, "sqlplus".length);
  report(view, "BASIC_AUTH", from, from + match[1].length + 1 + match[2].length, 0.8);
}

/** `net use Z: \\host\share password /user:name`, possibly after options, and `net user name password /add`. */
const NET_USE =
  /use\s{1,4}(?:(?:[A-Za-z]:|\*)\s{1,4})?["']?\\{2,4}[^\s"']{1,200}["']?((?:\s{1,4}\/[^\s]{1,120}){0,4})\s{1,4}("[^"\n]{5,100}"|[^\s"'/\\*][^\s"']{4,99})((?:\s{1,4}\/[^\s]{1,120}){0,4})/iy;
const NET_USER =
  /user\s{1,4}["']?[\w.$-]{1,64}["']?\s{1,4}("[^"\n]{5,100}"|[^\s"'/\\*][^\s"']{4,99})(?=\s|$)/iy;

/** `use` or `user` at `[start, end)`, after Windows' `net`. */
export function scanNet(view: ScannedView, start: number, end: number): void {
  if (!/(?:^|[^\w-])net1?(?:\.exe)?\s{1,4}$/i.test(before(view, start, 12))) return;
  const form = end - start === 3 ? NET_USE : NET_USER;
  form.lastIndex = start;
  const match = form.exec(view.text);
  if (!match) return;
  const [, first, second, last] = match;
  if (form === NET_USE && !/\/u(?:ser)?:/i.test(first + last)) return;
  const written = form === NET_USE ? second : first;
  const value = written.startsWith('"') ? written.slice(1, -1) : written;
  if (!isPassword(value, true) || kindsOf(value) < 2) return;
  const from = form.lastIndex - (form === NET_USE ? last.length : 0) - written.length +
    (written === value ? 0 : 1);
  report(view, "PASSWORD", from, from + value.length, 0.7);
}

const COMMUNITY =
  /(?:snmp-server\s{1,4}community|r[ow]community6?|com2sec6?\s{1,4}[\w.-]{1,40}\s{1,4}[\w.:/-]{1,60}|(?:tacacs|radius)-server\s[^\n]{0,80}?\bkey)\s{1,4}(?:\d\s)?["']?([^\s"'<>[\]{}$%]{5,64})/iy;

/** The SNMP community, or the key of a TACACS or RADIUS server, in a device configuration. */
export function scanCommunity(view: ScannedView, start: number): void {
  COMMUNITY.lastIndex = start;
  const value = COMMUNITY.exec(view.text)?.[1];
  if (value === undefined || /^(?:public|private|community(?:-?string)?|string|default)$/i.test(value)) {
    return;
  }
  if (!isPassword(value, true)) return;
  report(view, "PASSWORD", COMMUNITY.lastIndex - value.length, COMMUNITY.lastIndex, 0.7);
}
