/**
 * Identity and tax numbers of Canada and Latin America.
 *
 * Check digits as the issuing authorities publish them and as python-stdnum documents them.
 */

import { brazilian, CNPJ, CPF, curp, rfc, rut } from "./checks_world.ts";
import { digit, luhn, repeated, weighted } from "../checksums.ts";
import { TAX } from "./labels.ts";
import type { Recognizer } from "../recognizer.ts";
import { words } from "../scanned_view.ts";

/** Letters of the name, the date, and three signs of which any may be a letter. */
const RFC_FORMS = ["A{3}", "A{4}"].flatMap((name) =>
  [["", ""], [" ", " "], ["-", "-"], ["-", ""]].flatMap(([first, second]) =>
    ["999", "99A", "9A9", "9AA", "A99", "A9A", "AA9", "AAA"].map((signs) =>
      `${name}${first}9{6}${second}${signs}`
    )
  )
);

export const AMERICAS: readonly Recognizer[] = [
  {
    type: "CA_SIN",
    group: "NATIONAL_ID",
    aliases: ["CA_SOCIAL_INSURANCE_NUMBER"],
    numbers: [{
      forms: ["9{3}-9{3}-9{3}=0.5", "9{3} 9{3} 9{3}=0.4", "9{9}"],
      check: (s) => !repeated(s) && luhn(s),
      label: words("sin", "social insurance", "nas", "assurance sociale", TAX),
      plain: 0.3,
    }],
    samples: {
      found: ["SIN «046 454 286»"],
      clean: ["SIN 046 454 287", "SIN share 046454286%"],
    },
  },
  {
    type: "BR_CPF",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{3}.9{3}.9{3}-99", "9{9}-99=0.75", "9{3} 9{3} 9{3} 99=0.6", "9{11}=0.45"],
      check: (s) => brazilian(s, 11, CPF),
      label: words("cpf", "cadastro", TAX),
      plain: 0.95,
    }],
    samples: {
      found: ["«390.533.447-05»"],
      clean: ["390.533.447-06"],
    },
  },
  {
    type: "BR_CNPJ",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["99.9{3}.9{3}/9{4}-99", "9{14}=0.4", "9{8}/9{4}-99"],
      check: (s) => brazilian(s, 14, CNPJ),
      label: words("cnpj", "cadastro", TAX),
      plain: 0.95,
    }, {
      // The part for the branch is a small number; one in a hundred other numbers of 14 digits passes the
      // check.
      forms: ["9{14}=0.55"],
      check: (s) => /^\d{8}00(?!00)/.test(s) && brazilian(s, 14, CNPJ),
      label: words("cnpj"),
      plain: 0.55,
    }, {
      forms: [],
      free: { lengths: [14], shape: /^[A-Z0-9]{12}\d\d$/ },
      check: (s) => brazilian(s, 14, CNPJ),
      label: words("cnpj", "cadastro", TAX),
      plain: 0.4,
    }],
    samples: {
      found: ["«12.ABC.345/01DE-35»", "see «11222333000181» ok"],
      clean: ["12.ABC.345/01DE-36", "at 19960215000000 ok", '"variant_id":45750805033013,'],
    },
  },
  {
    type: "MX_CURP",
    group: "NATIONAL_ID",
    numbers: [{
      forms: [],
      free: {
        lengths: [18],
        shape: /^[A-Z][AEIOUX][A-Z]{2}\d{6}[HMX][A-Z]{2}[B-DF-HJ-NP-TV-Z]{3}[A-Z0-9]\d$/,
      },
      check: curp,
      label: words("curp"),
      plain: 0.95,
      anyCase: true,
    }],
    samples: {
      found: ["«BOXW310820HNERXN09»"],
      clean: ["BOXW310820HNERXN08"],
    },
  },
  {
    type: "MX_RFC",
    group: "NATIONAL_ID",
    numbers: [{
      forms: RFC_FORMS,
      check: rfc,
      label: words("r\\.?f\\.?c(?![ -]?\\d{3,5}(?!\\d))", "registro federal", TAX),
      plain: 0.6,
      // The registry also assigns numbers with other check digits.
      loose: 0.7,
    }],
    samples: {
      found: ["«MHTR93041179A»", "RFC: «MHTR-930411-79A»", "«MHTR 930411 79A»", "RFC «mhtr-93041179a»"],
      clean: ["MHTR93131179A", "the customer (BSN 060401722) called", "(RFC 4357)\n id-gost-3410-12-256"],
    },
  },
  {
    type: "AR_CUIT",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["99-9{8}-9=0.75", "9{11}"],
      check: (s) => {
        if (!/^(?:2[0347]|3[034]|5[015])/.test(s)) return false;
        const check = 11 - weighted(s, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
        return (check === 11 ? 0 : check === 10 ? 9 : check) === digit(s, 10);
      },
      label: words("cui[tl]", TAX),
      plain: 0.45,
    }],
    samples: {
      found: ["«20-26756539-3»"],
      clean: ["20-26756539-4"],
    },
  },
  {
    type: "CL_RUT",
    group: "NATIONAL_ID",
    numbers: [{
      forms: [
        "99.9{3}.9{3}-9=0.85",
        "9.9{3}.9{3}-9=0.85",
        "99.9{3}.9{3}-A=0.85",
        "9.9{3}.9{3}-A=0.85",
        "9{8}-9",
        "9{7}-9",
        "9{8}-A",
        "9{7}-A",
      ],
      check: rut,
      label: words("r\\.?u\\.?[tn]", "rol [uú]nico", TAX),
      plain: 0.4,
    }, {
      forms: ["9{9}", "9{8}", "9{8}A", "9{7}A"],
      check: rut,
      label: words("r\\.?u\\.?t|run(?=[\\W_]{1,3}$|\\s*[:#=])", "rol [uú]nico"),
      plain: 0,
      alone: 0,
    }],
    samples: {
      found: ["RUT: «12.531.909-2»"],
      clean: ["RUT: 12.531.909-3"],
    },
  },
];
