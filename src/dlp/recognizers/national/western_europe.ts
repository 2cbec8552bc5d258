/**
 * Identity and tax numbers of western and southern Europe.
 *
 * Check digits as the issuing authorities publish them and as python-stdnum documents them.
 */

import { belgian, cif, codiceFiscale, dni, nir } from "./checks_eu.ts";
import { digit, luhn, repeated, weighted } from "../checksums.ts";
import { IDENTITY, TAX } from "./labels.ts";
import type { Recognizer } from "../recognizer.ts";
import { words } from "../scanned_view.ts";

const DNI_WORDS = "d\\.?n\\.?i|n\\.?i\\.?f|documento nacional|identificaci[oó]n fiscal";

export const WESTERN_EUROPE: readonly Recognizer[] = [
  {
    type: "FR_NIR",
    group: "NATIONAL_ID",
    numbers: [{
      forms: [
        "9{15}=0.7",
        "9 99 99 99 999 999 99",
        "99999A9{9}",
        "9 99 99 9A 999 999 99",
        "9{13} 99",
        "9.99.99.99.999.999.99",
      ],
      check: nir,
      label: words("nir", "s[ée]curit[ée] sociale", "insee", "num[ée]ro de s[ée]cu\\w*"),
      plain: 0.9,
    }],
    samples: {
      found: ["«2 95 10 99 126 111 93»"],
      clean: ["2 95 10 99 126 111 94"],
    },
  },
  {
    type: "ES_NIF",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{8}A", "9{7}A=0.3", "9{8}-A=0.75", "9{8} A", "99.999.999-A=0.85", "99.999.999A"],
      prefix: "ES",
      check: dni,
      label: words(DNI_WORDS, TAX, IDENTITY),
      plain: 0.6,
    }, {
      forms: ["A9{7}A", "A-9{7}-A", "A9{7}-A", "A-9{7}A", "A9{8}=0.4", "A-9{8}=0.4", "A-9{7}-9=0.4"],
      prefix: "ES",
      check: (s) => (/^[KLMXYZ]/.test(s) && /[A-Z]$/.test(s) ? dni(s) : cif(s)),
      label: words(DNI_WORDS, "c\\.?i\\.?f", "n\\.?i\\.?e", TAX, IDENTITY),
      plain: 0.55,
      labelled: 0.9,
    }, {
      // Since 2008 this is also the name of a company's number.
      forms: ["A9{8}", "A-9{8}", "A-9{7}-9", "A9{7}A", "A-9{7}-A"],
      prefix: "ES",
      check: cif,
      label: words("n\\.?i\\.?f"),
      plain: 0,
      alone: 0,
    }],
    samples: {
      found: ["«54362315-K»", "NIF: «B–58378431»"],
      clean: ["54362315-L"],
    },
  },
  {
    type: "ES_NIE",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["A9{7}A", "A-9{7}-A", "A9{7}-A", "A-9{7}A", "A 9{7} A"],
      prefix: "ES",
      check: (s) => /^[XYZ]/.test(s) && dni(s),
      label: words("n\\.?i\\.?e", "extranjer\\w+", DNI_WORDS, TAX, IDENTITY),
      plain: 0.8,
    }],
    samples: {
      found: ["«X-5253868-R»"],
      clean: ["X-5253868-S"],
    },
  },
  {
    type: "ES_CIF",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["A9{7}A=0.6", "A9{8}", "A-9{8}", "A-9{7}-9", "A-9{7}-A=0.7", "A9{7}-A"],
      prefix: "ES",
      check: cif,
      label: words("c\\.?i\\.?f", "n\\.?i\\.?f", TAX),
      plain: 0.45,
    }],
    samples: {
      found: ["CIF «B58378431»"],
      clean: ["CIF B58378432"],
    },
  },
  {
    type: "IT_FISCAL_CODE",
    group: "NATIONAL_ID",
    numbers: [{
      forms: [],
      free: {
        lengths: [16],
        shape: /^[A-Z]{6}[0-9LMNP-V]{2}[ABCDEHLMPRST][0-9LMNP-V]{2}[A-Z][0-9LMNP-V]{3}[A-Z]$/,
      },
      check: codiceFiscale,
      label: words("codice fiscale", "cod\\.? ?fisc\\w*", "c\\.?f\\.?", TAX),
      plain: 0.9,
      loose: 0.6,
      anyCase: true,
    }],
    samples: {
      found: ["«DMLPRY77D15H501F»", "codice fiscale: «DMLPRY77D15H501G»"],
      clean: ["DMLPRY77D15H501G", "https://git.example/x/commit/36c20d939a"],
    },
  },
  {
    type: "IT_VAT_CODE",
    group: "NATIONAL_ID",
    aliases: ["IT_VAT"],
    numbers: [{
      forms: ["9{11}"],
      prefix: "IT",
      check: (s) => !repeated(s) && /^.{7}(?:0\d\d|100|12[01]|888|999)/.test(s) && luhn(s),
      label: words("partita iva", "p\\.? ?iva", "iva", TAX),
      plain: 0.3,
    }],
    samples: {
      found: ["«IT 00743110157»"],
      clean: ["IT 00743110158"],
    },
  },
  {
    type: "NL_BSN",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{9}", "9{3}.9{3}.9{3}", "9{4}.9{2}.9{3}", "9{3} 9{3} 9{3}", "9{3}-9{3}-9{3}", "9{8}"],
      check: (s) => {
        const nine = s.padStart(9, "0");
        return !repeated(s) && (weighted(nine, [9, 8, 7, 6, 5, 4, 3, 2]) - digit(nine, 8)) % 11 === 0;
      },
      label: words("bsn", "burgerservice\\w*", "sofi\\w*", TAX, IDENTITY),
      plain: 0.3,
    }],
    samples: {
      found: ["BSN «1112.22.333»"],
      clean: ["BSN 1112.22.334"],
    },
  },
  {
    type: "BE_NN",
    group: "NATIONAL_ID",
    numbers: [{
      forms: [
        "9{11}",
        "99.99.99-999.99=0.9",
        "99.99.99.999.99=0.7",
        "99 99 99 999 99=0.6",
        "9{6}-9{3}-99=0.6",
        "9{6}-9{3}.99",
      ],
      check: belgian,
      label: words(
        "num[ée]ro (?:de registre )?national",
        "registre national",
        "rrn|insz|niss",
        "rijksregister\\w*",
        "insz",
        "niss",
        TAX,
        IDENTITY,
      ),
      plain: 0.45,
    }],
    samples: {
      found: ["Numéro national: «88022999990»"],
      clean: ["Numéro national: 88022999991"],
    },
  },
  {
    type: "PT_NIF",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{9}", "9{3} 9{3} 9{3}", "9{3}.9{3}.9{3}"],
      prefix: "PT",
      check: (s) =>
        s[0] !== "0" &&
        (11 - weighted(s, [9, 8, 7, 6, 5, 4, 3, 2]) % 11) % 11 % 10 === digit(s, 8),
      label: words("nif", "nipc", "contribuinte", "n[úu]mero fiscal", "identifica[cç][aã]o fiscal", TAX),
      plain: 0.3,
    }],
    samples: {
      found: ["«PT 501 964 843»", '{"numero_fiscal":"«501964843»"}'],
      clean: ["PT 501 964 844"],
    },
  },
  {
    type: "CH_AHV",
    group: "NATIONAL_ID",
    aliases: ["CH_SSN"],
    numbers: [{
      forms: ["9{13}=0.7", "9{3}.9{4}.9{4}.99", "9{3} 9{4} 9{4} 99"],
      check: (s) => s.startsWith("756") && weighted(s, [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]) % 10 === 0,
      label: words("ahv\\w*", "avs", "sozialversicherung\\w*", "oasi"),
      plain: 0.95,
    }],
    samples: {
      found: ["«756.9217.0769.85»"],
      clean: ["756.9217.0769.86"],
    },
  },
];
