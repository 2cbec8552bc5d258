/** Bank accounts and bank codes. Sources: ABA's routing number ranges, ISO 9362 and ISO 3166. */

import { JOINER, LOWER } from "./character_class.ts";
import { COUNTRIES } from "./countries.ts";
import { repeated, two, weighted } from "./checksums.ts";
import type { Recognizer } from "./recognizer.ts";
import { wordy } from "./randomness.ts";
import { after, before, isAlone, report, type ScannedView, words } from "./scanned_view.ts";

function aba(s: string): boolean {
  const area = two(s, 0);
  if (!(area <= 12 || (area >= 21 && area <= 32) || (area >= 61 && area <= 72) || area === 80)) return false;
  return !repeated(s) && weighted(s, [3, 7, 1, 3, 7, 1, 3, 7, 1]) % 10 === 0;
}

const BIC_WORDS = words("swift\\w*", "bic\\w*", "bank (?:code|identifier)");
const WIRE_WORDS = words("wire", "transfer\\w*", "correspondent", "beneficiary", "iban", "bank");

/** Checks the word at `[start, end)`, with 8 or 11 characters, as a BIC. */
function scanSwift(view: ScannedView, start: number, end: number): void {
  const word = view.text.slice(start, end);
  if (!/^[A-Z]{6}[A-Z2-9][A-NP-Z0-9](?:[A-Z0-9]{3})?$/.test(word) || !COUNTRIES.has(word.slice(4, 6))) return;
  const lead = before(view, start, 40);
  const confidence = BIC_WORDS.test(lead) || BIC_WORDS.test(after(view, end, 12))
    ? 0.9
    : WIRE_WORDS.test(lead) && !/[A-Z]{3,}\W+$/.test(lead) && !wordy(word)
    ? 0.6
    : isAlone(view, start, end)
    ? 0.6
    : 0;
  if (confidence > 0) report(view, "SWIFT_CODE", start, end, confidence);
}

export const BANK: readonly Recognizer[] = [
  {
    type: "ABA_ROUTING_NUMBER",
    group: "FINANCIAL",
    aliases: ["US_BANK_ROUTING", "US_BANK_ROUTING_MICR", "BANK_ROUTING"],
    numbers: [{
      forms: ["9{9}", "9{4}-9{4}-9=0.6", "9{3}-9{3}-9{3}", "9{4} 9{4} 9"],
      check: aba,
      label: words(
        "aba",
        "bankid",
        "routing(?:[ _-]*(?:no|num(?:ber)?|transit))?",
        "rtn",
        "bank ?routing",
        "wire",
      ),
      plain: 0.3,
    }],
    samples: {
      found: ["routing number «263170175»"],
      clean: ["routing number 263170176"],
    },
  },
  {
    type: "US_BANK_NUMBER",
    group: "FINANCIAL",
    aliases: ["US_BANK_ACCOUNT", "US_BANK_ACCOUNT_NUMBER", "BANK_ACCOUNT_NUMBER"],
    numbers: [{
      forms: ["9{8}", "9{9}", "9{10}", "9{11}", "9{12}", "9{13}", "9{14}", "9{15}", "9{16}", "9{17}", "9{7}"],
      label: words(
        "(?:bank|checking|savings?|debit|current)[ _-]*(?:acc(?:oun)?t|a/c)(?:[ _-]*(?:no|num(?:ber)?|#))?",
        "acc(?:oun)?t[ _-]*(?:no|num(?:ber)?|#)",
        "account(?= ?(?:is|:|#))|acct(?= ?(?:is|:|#|$))|acctid(?=\\W{0,3}$)",
      ),
      plain: 0,
      alone: 0,
      labelled: 0.65,
    }, {
      forms: ["9{8}", "9{9}", "9{10}", "9{11}", "9{12}", "9{13}", "9{14}", "9{15}", "9{16}", "9{17}", "9{7}"],
      // The account number behind the number of its bank.
      label:
        /(?<![A-Za-z])(?:aba|routing|rtn)\b[\s\S]{0,32}\d{9}[\s\S]{0,12}\b(?:account|acct|a\/c)\W{0,4}$/i,
      plain: 0,
      alone: 0,
      labelled: 0.7,
    }],
    samples: {
      found: [
        "ACH routing 026016599 acct «133617123».",
        "routing 026016599 account «133617123» (checking)",
        "<BANKID>026016599<ACCTID>«18023557005»<ACCTTYPE>",
        "account number: «9456839487»",
      ],
      clean: ["order 9456839487"],
    },
  },
  {
    type: "SWIFT_CODE",
    group: "FINANCIAL",
    aliases: ["SWIFT", "BIC_SWIFT"],
    triggers: [{ on: "run", lengths: [8, 11], lacks: LOWER | JOINER, scan: scanSwift }],
    samples: { found: ["SWIFT «DEUTDEFF500»"], clean: ["SWIFT DEUTQQFF500", "the word DOCUMENT"] },
  },
];
