/**
 * IBANs. Source: SWIFT's registry (lengths and account structures).
 *
 * Not ibantools: version 4.5.4 rejects accounts that the registry allows (digits in the bank codes of BY and
 * DO; PK; PS), and lacks forms in use outside of the registry.
 */

import { DIGIT, isAlphanumeric, isDigit, LETTER, LOWER, UPPER } from "./character_class.ts";
import { mod97 } from "./checksums.ts";
import type { Recognizer } from "./recognizer.ts";
import { report, type ScannedView } from "./scanned_view.ts";

/** Country, total length, and structure of the account part: n digits, a capitals, c either. */
const IBAN =
  "AD24n8c12 AE23n19 AL28n8c16 AT20n16 AZ28a4c20 BA20n16 BE16n12 BG22a4n6c8 BH22a4c14 BI27n23 BR29n23a1c1 " +
  "BY28c4n4c16 CH21n5c12 CR22n18 CY28n8c16 CZ24n20 DE22n18 DJ27n23 DK18n14 DO28c4n20 EE20n16 EG29n25 ES24n20 " +
  "FI18n14 FK18a2n12 FO18n14 FR27n10c11n2 GB22a4n14 GE22a2n16 GI23a4c15 GL18n14 GR27n7c16 GT28c24 HN28a4n20 HR21n17 HU28n24 " +
  "IE22a4n14 IL23n19 IQ23a4n15 IS26n22 IT27a1n10c12 JO30a4n4c18 KW30a4c22 KZ20n3c13 LB28n4c20 LC32a4c24 LI21n5c12 " +
  "LT20n16 LU20n3c13 LV21a4c13 LY25n21 MC27n10c11n2 MD24c20 ME22n18 MK19n3c10n2 MN20n16 MR27n23 MT31a4n5c18 " +
  "MU30a4n19a3 NI28a4n20 NL18a4n10 NO15n11 OM23n3c16 PK24a4c16 PL28n24 PS29a4c21 PT25n21 QA29a4c21 RO24a4c16 RS22n18 RU33n14c15 " +
  "SA24n2c18 SC31a4n20a3 SD18n14 SE24n20 SI19n15 SK24n20 SM27a1n10c12 SO23n19 ST25n21 SV28a4n20 TL23n19 TN24n20 " +
  "TR26n6c16 UA29n6c19 VA22n18 VG24a4n16 XK20n16 YE30a4n4c18 " +
  // In use outside of the registry: countries of the CFA franc zone, French territories, some other African
  // countries.
  "BI16n12 BF27n23 BJ28a1n23 CI28a2n22 DZ24n20 GT28c24 ML28a1n23 SN28a1n23 " +
  "AO25n21 BF28c2n22 BJ28c2n22 CF27n23 CG27n23 CI28c2n22 CM27n23 CV25n21 DZ26n22 GA27n23 GQ27n23 GW25c2n19 IR26n22 " +
  "KM27n23 MA28n24 MG27n23 ML28c2n22 MZ25n21 NE28a2n22 SN28c2n22 TD27n23 TG28a2n22 GF27n10c11n2 GP27n10c11n2 " +
  "MQ27n10c11n2 RE27n10c11n2 PF27n10c11n2 TF27n10c11n2 YT27n10c11n2 NC27n10c11n2 PM27n10c11n2 WF27n10c11n2 BL27n10c11n2 MF27n10c11n2";

const STRUCTURES = new Map<string, { length: number; shape: RegExp }[]>();
for (const row of IBAN.split(" ")) {
  const [, country, length, structure] = /^(..)(\d\d)(.*)$/.exec(row)!;
  const shape = structure.replace(
    /([nac])(\d+)/g,
    (_, kind, n) => `${kind === "n" ? "[0-9]" : kind === "a" ? "[A-Z]" : "[A-Z0-9]"}{${n}}`,
  );
  const kind = { length: Number(length), shape: new RegExp(`^${shape}$`) };
  STRUCTURES.set(country, [kind, ...STRUCTURES.get(country) ?? []].sort((a, b) => b.length - a.length));
}

/** Searches for an IBAN whose country code is at `start`; single spaces or hyphens may occur anywhere. */
function scanIban(view: ScannedView, from: number, to: number): void {
  const text = view.text;
  let start = from;
  if (!isDigit(text.charCodeAt(start + 2))) {
    // After a word attached to it: "ibanDE89…".
    const word = /^[A-Za-z]{3,24}(?=\d\d)/.exec(text.slice(from, Math.min(to, from + 27)));
    if (!word) return;
    start += word[0].length - 2;
  }
  if (start === from && start > 0 && isAlphanumeric(text.charCodeAt(start - 1))) return;
  for (const kind of STRUCTURES.get(text.slice(start, start + 2).toUpperCase()) ?? []) {
    if (isIban(view, start, kind)) return;
  }
}

function isIban(view: ScannedView, start: number, kind: { length: number; shape: RegExp }): boolean {
  const text = view.text;
  let compact = "";
  let p = start;
  while (compact.length < kind.length && p < text.length) {
    const c = text.charCodeAt(p);
    if (isAlphanumeric(c)) compact += text[p];
    else if (!((c === 32 || c === 45) && isAlphanumeric(text.charCodeAt(p + 1)))) break;
    p++;
  }
  if (compact.length !== kind.length) return false;
  // A word may be attached to its last digit.
  const next = text.charCodeAt(p);
  if (isAlphanumeric(next) && (isDigit(next) || !isDigit(text.charCodeAt(p - 1)))) return false;
  // One more group of the same print form, and nothing behind it, means a longer number than the country has.
  if (
    /^[ -]\d{1,4}(?=\s*(?:[;)\]"'\n]|$))/.test(text.slice(p, p + 8)) && / \S{4} /.test(text.slice(start, p))
  ) {
    return false;
  }
  const upper = compact.toUpperCase();
  if (!kind.shape.test(upper.slice(4)) || mod97(upper.slice(4) + upper.slice(0, 4)) !== 1) return false;
  report(view, "IBAN_CODE", start, p, 0.95);
  return true;
}

/** Number of a field directly before an IBAN, as in the statements of SWIFT: `?31DE89…`. */
const FIELD = /^\d{1,3}(?=[A-Z]{2}\d\d)/;

function scanNumbered(view: ScannedView, from: number, to: number): void {
  const field = FIELD.exec(view.text.slice(from, Math.min(to, from + 7)))?.[0];
  if (field === undefined) return;
  const start = from + field.length;
  for (const kind of STRUCTURES.get(view.text.slice(start, start + 2)) ?? []) {
    if (isIban(view, start, kind)) return;
  }
}

export const IBANS: readonly Recognizer[] = [
  {
    type: "IBAN_CODE",
    group: "FINANCIAL",
    aliases: ["IBAN", "INTERNATIONAL_BANK_ACCOUNT_NUMBER"],
    triggers: [
      { on: "part", first: LETTER, holds: DIGIT, shortest: 4, scan: scanIban },
      { on: "part", first: DIGIT, holds: UPPER, lacks: LOWER, shortest: 16, longest: 40, scan: scanNumbered },
    ],
    samples: {
      found: [
        "«DE89 3704 0044 0532 0130 00»",
        "«gb29nwbk60161331926819»",
        "iban«DE89370400440532013000»and",
        "«DE89 3704 0044 0532 0130 00» 12 items",
        ":86:105?00LASTSCHRIFT?31«FR7630006000011234567890189»?32JO",
      ],
      clean: ["DE89 3704 0044 0532 0130 01", "gb29nwbk60161331926818", "AT61 1904 3002 3457 3201 7"],
    },
  },
];
