/**
 * Passwords and keys recognised by their position: options and arguments of commands and calls, Wi-Fi QR
 * codes, and key files without PEM markers.
 */

import { entropy, isPlaceholder, strangeness } from "../randomness.ts";
import { before, report, type ScannedView } from "../scanned_view.ts";
import { isPassword, kindsOf } from "./password.ts";

/** Maximum distance of a command's name before the option. */
const COMMAND_WITHIN = 160;
const SNMP = /\bsnmp(?:(?:bulk)?(?:walk|get)|getnext|set|table|trap|inform|status|df)\b(?:(?!&&)[^\n|;])*$/i;
const COMMANDS: Readonly<Record<string, RegExp>> = {
  p: /\b(?:sshpass|docker|podman|nerdctl|buildah|skopeo|helm|oc|az|mongo\w*|mysql\w*|mariadb[\w-]*|psexec\w*|cf|7z[arz]?|(?:un)?rar|[rx]desktop|cqlsh|nxc|crackmapexec|evil-winrm|smbmap|iscsiadm|ansible-vault|plink|pscp|psftp|putty)\b(?:(?!&&)[^\n|;])*$/i,
  P: /\b(?:sqlcmd|bcp|isql|osql|unzip|zip|ipmitool|mosquitto_[pr]\w+|mosquitto_sub)\b(?:(?!&&)[^\n|;])*$/i,
  a: /\b(?:(?:redis|valkey)-cli|(?<![/.])https?|xhs?)\b(?!:)(?:(?!&&)[^\n|;])*$/i,
  k: /\bopenssl\b(?:(?!&&)[^\n|;])*$/i,
  A: SNMP,
  X: SNMP,
  c: SNMP,
  N: /\bssh-keygen\b(?:(?!&&)[^\n|;])*$/i,
  U: /\b(?:smbclient|winexe|rpcclient|smbget|smbmap|net)\b(?:(?!&&)[^\n|;])*$/i,
  u: /\blftp\b(?:(?!&&)[^\n|;])*$/i,
  w: /\bldap(?:search|add|modify|delete|whoami)\b(?:(?!&&)[^\n|;])*$/i,
};
const VALUE = /\s{0,3}(?:"([^"\s]{5,100})"|'([^'\s]{5,100})'|([^\s"'`<>|;]{5,100}))/y;
/** Commands whose option value is attached to the option, and those where it may be. */
const GLUED = /^(?:mysql|mariadb|7z|(?:un)?rar)/i;
const MAYBE_GLUED = /^sshpass/i;
/** Options of more than one letter. */
const LONGER = /-(?:pw|hp)(?=[ \t])|-hp/y;

const PAIRED: Readonly<Record<string, RegExp>> = {
  U: /^[\w.@$/\\-]{1,64}%(.{5,100})$/,
  a: /^[\w.@$-]{1,64}:(.{5,100})$/,
  u: /^[\w.@$-]{1,64},(.{5,100})$/,
};

/** A one-letter option at `start`, such as `-p`: the value after it. */
export function scanOption(view: ScannedView, start: number): void {
  const { text } = view;
  const commands = COMMANDS[text[start + 1]];
  const prev = text.charCodeAt(start - 1);
  if (commands === undefined || prev !== 32 && prev !== 9) return;
  const command = commands.exec(before(view, start, COMMAND_WITHIN))?.[0];
  if (command === undefined) return;
  LONGER.lastIndex = start;
  const end = LONGER.test(text) ? LONGER.lastIndex : start + 2;
  const blank = text.charCodeAt(end) <= 32;
  // For these commands a separate value is a database or file name.
  if (blank === GLUED.test(command) && !MAYBE_GLUED.test(command)) return;
  VALUE.lastIndex = end;
  const match = VALUE.exec(text);
  let value = match?.[1] ?? match?.[2] ?? match?.[3];
  // The user may stand in front: `-U jo%…`, `-u jo,…`.
  const user = /redis|valkey/i.test(command) ? undefined : PAIRED[text[start + 1]];
  if (user !== undefined) value = value?.replace(/^"/, "").match(user)?.[1];
  if (value === undefined || /^[-$]|^\d+:\d+$|[/\\]/.test(value)) return;
  if (!isPassword(value, true) || kindsOf(value) < 2 || !/\d/.test(value)) return;
  const at = VALUE.lastIndex - value.length - (match![3] === undefined ? 1 : 0);
  report(view, "PASSWORD", at, at + value.length, 0.7);
}

const STRING = "(?:\"[^\"\\n]{0,120}\"|'[^'\\n]{0,120}'|[\\w$.>-]{1,60})";
/** The password among the arguments of a call; `ConvertTo-SecureString` has no brackets. */
const CALL = new RegExp(
  `(?:(?:NetworkCredential|HTTPBasicAuth|UsernamePasswordCredentials|PasswordAuthentication|(?:[Ss]et)?[Bb]asicAuth|basic_auth|BasicCredentials|UsernamePasswordCredential)\\s?\\(?\\s{0,20}${STRING}\\s?,\\s{0,20}` +
    `|DirectoryEntry\\s?\\(\\s{0,20}${STRING}\\s?,\\s{0,20}${STRING}\\s?,\\s{0,20}` +
    `|mysqli(?:_connect)?\\s?\\(\\s{0,20}${STRING}\\s?,\\s{0,20}${STRING}\\s?,\\s{0,20}` +
    `|(?:PDO|getConnection)\\s?\\(\\s{0,20}${STRING}\\s?,\\s{0,20}${STRING}\\s?,\\s{0,20}` +
    `|ConvertTo-SecureString\\s(?:-String\\s)?)["']([^"'\\s]{5,100})["']`,
  "y",
);
const CALLED =
  /^(?:NetworkCredential|HTTPBasicAuth|UsernamePasswordCredentials?|PasswordAuthentication|(?:[Ss]et)?[Bb]asicAuth|basic_auth|BasicCredentials|DirectoryEntry|mysqli(?:_connect)?|PDO|getConnection|ConvertTo-SecureString)$/;

/** A run followed by a bracket or space: a call with a password among its arguments. */
export function scanCall(view: ScannedView, start: number, end: number): void {
  const { text } = view;
  if (!CALLED.test(text.slice(start, end))) return;
  CALL.lastIndex = start;
  const value = CALL.exec(text)?.[1];
  if (value === undefined || !isPassword(value, true) || kindsOf(value) < 2) return;
  report(view, "PASSWORD", CALL.lastIndex - 1 - value.length, CALL.lastIndex - 1, 0.7);
}

const WIFI = /WIFI:(?:[A-OQ-Z]:(?:[^;\\\n]|\\.){0,64};){0,5}P:((?:[^;\\\n]|\\.){8,64});/y;

/** The content of a Wi-Fi QR code: `WIFI:S:name;T:WPA;P:key;;` */
export function scanWifi(view: ScannedView, start: number): void {
  WIFI.lastIndex = start;
  const key = WIFI.exec(view.text)?.[1];
  if (key === undefined || isPlaceholder(key)) return;
  report(view, "PASSWORD", WIFI.lastIndex - 1 - key.length, WIFI.lastIndex - 1, 0.85);
}

const SIGNATURE = /sig=([A-Za-z0-9+/%]{42,80}(?:=|%3[dD])|[A-Za-z0-9_-]{43}(?![\w-]))/y;

/** The signature in a URL (SAS) for Azure Storage or Service Bus. */
export function scanSignature(view: ScannedView, start: number): void {
  SIGNATURE.lastIndex = start;
  const signature = SIGNATURE.exec(view.text)?.[1];
  if (signature === undefined) return;
  const around = before(view, start, 240) + view.text.slice(SIGNATURE.lastIndex, SIGNATURE.lastIndex + 160);
  if (!/[?&;\s](?:sv|se|sr|skoid)=/.test(around)) return;
  report(view, "AZURE_KEY", SIGNATURE.lastIndex - signature.length, SIGNATURE.lastIndex, 0.9);
}

const SSH2 = /---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----[^-]{24,12000}(?:---- END[A-Z0-9 ]{0,40}----|$)/y;
const PUTTY = /Private-Lines: \d{1,3}\r?\n((?:[A-Za-z0-9+/=]{1,64}(?:\r?\n|$)){1,100})/y;

/** Private keys in the file formats of SSH2 and PuTTY. */
export function scanKeyFile(view: ScannedView, start: number): void {
  const ssh2 = view.text.charCodeAt(start) === 45;
  const form = ssh2 ? SSH2 : PUTTY;
  form.lastIndex = start;
  const match = form.exec(view.text);
  if (!match) return;
  const key = ssh2 ? match[0] : match[1].trimEnd();
  const from = start + match[0].indexOf(key);
  report(view, "PRIVATE_KEY", from, from + key.length, 0.95);
}

/** Names of keys with a word that says what they are for, and of salts and tokens. */
const KEY_NAME =
  /(?:(?:api|secret|access|auth|private|signing|signature|encryption|session|master|service|app|client|deploy|bot|admin|user|root|jwt|csrf|hmac|license|storage|shared|bearer|refresh|webhook|hub|lab|ci|npm|sonar|vault)[_-]?(?:key|token)|[_-](?:key|salt)|key[_-]base|(?<![a-z])token)$/i;
const SIGNED =
  /(?:["']?\)?\]?\s{0,32}(?:: ?&?(?:str|[Ss]tring)\s?=|=>|:=|[=:,])\s{0,32}(?:["']([^"'\n]{8,128})(?=["'])|([^\s"'`<>(){}[\],;\\]{8,128})(?=["'\s]|$))|\s(?:--body[ =])?["']([^"'\s]{8,128})(?=["']))/y;

/** A key, token or salt with signs such as `!` and `#`, which other keys do not have. */
export function scanSignedKey(view: ScannedView, start: number, end: number): void {
  const { text } = view;
  if (
    !isSignAhead(text, end) ||
    !KEY_NAME.test(text.slice(Math.max(start, end - 24), end)) && !isWifiKey(view, start, end)
  ) return;
  SIGNED.lastIndex = end;
  const match = SIGNED.exec(text);
  const value = match?.[1] ?? match?.[2] ?? match?.[3];
  if (value === undefined || isPlaceholder(value) || !isSigned(value) && !isLongSigned(value)) return;
  report(view, "GENERIC_SECRET", SIGNED.lastIndex - value.length, SIGNED.lastIndex, 0.7);
}

/** "Key" beside the name of a wireless network. */
function isWifiKey(view: ScannedView, start: number, end: number): boolean {
  return end - start === 3 && /\b(?:wi-?fi|wlan|ssid)\b/i.test(before(view, start, 100));
}

/** Whether one of the signs is in the rest of the line: most keys have none. */
function isSignAhead(text: string, from: number): boolean {
  for (let i = from, stop = Math.min(text.length, from + 180); i < stop; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 128 && SIGNS[unit] === 1) return true;
    if (unit === 10) return false;
  }
  return false;
}

const SIGNS = new Uint8Array(128);
for (const sign of "!#$%^&*()?+~@;|[]{}") SIGNS[sign.charCodeAt(0)] = 1;

/** Letters of both cases, digits and signs in one word, as password generators make it. */
function isSigned(value: string): boolean {
  return kindsOf(value) === 4 && (/\d.*\d/.test(value) || strangeness(value) > 0.3) &&
    /[!#$%^&*?+~@|]/.test(value) &&
    /^[\w!#$%^&*?+~@|.:=-]+$/.test(value) && !/^[$%#@&]|[$%#@&]\{|^\w+:|&\w+=|\w@\w+\.\w/.test(value);
}

/** A long value with several signs, as Django and WordPress generate keys. */
function isLongSigned(value: string): boolean {
  return value.length >= 24 && (value.match(/[!#$%^&*()?+~@;|[\]{}]/g)?.length ?? 0) > 2 &&
    /\d/.test(value) &&
    !/\s\w+\s\w+\s|&\w+=|%[0-9A-Fa-f]{2}/.test(value) && entropy(value) >= 4;
}
