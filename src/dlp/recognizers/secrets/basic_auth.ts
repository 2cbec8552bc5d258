/** User name and password together: in a URL, an Authorization header, or a command option. */

import { isPlaceholder, looksRandom } from "../randomness.ts";
import { before, report, type ScannedView } from "../scanned_view.ts";
import { isPassword } from "./password.ts";

const USERINFO = /:\/\/([^\s:/@"'<>`{}$%()[\]]{0,80}):([^\s/@"'<>`]{1,120})@[A-Za-z0-9[\]._-]{1,253}/y;
const DATABASES =
  /(?:mongodb(?:\+srv)?|postgres(?:ql)?(?:\+\w+)?|mysql(?:\+\w+)?|mariadb|rediss?|amqps?|mssql(?:\+\w+)?|sqlserver|oracle|clickhouse|jdbc:\w+|couchbases?|cassandra|neo4j(?:\+s)?|bolt|kafka|nats|ldaps?)$/i;

/** `://` at `at`: a URL with user name and password before the host. */
export function scanUserinfo(view: ScannedView, at: number): void {
  const text = view.text;
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
  const scheme = before(view, at, 24).match(/[A-Za-z][A-Za-z0-9+:]*$/)?.[0] ?? "";
  const start = at + 3;
  const end = start + match[1].length + 1 + password.length;
  if (DATABASES.test(scheme)) {
    report(view, "DATABASE_CONNECTION_STRING", at - scheme.length, at + match[0].length, 0.9);
    report(view, "BASIC_AUTH", start, end, 0.8);
  } else report(view, "BASIC_AUTH", start, end, 0.85);
}

const HEADER = /(?:basic|bearer|token|apikey)\s{1,3}([A-Za-z0-9+/_.~=-]{12,600})/iy;

/** `Authorization: Bearer …` and similar; `start` is the start of the scheme. */
export function scanAuthorization(view: ScannedView, start: number): void {
  HEADER.lastIndex = start;
  const match = HEADER.exec(view.text);
  if (!match || !/(?:auth\w*|["'\s])["']?\s{0,2}[:=]?\s{0,2}["']?$/i.test(before(view, start, 24))) return;
  const value = match[1];
  const basic = /^basic/i.test(match[0]);
  if (!looksRandom(value, !basic) || isPlaceholder(value)) return;
  const from = start + match[0].length - value.length;
  report(view, basic ? "BASIC_AUTH" : "API_KEY", from, from + value.length, 0.8);
}

const CURL_USER =
  /(?:-u|--user)[ =]{1,3}(?:"([^"\s:]{0,80}:[^"\s]{1,120}|[^"\s:]{1,80}:)"|'([^'\s:]{0,80}:[^'\s]{1,120})'|([^\s:"']{1,80}:[^\s"']{3,120}))/y;

/** User name and password of a command option `-u` or `--user`. */
export function scanUserOption(view: ScannedView, start: number): void {
  CURL_USER.lastIndex = start;
  const match = CURL_USER.exec(view.text);
  if (!match || !/curl|wget|http|rest|docker|mysql|psexec/i.test(before(view, start, 200))) return;
  const pair = match[1] ?? match[2] ?? match[3];
  const colon = pair.indexOf(":");
  const password = pair.slice(colon + 1) || pair.slice(0, colon);
  if (!isPassword(password, true) || /^(?:user|name|pass|\$|<|\[)/i.test(password)) return;
  const end = match.index + match[0].length - (match[3] ? 0 : 1);
  report(view, "BASIC_AUTH", end - pair.length, end, 0.8);
}

/** Quotes may be escaped: decoding the text decodes the value too. */
const REGISTRY_AUTH = /auth\\{0,8}"\s{0,8}:\s{0,8}\\{0,8}"([A-Za-z0-9+/]{6,4000}={0,2})(?=\\{0,8}")/y;

/** The user and password of a registry in a Docker configuration: `{"auths": {"host": {"auth": "…"}}}`. */
export function scanRegistryAuth(view: ScannedView, start: number): void {
  if (view.text.charCodeAt(start - 1) !== 34) return;
  REGISTRY_AUTH.lastIndex = start;
  const encoded = REGISTRY_AUTH.exec(view.text)?.[1];
  if (encoded === undefined) return;
  let decoded = "";
  try {
    decoded = atob(encoded);
  } catch {
    return;
  }
  const [, password] = /^[\x21-\x39\x3b-\x7e]{1,255}:([\x20-\x7e]+)$/.exec(decoded) ?? [];
  if (password === undefined || isPlaceholder(password)) return;
  const end = REGISTRY_AUTH.lastIndex;
  report(view, "BASIC_AUTH", end - encoded.length, end, 0.9);
}
