/**
 * Payment cards, bank accounts, bank codes, crypto-currency addresses.
 *
 * Sources: ISO/IEC 7812 and the schemes' published number ranges, SWIFT's IBAN registry (lengths and account
 * structures), ISO 9362 and 3166, BIP 13/173/350.
 */

import { createHash } from "node:crypto";
import { after, ALNUM, before, CLASS, type Field, isAlone, words } from "./field.ts";
import { luhn, mod97, repeated, two, weighted } from "./checksums.ts";
import type { NumberRule } from "./numbers.ts";

function card(s: string): boolean {
  const n = s.length;
  const two = Number(s.slice(0, 2));
  const four = Number(s.slice(0, 4));
  const known = (s[0] === "4" && (n === 13 || n === 16 || n === 19)) ||
    (n === 16 && ((two >= 51 && two <= 55) || (four >= 2221 && four <= 2720))) ||
    (n === 15 && (two === 34 || two === 37)) ||
    (n >= 16 && (two === 65 || four === 6011 || (four >= 6440 && four <= 6499))) ||
    (n === 14 &&
      (two === 36 || two === 38 || two === 39 || (four >= 3000 && four <= 3059) || four === 3095)) ||
    (n === 15 && (four === 2131 || four === 1800)) || (n >= 16 && four >= 3528 && four <= 3589) ||
    (n >= 16 && (two === 62 || two === 81 || two === 60)) ||
    (n >= 16 && four >= 2200 && four <= 2204) ||
    (n >= 12 && (two === 50 || two === 67 || two === 63 || (two >= 56 && two <= 59) || two === 61));
  return known && luhn(s) && !repeated(s);
}

function aba(s: string): boolean {
  const area = two(s, 0);
  if (!(area <= 12 || (area >= 21 && area <= 32) || (area >= 61 && area <= 72) || area === 80)) return false;
  return !repeated(s) && weighted(s, [3, 7, 1, 3, 7, 1, 3, 7, 1]) % 10 === 0;
}

const CARD_WORDS = words(
  "(?:credit|debit|bank|payment)?[ _-]*cards?(?:[ _-]*(?:no|num(?:ber)?|#))?",
  "ccn?(?:[ _-]*(?:no|num(?:ber)?))?",
  "visa|master ?card|amex|american express|discover|diners|jcb|maestro|union ?pay",
  "kreditkarte\\w*|carte|tarjeta|carta|cart[ãa]o",
);

export const ACCOUNTS: readonly NumberRule[] = [
  {
    type: "CREDIT_CARD",
    forms: [
      "9{16}",
      "9{15}",
      "9{14}=0.55",
      "9{19}=0.4",
      "9{18}=0.3",
      "9{17}=0.3",
      "9{13}=0.4",
      "9{12}=0.3",
      "9{4}~9{4}~9{4}~9{4}=0.9",
      "9{4}~9{6}~9{5}=0.9",
      "9{4}~9{6}~9{4}=0.85",
      "9{4}~9{4}~9{4}~9{4}~9{3}=0.85",
      "9{4}~9{4}~9{4}~9=0.6",
      "9{4}~9{4}~9{5}=0.5",
    ],
    check: card,
    label: CARD_WORDS,
    plain: 0.65,
  },
  {
    type: "ABA_ROUTING_NUMBER",
    forms: ["9{9}", "9{4}-9{4}-9=0.6", "9{3}-9{3}-9{3}", "9{4} 9{4} 9"],
    check: aba,
    label: words("aba", "routing(?:[ _-]*(?:no|num(?:ber)?|transit))?", "rtn", "bank ?routing", "wire"),
    plain: 0.3,
  },
  {
    type: "US_BANK_NUMBER",
    forms: ["9{8}", "9{9}", "9{10}", "9{11}", "9{12}", "9{13}", "9{14}", "9{15}", "9{16}", "9{17}", "9{7}"],
    label: words(
      "(?:bank|checking|savings?|debit|current)[ _-]*(?:acc(?:oun)?t|a/c)(?:[ _-]*(?:no|num(?:ber)?|#))?",
      "acc(?:oun)?t[ _-]*(?:no|num(?:ber)?|#)",
      "account(?= ?(?:is|:|#|\\d))",
    ),
    plain: 0,
    alone: 0,
    labelled: 0.65,
  },
  {
    type: "IMEI",
    forms: ["99-9{6}-9{6}-9=0.7", "9{15}", "99 9{6} 9{6} 9=0.6"],
    check: (s) => !repeated(s) && luhn(s),
    label: words("imei\\w*", "device id\\w*", "handset"),
    plain: 0.3,
  },
];

/** Country, whole length, and the account part's structure: n digits, a capitals, c either. */
const IBAN =
  "AD24n8c12 AE23n19 AL28n8c16 AT20n16 AZ28a4c20 BA20n16 BE16n12 BG22a4n6c8 BH22a4c14 BI27n23 BR29n23a1c1 " +
  "BY28c4n4c16 CH21n5c12 CR22n18 CY28n8c16 CZ24n20 DE22n18 DJ27n23 DK18n14 DO28c4n20 EE20n16 EG29n25 ES24n20 " +
  "FI18n14 FK18a2n12 FO18n14 FR27n10c11n2 GB22a4n14 GE22a2n16 GI23a4c15 GL18n14 GR27n7c16 GT28c24 HN28a4n20 HR21n17 HU28n24 " +
  "IE22a4n14 IL23n19 IQ23a4n15 IS26n22 IT27a1n10c12 JO30a4n4c18 KW30a4c22 KZ20n3c13 LB28n4c20 LC32a4c24 LI21n5c12 " +
  "LT20n16 LU20n3c13 LV21a4c13 LY25n21 MC27n10c11n2 MD24c20 ME22n18 MK19n3c10n2 MN20n16 MR27n23 MT31a4n5c18 " +
  "MU30a4n19a3 NI28a4n20 NL18a4n10 NO15n11 OM23n3c16 PK24a4c16 PL28n24 PS29a4c21 PT25n21 QA29a4c21 RO24a4c16 RS22n18 RU33n14c15 " +
  "SA24n2c18 SC31a4n20a3 SD18n14 SE24n20 SI19n15 SK24n20 SM27a1n10c12 SO23n19 ST25n21 SV28a4n20 TL23n19 TN24n20 " +
  "TR26n6c16 UA29n6c19 VA22n18 VG24a4n16 XK20n16 YE30a4n4c18 " +
  // Outside the registry, but in use: countries of the franc zone, French territories, some of Africa.
  "BI16n12 BF27n23 BJ28a1n23 CI28a2n22 DZ24n20 GT28c24 ML28a1n23 SN28a1n23 " +
  "AO25n21 BF28c2n22 BJ28c2n22 CF27n23 CG27n23 CI28c2n22 CM27n23 CV25n21 DZ26n22 GA27n23 GQ27n23 GW25c2n19 IR26n22 " +
  "KM27n23 MA28n24 MG27n23 ML28c2n22 MZ25n21 NE28a2n22 SN28c2n22 TD27n23 TG28a2n22 GF27n10c11n2 GP27n10c11n2 " +
  "MQ27n10c11n2 RE27n10c11n2 PF27n10c11n2 TF27n10c11n2 YT27n10c11n2 NC27n10c11n2 PM27n10c11n2 WF27n10c11n2 BL27n10c11n2 MF27n10c11n2";

const IBANS = new Map<string, { length: number; shape: RegExp }[]>();
for (const row of IBAN.split(" ")) {
  const [, country, length, structure] = /^(..)(\d\d)(.*)$/.exec(row)!;
  const shape = structure.replace(
    /([nac])(\d+)/g,
    (_, kind, n) => `${kind === "n" ? "[0-9]" : kind === "a" ? "[A-Z]" : "[A-Z0-9]"}{${n}}`,
  );
  const kind = { length: Number(length), shape: new RegExp(`^${shape}$`) };
  IBANS.set(country, [kind, ...IBANS.get(country) ?? []].sort((a, b) => b.length - a.length));
}

/** Tries for an IBAN whose country stands at `start`; single blanks or hyphens may part it anywhere. */
export function scanIban(field: Field, start: number): void {
  const text = field.text;
  if (start > 0 && (CLASS[text.charCodeAt(start - 1)] & ALNUM) !== 0) return;
  for (const kind of IBANS.get(text.slice(start, start + 2).toUpperCase()) ?? []) {
    if (isIban(field, start, kind)) return;
  }
}

function isIban(field: Field, start: number, kind: { length: number; shape: RegExp }): boolean {
  const text = field.text;
  let compact = "";
  let p = start;
  while (compact.length < kind.length && p < text.length) {
    const c = text.charCodeAt(p);
    if ((CLASS[c] & ALNUM) !== 0) compact += text[p];
    else if (!((c === 32 || c === 45) && (CLASS[text.charCodeAt(p + 1)] & ALNUM) !== 0)) break;
    p++;
  }
  if (compact.length !== kind.length || (CLASS[text.charCodeAt(p)] & ALNUM) !== 0) return false;
  // One more group of the same print form means a longer number than the country has.
  if (/^[ -]\d{1,4}(?![\w.,])/.test(text.slice(p, p + 6)) && / \S{4} /.test(text.slice(start, p))) {
    return false;
  }
  const upper = compact.toUpperCase();
  if (!kind.shape.test(upper.slice(4)) || mod97(upper.slice(4) + upper.slice(0, 4)) !== 1) return false;
  field.found.push({ type: "IBAN_CODE", start, end: p, confidence: 0.95 });
  return true;
}

const COUNTRIES = new Set(
  ("AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA " +
    "CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA " +
    "GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP " +
    "KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS " +
    "MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS " +
    "RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW " +
    "TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW").split(" "),
);
const BIC_WORDS = words("swift\\w*", "bic\\w*", "bank (?:code|identifier)");
const WIRE_WORDS = words("wire", "transfer\\w*", "correspondent", "beneficiary", "iban", "bank");

/** Tries the word at `[start, end)`, 8 or 11 long, as a bank identifier. */
export function scanSwift(field: Field, start: number, end: number): void {
  const word = field.text.slice(start, end);
  if (!/^[A-Z]{6}[A-Z2-9][A-NP-Z0-9](?:[A-Z0-9]{3})?$/.test(word) || !COUNTRIES.has(word.slice(4, 6))) return;
  const lead = before(field, start, 40);
  const confidence = BIC_WORDS.test(lead) || BIC_WORDS.test(after(field, end, 12))
    ? 0.9
    : WIRE_WORDS.test(lead) && !/[A-Z]{3,}\W+$/.test(lead)
    ? 0.6
    : field.focused && isAlone(field, start, end)
    ? 0.6
    : 0;
  if (confidence > 0) field.found.push({ type: "SWIFT_CODE", start, end, confidence });
}

const CVV =
  /(?:cvv2?|cvc2?|csc|cvn|card (?:verification|security) (?:value|code|number)|security code|verification (?:code|value))\b["']?\s*(?:is\b|no\.?|number|code)?\s*[:=#]?\s*["']?(\d{3,4})(?![\d\w.,-]*\d)/iy;

/** Tries for a card's security code named at `start`. */
export function scanCvv(field: Field, start: number): void {
  CVV.lastIndex = start;
  const match = CVV.exec(field.text);
  if (!match) return;
  const end = match.index + match[0].length;
  field.found.push({ type: "CVV", start: end - match[1].length, end, confidence: 0.8 });
}

const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
/** Version bytes: Bitcoin and its test network, Litecoin, Dogecoin, Dash, Zcash's two-byte ones start with 28. */
const VERSIONS = new Set([0, 5, 111, 196, 48, 50, 30, 22, 76, 16]);

/** Tries the word at `[start, end)` as an address. */
export function scanCrypto(field: Field, start: number, end: number): void {
  const word = field.text.slice(start, end);
  const length = word.length;
  const valid = length === 42 && /^0x[0-9a-fA-F]{40}$/.test(word)
    ? !repeated(word.slice(2))
    : length >= 26 && length <= 35 && /^[13mn2LMDX9A][1-9A-HJ-NP-Za-km-z]+$/.test(word)
    ? base58check(word)
    : length >= 14 && length <= 90 && /^(?:bc|tb|ltc)1[02-9ac-hj-np-z]+$/.test(word) && bech32(word);
  if (valid) field.found.push({ type: "CRYPTO", start, end, confidence: 0.95 });
}

function base58check(word: string): boolean {
  let n = 0n;
  for (const c of word) n = n * 58n + BigInt(BASE58.indexOf(c));
  const hex = n.toString(16).padStart(50, "0");
  if (hex.length !== 50) return false;
  const bytes = Uint8Array.from({ length: 25 }, (_, i) => parseInt(hex.slice(i * 2, i * 2 + 2), 16));
  if (!VERSIONS.has(bytes[0])) return false;
  const once = createHash("sha256").update(bytes.subarray(0, 21)).digest();
  const twice = createHash("sha256").update(once).digest();
  return twice.subarray(0, 4).every((b, i) => b === bytes[21 + i]);
}

function bech32(word: string): boolean {
  const split = word.lastIndexOf("1");
  const values = [...word.slice(0, split)].flatMap((c) => [c.charCodeAt(0) >> 5]);
  values.push(0, ...[...word.slice(0, split)].map((c) => c.charCodeAt(0) & 31));
  for (const c of word.slice(split + 1)) values.push(BECH32.indexOf(c));
  let sum = 1;
  for (const v of values) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ v;
    [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3].forEach((g, i) => {
      if ((top >>> i) & 1) sum ^= g;
    });
  }
  sum >>>= 0;
  return sum === 1 || sum === 0x2bc830a3;
}
