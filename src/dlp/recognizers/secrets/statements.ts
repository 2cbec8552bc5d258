/**
 * Passwords and keys recognised by the statement in which they are: commands that read a password from a pipe,
 * arguments of calls, pairs of user and password behind a word such as "credentials".
 */

import { LINE_START } from "../lines.ts";
import { isPlaceholder, looksRandom, strangeness } from "../randomness.ts";
import { DIGIT } from "../character_class.ts";
import type { Trigger } from "../recognizer.ts";
import { before, report, type ScannedView } from "../scanned_view.ts";
import { isPassword, kindsOf } from "./password.ts";

/** A form that begins with a word; the last group is the value. */
interface Statement {
  readonly form: RegExp;
  readonly isValue: (value: string) => boolean;
  /** What must precede the word. */
  readonly lead?: RegExp;
  readonly type: "PASSWORD" | "API_KEY" | "BASIC_AUTH";
}

const QUOTED = "[\"']([^\"'\\s]{5,100})[\"']";
const STRING = "[\"'][^\"'\\n]{0,120}[\"']";
const ARGUMENT = "[\"']?([^\\s\"'`<>|;]{6,100})";

/** With a digit or sign; a word alone may be anything. */
function isStated(value: string): boolean {
  return isPassword(value, true) && kindsOf(value) > 1 && (/\d/.test(value) || kindsOf(value) > 2) &&
    !/^[$%]|^\{|[\\/]/.test(value);
}

/** Not an identifier, path, file or version. */
function isChosen(value: string): boolean {
  if (value.length < 8 || !/\d/.test(value) || /[\\/]|\.\w{1,4}$|^[$%{(]/.test(value)) return false;
  return isPassword(value, true) &&
    (kindsOf(value) > 3 || kindsOf(value) > 2 && (strangeness(value) > 0.25 || /\d.*\d.*\d.*\d/.test(value)));
}

function isKey(value: string): boolean {
  return !isPlaceholder(value) && (looksRandom(value, true) || isChosen(value) && kindsOf(value) > 3);
}

/** Drawn by a program: letters of both cases and digits in no order that names have. */
function isDrawnAlone(value: string): boolean {
  return isChosen(value) && looksRandom(value, false);
}

/** A text in base64; null: it is none. */
function textOf(encoded: string): string | null {
  try {
    const text = atob(encoded);
    return /^[\x20-\x7e]{4,}$/.test(text) ? text : null;
  } catch {
    return null;
  }
}

/** An identity, a user and a password, divided by zeros. */
function isSaslPlain(encoded: string): boolean {
  try {
    return /^[^\0]{0,64}\0[\x21-\x7e]{1,64}\0[\x20-\x7e]{4,}$/.test(atob(encoded));
  } catch {
    return false;
  }
}

/** The first or second password of a user of SNMP: `createUser jo SHA "…" AES "…"`. */
function snmpUser(n: 1 | 2): RegExp {
  const key = (value: string) => `[ \\t]{1,4}[A-Z0-9-]{3,8}[ \\t]{1,4}["']?${value}["']?`;
  const value = "([^\\s\"'`<>]{5,100})";
  const before = n === 1 ? "" : key("[^\\s\"'`<>]{5,100}");
  return new RegExp(
    `createUser[ \\t]{1,4}(?:-e[ \\t]{1,4}\\w+[ \\t]{1,4})?["']?[\\w.-]{1,64}["']?${before}${key(value)}`,
    "iy",
  );
}

const LINE_OF_USER =
  /user[ \t]{1,4}[\w.@+-]{2,64}[ \t]{1,4}([^\s"'`<>]{8,100})(?=[ \t]*(?:\r?\n|$)|["'`][ \t]*[,;)}\]\s])/y;
const AT_LINE_START = new RegExp(`${LINE_START}$`);
const AFTER_TAG = new RegExp(`${LINE_START}(?:[CS]:[ \\t]{1,4})?[A-Za-z]{0,4}\\d{1,6}[ \\t]$`);

const PIPED: Statement = {
  form: new RegExp(
    "\\w+\\s{1,4}(?:-[neE]{1,3}\\s{1,4})?[\"']?(?:[\\w.-]{1,32}:)?([^\\s\"'`<>|:]{5,100})[\"']?\\s{0,4}\\|\\s{0,4}(?:sudo\\s{1,4})?" +
      "(?:chpasswd|smbpasswd|passwd\\s[^\\n|]{0,40}--stdin|sudo\\s{1,4}-\\w{0,4}S|(?:docker|podman|helm|oras|crane|skopeo|nerdctl|buildah|gh|glab|argocd|az)\\s[^\\n|]{0,160}(?:--password-stdin|--with-token|-p)|gpg\\s[^\\n|]{0,160}--passphrase-fd|cryptsetup\\s|kinit\\b|su\\s)",
    "iy",
  ),
  isValue: isStated,
  type: "PASSWORD",
};
const SIGNED: Statement = {
  form: new RegExp(`\\w+\\(\\s{0,8}${STRING},\\s{0,8}b?["']([^"'\\n]{12,128})["']`, "iy"),
  isValue: isKey,
  type: "API_KEY",
};
const TYPED: Statement = {
  form: new RegExp(`\\w+\\(\\s{0,4}${QUOTED}`, "y"),
  lead: /pass(?:word|wd|phrase|code)?["'\]]{0,4}\s{0,4}\){0,2}\.$/i,
  isValue: isStated,
  type: "PASSWORD",
};
const PAIR = "[\"'`(]{0,2}[\\w.@+-]{2,64}[\"'`]?(?:\\s?[/|]\\s?|:)[\"'`]?([^\\s\"'`<>,;)]{8,64})";
const GIVEN: Statement = {
  form: new RegExp(
    `\\w+(?:[ \\t](?:for|to|für|pour|para|per|do|voor)[ \\t][\\w .-]{1,40})?[ \\t]?(?:[:=]|are|is|sind|lauten|lautet|sont|son|sono|zijn|to|were)?[ \\t]{0,3}\\n?[ \\t]{0,4}${PAIR}`,
    "iy",
  ),
  isValue: (value) => isChosen(value.replace(/[.!?]+$/, "")) || isChosen(value),
  type: "PASSWORD",
};

const OF_ADMIN: Statement = {
  form: /\w+["'`]?(?:\s?[/|]\s?|:)["'`]?([^\s"'`<>,;)]{8,64})/y,
  isValue: (value) => isChosen(value) && kindsOf(value) > 3,
  type: "PASSWORD",
};

/** A pair of a user and a password behind the names of both: `id/pw: jo / …`. */
const NAMED_PAIR: Statement = {
  form: new RegExp(`\\w+[)\\]]?[ \\t]?(?:[:=(]|->|-|are|is)?[ \\t]{0,3}${PAIR}`, "iy"),
  lead: /(?:\bid|user(?: ?name)?|login|account|계정|아이디)[)\]]?[ \t]?[/&,|][ \t]?[([]?$/i,
  isValue: (value) => isStated(value.replace(/[.!?]+$/, "")),
  type: "PASSWORD",
};

/** By the word in lower case. */
const STATEMENTS: Readonly<Record<string, readonly Statement[]>> = {
  echo: [PIPED],
  printf: [PIPED],
  createhmac: [SIGNED],
  hmac: [{
    form: /hmac\.(?:new|HMAC)\(\s{0,8}(?:key\s?=\s?)?b?["']([^"'\n]{12,128})["']/y,
    isValue: isKey,
    type: "API_KEY",
  }],
  jwt: [{
    form:
      /jwt\.(?:sign|verify|encode|decode)\([^\n"']{1,160}(?:["'][^"'\n]{0,40}["'][^\n"']{0,80}){0,6}?,\s{0,4}["']([^"'\n]{12,128})["']/iy,
    isValue: isKey,
    type: "API_KEY",
  }],
  auth: [
    {
      form: new RegExp(`auth\\s?[=:]\\s?[([]\\s{0,8}${STRING}\\s?,\\s{0,8}${QUOTED}`, "y"),
      isValue: isStated,
      type: "PASSWORD",
    },
    {
      form: /auth\s{1,4}[\w.-]{1,40}:([^\s"'`]{5,100})/y,
      lead: /stats\s{1,4}$/,
      isValue: isStated,
      type: "PASSWORD",
    },
  ],
  login: [
    {
      form: new RegExp(`login\\(\\s{0,8}${STRING}\\s?,\\s{0,8}${QUOTED}`, "y"),
      lead: /\.$/,
      isValue: isStated,
      type: "PASSWORD",
    },
    {
      form:
        /login[ \t]{1,4}["']?[\w.@+-]{1,64}["']?[ \t]{1,4}["']?([^\s"'`<>]{6,100})(?=[ \t]*(?:\r?\n|$)|["'`][ \t]*(?:[,;)}\]\s]|$))/iy,
      lead: AFTER_TAG,
      isValue: isStated,
      type: "PASSWORD",
    },
    GIVEN,
  ],
  connect: [
    {
      form: new RegExp(`connect\\(\\s{0,8}[^,\\n]{1,160},\\s{0,8}${STRING}\\s?,\\s{0,8}${QUOTED}`, "y"),
      lead: /DBI->$/,
      isValue: isStated,
      type: "PASSWORD",
    },
    {
      form: /connect\s{1,4}[\w$#.]{1,40}\/"?([^\s"'`<>/@]{5,100})"?@[\w/.(-]/iy,
      isValue: isStated,
      type: "PASSWORD",
    },
  ],
  tcp: [{
    form: /(?:)/y,
    lead: /["'`=][\w.-]{1,40}:([^\s"'`]{5,100})@$/,
    isValue: isStated,
    type: "PASSWORD",
  }],
  setuser: [{
    form: /setuser\s{1,4}\S{1,64}\s[^\n]{0,120}?>([^\s"'`<>]{5,100})/iy,
    isValue: isStated,
    type: "PASSWORD",
  }],
  htpasswd: [{
    form:
      /htpasswd\s{1,4}-\w{0,4}b\w{0,4}\s{1,4}(?:-\w{1,4}\s{1,4}){0,3}\S{1,200}\s{1,4}\S{1,64}\s{1,4}["']?([^\s"'`<>|;]{5,100})/y,
    isValue: isStated,
    type: "PASSWORD",
  }],
  alias: [{
    form: new RegExp(
      `alias\\s{1,4}set\\s{1,4}\\S{1,40}\\s{1,4}https?://\\S{1,200}\\s{1,4}\\S{1,64}\\s{1,4}${ARGUMENT}`,
      "y",
    ),
    lead: /\bmc\s{1,4}(?:--\w+\s{1,4}){0,2}$/,
    isValue: isStated,
    type: "PASSWORD",
  }],
  unseal: [{
    form: /unseal\skey(?:\s\d{1,2})?\s?[:=]\s{0,4}([A-Za-z0-9+/]{43,90}={0,2})/iy,
    isValue: (value) => looksRandom(value, false),
    type: "API_KEY",
  }],
  plain: [{
    form: /plain[ \t]{1,4}([A-Za-z0-9+/]{12,400}={0,2})(?=\s|$)/iy,
    lead: /\bauth(?:enticate)?[ \t]{1,4}$/i,
    isValue: isSaslPlain,
    type: "BASIC_AUTH",
  }],
  // "Password:" in base64, with which a mail server asks for it.
  ugfzc3dvcmq6: [{
    form: /\w+\s{1,4}(?:[\w.]{1,16}[:>]\s{1,4})?([A-Za-z0-9+/]{8,200}={0,2})(?=\s|$)/y,
    lead: /334[ \t]{1,4}$/,
    isValue: (value) => textOf(value) !== null,
    type: "PASSWORD",
  }],
  identify: [{
    form: /identify[ \t]{1,4}(?:[\w[\]{}|^`-]{1,32}[ \t]{1,4})?([^\s"'`<>]{5,100})/iy,
    lead: /NickServ[ \t:]{1,4}$/i,
    isValue: isStated,
    type: "PASSWORD",
  }],
  createuser: [
    { form: snmpUser(1), isValue: isStated, type: "PASSWORD" },
    { form: snmpUser(2), isValue: isStated, type: "PASSWORD" },
  ],
  rootpw: [{
    form: /rootpw(?:[ \t]{1,4}--\w{2,20}){1,3}[ \t]{1,4}["']?([^\s"'`<>]{5,100})/y,
    isValue: isStated,
    type: "PASSWORD",
  }],
  rp: [{
    form: /rp[ \t]{1,4}["']?([^\s"'`<>|;]{5,100})/iy,
    lead: /\bschtasks\b[^\n]{0,200}\s\/$/i,
    isValue: isStated,
    type: "PASSWORD",
  }],
  enc: [{
    form: /ENC[ \t]{1,4}["']?([A-Za-z0-9+/]{16,400}={0,2})(?=["'\s]|$)/y,
    lead: /\bset[ \t]{1,4}[\w-]{2,40}[ \t]{1,4}$/i,
    isValue: (value) => looksRandom(value, true),
    type: "PASSWORD",
  }],
  content: [{
    form: /content[ \t]{1,24}:[ \t]{1,4}([^\s"'`<>]{5,64})/iy,
    lead: /\bkey[ \t]$/i,
    isValue: isStated,
    type: "PASSWORD",
  }],
  user: [
    // A script of a client for FTP.
    { form: LINE_OF_USER, lead: AT_LINE_START, isValue: isDrawnAlone, type: "PASSWORD" },
    {
      form: /user[ \t]{1,4}[\w.:-]{1,64}[ \t][^\n]{0,120}?[ \t]>([^\s"'`<>]{5,100})/y,
      lead: AT_LINE_START,
      isValue: isStated,
      type: "PASSWORD",
    },
  ],
  send_keys: [TYPED],
  sendkeys: [TYPED],
  setvalue: [TYPED],
  set_value: [TYPED],
  fill: [TYPED],
  type: [TYPED],
  p: [{
    form: /p:["']?([^\s"'`]{5,100})/y,
    lead: /(?:freerdp|mstsc|rdesktop)[^\n|;]{0,160}\s\/$|\s\/u:\S{1,64}\s{1,4}\/$/i,
    isValue: isStated,
    type: "PASSWORD",
  }],
  pw: [NAMED_PAIR],
  pwd: [NAMED_PAIR],
  pass: [NAMED_PAIR],
  passwd: [NAMED_PAIR],
  password: [NAMED_PAIR],
  client: [{
    form: /client\(\s{0,8}["']AC[0-9a-f]{32}["']\s?,\s{0,8}["']([0-9a-f]{32})["']/iy,
    isValue: (value) => looksRandom(value, true),
    type: "API_KEY",
  }],
  admin: [OF_ADMIN],
  administrator: [OF_ADMIN],
  root: [OF_ADMIN],
  credentials: [GIVEN],
  creds: [GIVEN],
  logins: [GIVEN],
  zugangsdaten: [GIVEN],
  anmeldedaten: [GIVEN],
  identifiants: [GIVEN],
  credenciales: [GIVEN],
  credenziali: [GIVEN],
  credenciais: [GIVEN],
  inloggegevens: [GIVEN],
};
const WORDS = new Map(Object.entries(STATEMENTS));

function scanStatement(view: ScannedView, start: number, end: number): void {
  const { text } = view;
  const statements = WORDS.get(text.slice(start, end).toLowerCase());
  if (statements === undefined) return;
  for (const { form, lead, isValue, type } of statements) {
    form.lastIndex = start;
    const match = form.exec(text);
    if (match === null) continue;
    const ahead = lead === undefined ? null : lead.exec(before(view, start, 220));
    if (lead !== undefined && ahead === null) continue;
    let value = match[1];
    let from = start + match[0].lastIndexOf(value ?? "");
    if (value === undefined) {
      value = ahead?.[1] ?? "";
      from = start - 1 - value.length;
    }
    if (!isValue(value)) continue;
    report(view, type, from, from + value.length, 0.7);
  }
}

export const STATEMENT_TRIGGERS: readonly Trigger[] = [
  {
    on: "run",
    lengths: [2, 3, 4, 5, 6, 7, 8, 10],
    begins: "ceiprsuha",
    followedBy: " ",
    scan: scanStatement,
  },
  { on: "run", lengths: [3, 4, 5, 6, 7, 8, 9, 10], begins: "tfslc", followedBy: "(", scan: scanStatement },
  { on: "run", lengths: [3, 4], begins: "jh", followedBy: ".", scan: scanStatement },
  { on: "run", lengths: [4], begins: "a", followedBy: "=", scan: scanStatement },
  { on: "run", lengths: [1], begins: "p", followedBy: ":", scan: scanStatement },
  { on: "run", lengths: [4, 5, 6, 11, 12, 13], begins: "clzaiur", scan: scanStatement },
  { on: "run", lengths: [2, 3, 4, 6, 8], begins: "p", lacks: DIGIT, scan: scanStatement },
  { on: "run", lengths: [12], holds: DIGIT, begins: "u", scan: scanStatement },
];
