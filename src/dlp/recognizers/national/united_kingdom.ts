/**
 * Identity and tax numbers of the United Kingdom and Ireland.
 *
 * Sources: HMRC, NHS, DVLA, Revenue Commissioners.
 *
 * Check digits as the issuing authorities publish them and as python-stdnum documents them.
 */

import { digit, repeated, weighted } from "../checksums.ts";
import { pps } from "./checks_eu.ts";
import { IDENTITY, PASSPORT, TAX } from "./labels.ts";
import type { Recognizer } from "../recognizer.ts";
import { words } from "../scanned_view.ts";

export const UNITED_KINGDOM: readonly Recognizer[] = [
  {
    type: "UK_NINO",
    group: "NATIONAL_ID",
    aliases: ["UK_TRN", "UK_NATIONAL_INSURANCE_NUMBER"],
    numbers: [{
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
    }, {
      // The last letter is often omitted.
      forms: ["AA9{6}", "AA 99 99 99"],
      check: (s) => /^(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]/.test(s),
      label: words("nino", "national insurance"),
      plain: 0,
      alone: 0,
      labelled: 0.7,
    }],
    samples: {
      found: ["«AZ 12 34 56 A»"],
      clean: ["UV 98 76 54 B"],
    },
  },
  {
    type: "UK_NHS",
    group: "NATIONAL_ID",
    aliases: ["UK_NATIONAL_HEALTH_SERVICE_NUMBER"],
    numbers: [{
      forms: ["9{3} 9{3} 9{4}=0.45", "9{3}-9{3}-9{4}", "9{10}"],
      check: (s) =>
        !repeated(s) && (11 - weighted(s, [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11) % 11 === digit(s, 9),
      label: words("nhs", "national health", "health service"),
      plain: 0.3,
    }],
    samples: {
      found: ["NHS «943 476 5919»"],
      clean: ["NHS 943 476 5918"],
    },
  },
  {
    type: "UK_UTR",
    group: "NATIONAL_ID",
    aliases: ["UK_UNIQUE_TAXPAYER_REFERENCE_NUMBER"],
    numbers: [{
      forms: ["9{10}", "9{5} 9{5}"],
      check: (s) =>
        digit("21987654321", weighted(s.slice(1), [6, 7, 8, 9, 10, 5, 4, 3, 2]) % 11) === digit(s, 0),
      label: words("utr", "unique taxpayer\\w*", "self[ -]?assessment", TAX),
      plain: 0.3,
      loose: 0.5,
    }],
    samples: {
      found: ["UTR «1123456785»"],
      clean: ["order 1123456785"],
    },
  },
  {
    type: "UK_PASSPORT",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{9}", "AA9{7}"],
      label: words(PASSPORT),
      plain: 0,
      alone: 0,
      labelled: 0.6,
    }],
    samples: {
      found: ["UK passport «925665416»"],
      clean: ["parcel 925665416"],
    },
  },
  {
    type: "UK_DRIVING_LICENCE",
    group: "NATIONAL_ID",
    aliases: ["UK_DRIVER_LICENSE", "UK_DRIVING_LICENSE"],
    numbers: [{
      forms: [],
      free: {
        lengths: [16, 18],
        shape:
          /^(?!9{5})[A-Z]{1,5}9{0,4}(?<=^.{5})\d(?:[05][1-9]|[16][0-2])(?:0[1-9]|[12]\d|3[01])\d[A-Z9]{2}[A-Z0-9][A-Z0-9]{2}(?:\d\d)?$/,
      },
      label: words("driv\\w+", "dvla", "licen[sc]e"),
      plain: 0.8,
      anyCase: true,
    }],
    samples: {
      found: ["«MORGA657054SM9IJ»"],
      clean: ["MORGA600054SM9IJ"],
    },
  },
  {
    type: "IE_PPS",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{7}A", "9{7}AA"],
      check: pps,
      label: words("pps(?:n|[ _-]*(?:no|number))?", "personal public service", "rsi", TAX, IDENTITY),
      plain: 0.4,
    }],
    samples: {
      found: ["PPS «6433435F»"],
      clean: ["PPS 6433435E"],
    },
  },
];
