/**
 * Identity and tax numbers of Australia, New Zealand and South Africa.
 *
 * Check digits as the issuing authorities publish them and as python-stdnum documents them.
 */

import { ird } from "./checks_world.ts";
import { dateAt, digit, luhn, repeated, weighted } from "../checksums.ts";
import { IDENTITY, TAX } from "./labels.ts";
import type { Recognizer } from "../recognizer.ts";
import { words } from "../scanned_view.ts";

export const OCEANIA_AFRICA: readonly Recognizer[] = [
  {
    type: "AU_TFN",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{3} 9{3} 9{3}=0.4", "9{3}-9{3}-9{3}=0.4", "9{9}", "9{8}"],
      check: (s) =>
        !repeated(s) &&
        (weighted(s, [1, 4, 3, 7, 5, 8, 6, 9, 10].slice(0, s.length)) % 11 === 0 ||
          s.length === 8 && weighted(s, [10, 7, 8, 4, 6, 3, 5, 1]) % 11 === 0),
      label: words("t\\.?f\\.?n", "tax file", TAX),
      plain: 0.3,
    }],
    samples: {
      found: ["TFN «876 543 210»"],
      clean: ["TFN 876 543 211"],
    },
  },
  {
    type: "AU_ABN",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["99 999 999 999=0.7", "9{11}"],
      check: (s) => s[0] !== "0" && (weighted(s, [10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19]) - 10) % 89 === 0,
      label: words("a\\.?b\\.?n", "australian business", TAX),
      plain: 0.45,
    }],
    samples: {
      found: ["«51 824 753 556»"],
      clean: ["52 824 753 556"],
    },
  },
  {
    type: "AU_ACN",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{3} 9{3} 9{3}=0.4", "9{9}"],
      check: (s) => (10 - weighted(s, [8, 7, 6, 5, 4, 3, 2, 1]) % 10) % 10 === digit(s, 8),
      label: words("a\\.?c\\.?n", "australian company"),
      plain: 0.3,
    }],
    samples: {
      found: ["ACN «005 499 981»"],
      clean: ["ACN 005 499 982"],
    },
  },
  {
    type: "AU_MEDICARE",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{4} 9{5} 9=0.6", "9{4}-9{5}-9=0.6", "9{10}", "9{11}", "9{4} 9{5} 9 9"],
      check: (s) => /^[2-6]/.test(s) && weighted(s, [1, 3, 7, 9, 1, 3, 7, 9]) % 10 === digit(s, 8),
      label: words("medicare"),
      plain: 0.3,
    }],
    samples: {
      found: ["«2123 45670 1»"],
      clean: ["2123 45680 1"],
    },
  },
  {
    type: "NZ_IRD",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{8}", "9{9}", "99-9{3}-9{3}=0.4", "9{3}-9{3}-9{3}=0.4", "9{7}-9=0.4", "9{8}-9=0.4"],
      prefix: "NZ",
      check: ird,
      label: words("ird", "inland revenue", TAX),
      plain: 0.3,
    }],
    samples: {
      found: ["«NZ 4909185-0»"],
      clean: ["NZ 4909185-1"],
    },
  },
  {
    type: "ZA_ID_NUMBER",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{13}", "9{6} 9{4} 99 9"],
      check: (s) => dateAt(s, 0, 2, 4) && digit(s, 10) < 3 && luhn(s),
      label: words("south african?", "rsa id", "said", "sa[ _-]?id", "permanent resident", IDENTITY),
      plain: 0.45,
    }],
    samples: {
      found: ["«8001015009087»"],
      clean: ["8001015009088"],
    },
  },
];
