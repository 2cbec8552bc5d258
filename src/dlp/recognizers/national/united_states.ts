/**
 * Identity and tax numbers of the United States.
 *
 * Sources: Social Security Administration (areas never issued), IRS (prefixes), CMS (MBI and NPI), DEA.
 *
 * Check digits as the issuing authorities publish them and as python-stdnum documents them.
 */

import { digit, luhn, repeated, two } from "../checksums.ts";
import { PASSPORT, TAX } from "./labels.ts";
import type { Recognizer } from "../recognizer.ts";
import { words } from "../scanned_view.ts";

const EIN_UNUSED = new Set([0, 7, 8, 9, 17, 18, 19, 28, 29, 49, 69, 70, 78, 79, 89, 96, 97]);

export const US: readonly Recognizer[] = [
  {
    type: "US_SSN",
    group: "NATIONAL_ID",
    aliases: ["SSN", "US_SOCIAL_SECURITY_NUMBER"],
    numbers: [{
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
    }],
    samples: {
      found: ["«536-90-4399»"],
      clean: ["666-90-4399"],
    },
  },
  {
    type: "US_ITIN",
    group: "NATIONAL_ID",
    aliases: ["US_INDIVIDUAL_TAX_IDENTIFICATION_NUMBER"],
    numbers: [{
      forms: ["9{3}-9{2}-9{4}=0.65", "9{3} 9{2} 9{4}=0.4", "9{9}"],
      check: (s) => /^9\d\d(?:5\d|6[0-5]|7\d|8[0-8]|9[0-24-9])/.test(s),
      label: words("itin", "individual taxpayer", TAX),
      plain: 0.3,
    }],
    samples: {
      found: ["«911-70-1234»"],
      clean: ["911-89-1234"],
    },
  },
  {
    type: "US_EIN",
    group: "NATIONAL_ID",
    aliases: ["US_EMPLOYER_IDENTIFICATION_NUMBER"],
    numbers: [{
      forms: ["9{2}-9{7}=0.4", "9{2} 9{7}", "9{9}", "9{3}-9{2}-9{4}"],
      check: (s) => !EIN_UNUSED.has(two(s, 0)),
      label: words(
        // "ein" is an article in German.
        "fein|ein(?=[\\W_]{1,24}$|\\s*[:#=()]|[ _-]?(?:no|num(?:ber)?|is|was)\\b)",
        "employer[ _-]*id\\w*",
        "federal tax",
        TAX,
      ),
      plain: 0,
      labelled: 0.8,
    }],
    samples: {
      found: [
        "EIN «99-1234567»",
        "EIN ........ «99-1234567»",
        '{"ein": "«99-1234567»"}',
        'variable "ein" {\n  default = "«99-1234567»"\n}',
      ],
      clean: ["EIN 28-1234567"],
    },
  },
  {
    type: "US_PASSPORT",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{9}", "A9{8}"],
      label: words(PASSPORT),
      plain: 0,
      alone: 0,
      labelled: 0.6,
    }],
    samples: {
      found: ["passport «912803456»"],
      clean: ["parcel 912803456"],
    },
  },
  {
    type: "US_DRIVER_LICENSE",
    group: "NATIONAL_ID",
    aliases: ["US_DRIVERS_LICENSE", "DRIVER_ID"],
    numbers: [{
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
        "9{13}",
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
        "(?<!</?)dl ?#?",
        "permit (?:no|number)",
        "lic ?#",
      ),
      plain: 0,
      alone: 0,
      labelled: 0.65,
    }],
    samples: {
      found: ["driver license «D1234567»"],
      clean: ["model D1234567", '</p><dl><dt><a href="#id2771767">'],
    },
  },
  {
    type: "US_MBI",
    group: "NATIONAL_ID",
    numbers: [{
      forms: [],
      free: {
        lengths: [11],
        shape:
          /^[1-9][AC-HJKMNPQRT-Y][0-9AC-HJKMNPQRT-Y]\d[AC-HJKMNPQRT-Y][0-9AC-HJKMNPQRT-Y]\d[AC-HJKMNPQRT-Y]{2}\d\d$/,
      },
      label: words("mbi", "medicare", "beneficiary"),
      plain: 0.6,
      alone: 0.7,
    }],
    samples: {
      found: ["«1EG4-TE5-MK73»"],
      clean: ["1EG4-LE5-MK73"],
    },
  },
  {
    type: "US_NPI",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{10}", "9{4}-9{3}-9{3}", "9{4} 9{3} 9{3}"],
      check: (s) => /^[12]/.test(s) && !repeated(s.slice(0, 9)) && luhn("80840" + s),
      label: words("npi", "national provider", "provider[ _-]*(?:id\\w*|no|number)", "prescriber"),
      plain: 0.4,
    }],
    samples: {
      found: ["NPI «1245319599»"],
      clean: ["NPI 1245319598"],
    },
  },
  {
    type: "MEDICAL_LICENSE",
    group: "NATIONAL_ID",
    aliases: ["US_DEA_NUMBER"],
    numbers: [{
      forms: ["AA9{7}", "A9{8}"],
      check: (s) =>
        /^[ABCDEFGHJKLMPRSTUX][A-Z9]/.test(s) &&
        (digit(s, 2) + digit(s, 4) + digit(s, 6) + 2 * (digit(s, 3) + digit(s, 5) + digit(s, 7))) % 10 ===
          digit(s, 8),
      label: words("dea", "medical (?:license|certificate)", "prescriber", "registration"),
      plain: 0.5,
    }],
    samples: {
      found: ["DEA «GL0285191»"],
      clean: ["DEA GL0285192"],
    },
  },
];
