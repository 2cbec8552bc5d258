/**
 * Passwords and keys recognised by the statement in which they are: commands that read a password from a pipe,
 * arguments of calls, pairs of user and password behind a word such as "credentials".
 */

import { isPlaceholder, looksRandom, strangeness } from "../randomness.ts";
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
    return;
  }
}

export const STATEMENT_TRIGGERS: readonly Trigger[] = [
  { on: "run", lengths: [4, 5, 6, 7, 8], begins: "epsuhac", followedBy: " ", scan: scanStatement },
  { on: "run", lengths: [3, 4, 5, 7, 8, 9, 10], begins: "tfslc", followedBy: "(", scan: scanStatement },
  { on: "run", lengths: [3, 4], begins: "jh", followedBy: ".", scan: scanStatement },
  { on: "run", lengths: [4], begins: "a", followedBy: "=", scan: scanStatement },
  { on: "run", lengths: [1], begins: "p", followedBy: ":", scan: scanStatement },
  { on: "run", lengths: [4, 5, 6, 11, 12, 13], begins: "clzaiur", scan: scanStatement },
];
