/**
 * Identity numbers of the United States, the United Kingdom and Ireland.
 *
 * Sources: Social Security Administration (areas never issued), IRS (prefixes), CMS (MBI and NPI), DEA, HMRC, NHS,
 * DVLA, Revenue Commissioners; arithmetic as in python-stdnum's documentation.
 */

import { words } from "./field.ts";
import { digit, luhn, repeated, two, weighted } from "./checksums.ts";
import { IDENTITY, PASSPORT, TAX } from "./labels.ts";
import type { NumberRule } from "./numbers.ts";

const EIN_UNUSED = new Set([0, 7, 8, 9, 17, 18, 19, 28, 29, 49, 69, 70, 78, 79, 89, 96, 97]);

export const US_UK: readonly NumberRule[] = [
  {
    type: "US_SSN",
    forms: [
      "9{3}-9{2}-9{4}=0.75",
      "9{3} 9{2} 9{4}=0.4",
      "9{3}.9{2}.9{4}=0.4",
      "9{9}",
      "9{3}-9{6}",
      "9{5}-9{4}",
    ],
    check: (s) => !/^(?:000|666|9)|^...00|0000$/.test(s) && !repeated(s),
    label: words("ssn", "ss ?#", "social[ _-]*sec(?:urity)?(?:[ _-]*(?:no|num(?:ber)?))?", "soc ?sec", TAX),
    plain: 0,
  },
  {
    type: "US_ITIN",
    forms: ["9{3}-9{2}-9{4}=0.65", "9{3} 9{2} 9{4}=0.4", "9{9}"],
    check: (s) => /^9\d\d(?:5\d|6[0-5]|7\d|8[0-8]|9[0-24-9])/.test(s),
    label: words("itin", "individual taxpayer", TAX),
    plain: 0.3,
  },
  {
    type: "US_EIN",
    forms: ["9{2}-9{7}=0.4", "9{2} 9{7}", "9{9}", "9{3}-9{2}-9{4}"],
    check: (s) => !EIN_UNUSED.has(two(s, 0)),
    label: words("f?ein", "employer[ _-]*id\\w*", "federal tax", TAX),
    plain: 0,
    labelled: 0.8,
  },
  {
    type: "US_PASSPORT",
    forms: ["9{9}", "A9{8}"],
    label: words(PASSPORT),
    plain: 0,
    alone: 0,
    labelled: 0.6,
  },
  {
    type: "US_DRIVER_LICENSE",
    forms: [
      "A9{5}",
      "A9{6}",
      "A9{7}",
      "A9{8}",
      "A9{9}",
      "A9{11}",
      "A9{12}",
      "A9{14}",
      "AA9{6}",
      "AA9{7}",
      "9{7}",
      "9{8}",
      "9{9}",
      "9{10}",
      "9{12}",
      "A9{3}-9{3}-9{2}-9{3}-9",
      "A9{3}-9{4}-9{4}",
      "A9{3} 9{3} 9{3} 9{3}",
      "A9{2}-9{2}-9{4}",
      "9{2}-9{3}-9{4}",
      "9{3}-9{3}-9{3}",
      "9{3} 9{3} 9{3}",
    ],
    label: words(
      "driver'?s?[ _-]*licen[sc]e\\w*",
      "driving[ _-]*licen[sc]e\\w*",
      "licen[sc]e (?:no|number|#)",
      "dl ?#?",
      "permit (?:no|number)",
      "lic ?#",
    ),
    plain: 0,
    alone: 0,
    labelled: 0.65,
  },
  {
    type: "US_MBI",
    forms: [],
    free: {
      lengths: [11],
      shape:
        /^[1-9][AC-HJKMNPQRT-Y][0-9AC-HJKMNPQRT-Y]\d[AC-HJKMNPQRT-Y][0-9AC-HJKMNPQRT-Y]\d[AC-HJKMNPQRT-Y]{2}\d\d$/,
    },
    label: words("mbi", "medicare", "beneficiary"),
    plain: 0.6,
    alone: 0.7,
  },
  {
    type: "US_NPI",
    forms: ["9{10}", "9{4}-9{3}-9{3}", "9{4} 9{3} 9{3}"],
    check: (s) => /^[12]/.test(s) && !repeated(s.slice(0, 9)) && luhn("80840" + s),
    label: words("npi", "national provider", "provider[ _-]*(?:id\\w*|no|number)", "prescriber"),
    plain: 0.4,
  },
  {
    type: "MEDICAL_LICENSE",
    forms: ["AA9{7}", "A9{8}"],
    check: (s) =>
      /^[ABCDEFGHJKLMPRSTUX][A-Z9]/.test(s) &&
      (digit(s, 2) + digit(s, 4) + digit(s, 6) + 2 * (digit(s, 3) + digit(s, 5) + digit(s, 7))) % 10 ===
        digit(s, 8),
    label: words("dea", "medical (?:license|certificate)", "prescriber", "registration"),
    plain: 0.5,
  },
  {
    type: "UK_NINO",
    forms: [
      "AA9{6}A",
      "AA 99 99 99 A=0.75",
      "AA-99-99-99-A=0.75",
      "AA 9{6} A",
      "AA 9{6}A",
      "AA9{6} A",
      "AA99 99 99A",
      "AA 99 99 99A",
      "AA 9{3} 9{3} A",
    ],
    check: (s) => /^(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]$/.test(s),
    label: words(
      "nino",
      "n\\.?i\\.?(?: ?(?:no|number|#))",
      "national insurance",
      "insurance number",
      TAX,
      IDENTITY,
    ),
    plain: 0.6,
  },
  {
    // The last letter is often left out where the number is asked for.
    type: "UK_NINO",
    forms: ["AA9{6}", "AA 99 99 99"],
    check: (s) => /^(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]/.test(s),
    label: words("nino", "national insurance"),
    plain: 0,
    alone: 0,
    labelled: 0.7,
  },
  {
    type: "UK_NHS",
    forms: ["9{3} 9{3} 9{4}=0.45", "9{3}-9{3}-9{4}", "9{10}"],
    check: (s) => !repeated(s) && (11 - weighted(s, [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11) % 11 === digit(s, 9),
    label: words("nhs", "national health", "health service"),
    plain: 0.3,
  },
  {
    type: "UK_UTR",
    forms: ["9{10}", "9{5} 9{5}"],
    check: (s) =>
      digit("21987654321", weighted(s.slice(1), [6, 7, 8, 9, 10, 5, 4, 3, 2]) % 11) === digit(s, 0),
    label: words("utr", "unique taxpayer\\w*", "self[ -]?assessment", TAX),
    plain: 0.3,
    loose: 0.5,
  },
  {
    type: "UK_PASSPORT",
    forms: ["9{9}", "AA9{7}"],
    label: words(PASSPORT),
    plain: 0,
    alone: 0,
    labelled: 0.6,
  },
  {
    type: "UK_DRIVING_LICENCE",
    forms: [],
    free: {
      lengths: [16, 18],
      shape:
        /^(?!9{5})[A-Z]{1,5}9{0,4}(?<=^.{5})\d(?:[05][1-9]|[16][0-2])(?:0[1-9]|[12]\d|3[01])\d[A-Z9]{2}[A-Z0-9][A-Z0-9]{2}(?:\d\d)?$/,
    },
    label: words("driv\\w+", "dvla", "licen[sc]e"),
    plain: 0.8,
    anyCase: true,
  },
  {
    type: "IE_PPS",
    forms: ["9{7}A", "9{7}AA"],
    check: (s) => {
      const second = s.length > 8 && s[8] !== "W" && s[8] !== "T" && s[8] !== "X" ? s.charCodeAt(8) - 64 : 0;
      if (second > 9) return false;
      const sum = weighted(s, [8, 7, 6, 5, 4, 3, 2]) + second * 9;
      return "WABCDEFGHIJKLMNOPQRSTUV"[sum % 23] === s[7];
    },
    label: words("pps(?:n|[ _-]*(?:no|number))?", "personal public service", "rsi", TAX, IDENTITY),
    plain: 0.4,
  },
];
