/**
 * Password hashes in the formats used by systems; they can be attacked offline.
 *
 * Formats: crypt(5), the modular crypt format and PHC strings, RFC 2307 for directories, Django, Werkzeug,
 * GRUB, PostgreSQL, and Kerberos tickets as written by recovery tools.
 */

import { DIGIT, JOINER } from "../character_class.ts";
import { entropy } from "../randomness.ts";
import type { Recognizer } from "../recognizer.ts";
import { before, report, type ScannedView } from "../scanned_view.ts";

const B64 = "[./A-Za-z0-9]";
const MODULAR = new RegExp(
  "\\$(?:" + [
    `2[abxy]?\\$\\d\\d\\$${B64}{53}`,
    `(?:1|apr1|md5)\\$${B64}{1,16}\\$${B64}{22}`,
    `5\\$(?:rounds=\\d{1,9}\\$)?${B64}{0,16}\\$${B64}{43}`,
    `6\\$(?:rounds=\\d{1,9}\\$)?${B64}{0,16}\\$${B64}{86}`,
    `g?y\\$${B64}{1,24}\\$${B64}{1,86}\\$${B64}{43}`,
    `7\\$${B64}{11,24}\\$${B64}{43}`,
    `[89]\\$${B64}{14}\\$${B64}{43}`,
    `sha1\\$\\d{1,9}\\$${B64}{1,64}\\$${B64}{28}`,
    `[PH]\\$${B64}{31}`,
    `S\\$${B64}{52}`,
    `argon2(?:id|i|d)\\$(?:v=\\d{1,3}\\$)?m=\\d{1,9},t=\\d{1,9},p=\\d{1,9}\\$[+/A-Za-z0-9]{8,88}\\$[+/A-Za-z0-9]{16,172}`,
    `(?:scrypt|bcrypt-sha256|pbkdf2(?:-sha\\d{1,3})?)\\$[=,\\w-]{1,60}\\$[./+=A-Za-z0-9$]{20,260}`,
    "krb5(?:tgs|asrep|pa|db)\\$[^\\s\"'`<>,;\\\\]{40,12000}",
  ].join("|") + ")(?![A-Za-z0-9])",
  "y",
);
const DIRECTORY =
  /\{(?:S?SHA(?:224|256|384|512)?|S?MD5|CRYPT|PBKDF2(?:[-_]SHA\d{1,3})?|ARGON2|BCRYPT)\}[$./+=,A-Za-z0-9]{20,260}/iy;
const FRAMEWORK =
  /(?:(?:pbkdf2_sha(?:1|256|512)|argon2|bcrypt(?:_sha256)?|scrypt)\$[$./+=,\w-]{40,300}|(?:pbkdf2:sha(?:1|256|512)(?::\d{1,8})?|scrypt:\d{1,8}:\d{1,3}:\d{1,3})\$[A-Za-z0-9./+]{4,64}\$[0-9a-f]{40,128}|grub\.pbkdf2\.sha\d{1,3}\.\d{1,9}\.[0-9A-F]{16,512}\.[0-9A-F]{64,512}|SCRAM-SHA-256\$\d{1,8}:[+/=A-Za-z0-9]{12,64}\$[+/=A-Za-z0-9]{40,48}:[+/=A-Za-z0-9]{40,48})/y;

function matched(view: ScannedView, pattern: RegExp, start: number): number | void {
  pattern.lastIndex = start;
  const match = pattern.exec(view.text);
  if (!match || entropy(match[0].slice(-20)) < 2.5) return;
  report(view, "PASSWORD_HASH", start, start + match[0].length, 0.95);
  return start + match[0].length;
}

function scanSign(view: ScannedView, at: number): number | void {
  return matched(view, view.text.charCodeAt(at) === 36 ? MODULAR : DIRECTORY, at);
}

function scanFramework(view: ScannedView, start: number): void {
  matched(view, FRAMEWORK, start);
}

const NAMED =
  /(?:ntlm(?:v2)?|(?<![a-z])(?:lm|nt)|password|passwd|passwort|kennwort|pwd|pass|user|login|shadow)[ _-]?(?:hash(?:es)?|digest|md5|sha-?\d{0,3})(?:\s?\(\w{1,12}\))?["'`\]]{0,2}\s{0,3}(?::|=>?|is|,)?\s{0,3}["'`]?$|(?:ntlm|rolpassword)["'`\]]{0,2}\s{0,3}[:=]\s{0,3}["'`]?(?:md5)?$/i;
/** A line of a dump of Windows accounts: name, number, two hashes. */
const DUMP = /[^\s:]{1,104}:\d{3,10}:[0-9a-f]{32}:$/i;

/** A hexadecimal hash can only be recognised by its name. */
function scanHex(view: ScannedView, start: number, end: number): void {
  const word = view.text.slice(start, end);
  if (!/^(?:[0-9a-f]+|[0-9A-F]+)$/.test(word)) return;
  const lead = before(view, start, 160);
  if (word.length === 32 && view.text.startsWith(":::", end) && DUMP.test(lead)) {
    report(view, "PASSWORD_HASH", start - 33, end, 0.95);
  } else if (NAMED.test(lead.slice(-48))) report(view, "PASSWORD_HASH", start, end, 0.8);
}

export const PASSWORD_HASH: Recognizer = {
  type: "PASSWORD_HASH",
  group: "SECRET",
  aliases: ["HASHED_PASSWORD", "BCRYPT_HASH", "CRYPT_HASH", "KERBEROS_HASH", "NTLM_HASH"],
  triggers: [
    { on: "sign", signs: "${", scan: scanSign },
    { on: "run", lengths: [6, 13], followedBy: "$", begins: "abps", scan: scanFramework },
    { on: "run", lengths: [12, 13], holds: DIGIT, followedBy: "$", begins: "bps", scan: scanFramework },
    { on: "run", lengths: [6], followedBy: ":", begins: "ps", scan: scanFramework },
    { on: "run", lengths: [4], followedBy: ".", begins: "g", scan: scanFramework },
    { on: "run", lengths: [32, 40, 64, 96, 128], lacks: JOINER, holds: DIGIT, scan: scanHex },
  ],
  samples: {
    found: [
      "root:«$2b$12$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy»:0",
      "«$1$etNnh7FA$OlM7eljE/B7F1J4XYNnk81»",
      "root:«$6$rounds=5000$usesomesillystri$D4IrlXatmP7rx3P3InaxBeoomnAihCKRVQAr/36eYSEAg1V6hm1B6ZjnVvGhXyqyvNyl5iTFbtmEeyjLvuhbf/»:19000",
      "«$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQxMjM0$RdescudvJCsgt3ub+b7dWRWJTmaaJObG7kQ3Xk2pQ1s»",
      "«$krb5tgs$23$*svc$CORP.LOCAL$http/web*$3f1b495289a4592257386d3f8fa22818$9bd44e3f7a6b1c2d0e5f8a9b7c6d5e4f»",
      "userPassword: «{SSHA}DkMTwBl+a/3DQTxCYEApdUtNXGgdUac3»",
      "«pbkdf2_sha256$260000$Qb2pYX7kLm3V$3f9Zk29xLm4Vb81RtYp03nWe5sHc9Jd2fQm7LxKp2Qz=»",
      "Administrator:500:«aad3b435b51404eeaad3b435b51404ee:8846f7eaee8fb117ad06bdd830b7586c»:::",
      "NTLM hash: «8846f7eaee8fb117ad06bdd830b7586c»",
      '["«$krb5tgs$23$*svc$CORP.LOCAL$http/web*$3f1b495289a4592257386d3f8fa22818$9bd44e3f7a6b1c2d0e5f8a9b7c6d5e4f»","b",{"n":12}]',
      "password_pbkdf2 root «grub.pbkdf2.sha512.10000.8846F7EAEE8FB117AD06BDD830B7586C.3F1B495289A4592257386D3F8FA228183F1B495289A4592257386D3F8FA22818»",
    ],
    clean: [
      "{ 'Content-MD5': '7895bf4b8828b55ceaf47747b4bca667' }",
      "root:$2b$12$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhW:0",
      "$1$short$abc",
      "cost is $2,000 and ${HOME}",
      "md5 8846f7eaee8fb117ad06bdd830b7586c",
      "{SHA} and {CRYPT} are schemes",
    ],
  },
};
