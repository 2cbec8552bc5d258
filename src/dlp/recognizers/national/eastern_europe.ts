/**
 * Identity and tax numbers of central and eastern Europe and the Baltic countries.
 *
 * Check digits as the issuing authorities publish them and as python-stdnum documents them.
 */

import { baltic, bulgarian, czech, latvian, pesel, romanian } from "./checks_eu.ts";
import { inn } from "./checks_world.ts";
import { digit, mod1110, repeated, two, weighted } from "../checksums.ts";
import { IDENTITY, TAX } from "./labels.ts";
import type { Recognizer } from "../recognizer.ts";
import { words } from "../scanned_view.ts";

export const EASTERN_EUROPE: readonly Recognizer[] = [
  {
    type: "PL_PESEL",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{11}"],
      check: pesel,
      label: words("pesel", TAX, IDENTITY),
      plain: 0.45,
    }, {
      // The date may be invalid, but the check digit is always valid.
      forms: ["9{11}"],
      check: (s) =>
        !repeated(s) && (10 - weighted(s, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) % 10) % 10 === digit(s, 10),
      label: words("pesel", IDENTITY),
      plain: 0.2,
      alone: 0.5,
      labelled: 0.7,
    }],
    samples: {
      found: ["«02270800010»"],
      clean: ["02270800011"],
    },
  },
  {
    type: "PL_NIP",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{10}", "9{3}-9{3}-99-99=0.7", "9{3}-99-99-9{3}=0.7", "9{3} 9{3} 99 99"],
      prefix: "PL",
      check: (s) => !repeated(s) && weighted(s, [6, 5, 7, 2, 3, 4, 5, 6, 7]) % 11 === digit(s, 9),
      label: words("nip", "numer identyfikacji", TAX),
      plain: 0.3,
    }],
    samples: {
      found: ["NIP «856-734-62-15»"],
      clean: ["NIP 856-734-62-16"],
    },
  },
  {
    type: "RO_CNP",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{13}"],
      check: romanian,
      label: words("cnp", "cod(?:ul)? numeric personal", TAX, IDENTITY),
      plain: 0.45,
    }],
    samples: {
      found: ["«1001011234560»"],
      clean: ["1001011234561"],
    },
  },
  {
    type: "BG_EGN",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{10}"],
      check: bulgarian,
      label: new RegExp(`${words("egn", TAX, IDENTITY).source}|ЕГН|единен граждански`, "i"),
      plain: 0.4,
    }],
    samples: {
      found: ["ЕГН: «8032056031»"],
      clean: ["ЕГН: 8032056032"],
    },
  },
  {
    type: "CZ_RC",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{6}/9{4}=0.85", "9{6}/9{3}=0.4", "9{10}", "9{9}"],
      check: czech,
      label: words(
        "rodn[ée] [čc][íi]slo",
        "rodn[ée]ho [čc][íi]sla",
        "(?<![.\\w])r\\.?[čc]\\.?",
        TAX,
        IDENTITY,
      ),
      plain: 0.4,
    }],
    samples: {
      found: ["«710319/2745»"],
      clean: ["710319/2746"],
    },
  },
  {
    type: "HR_OIB",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{11}"],
      prefix: "HR",
      check: (s) => !repeated(s) && mod1110(s),
      label: words("oib", "osobni identifikacijski", TAX, IDENTITY),
      plain: 0.4,
    }],
    samples: {
      found: ["«HR 33392005961»"],
      clean: ["HR 33392005962"],
    },
  },
  {
    type: "EE_ISIKUKOOD",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{11}"],
      check: baltic,
      label: words("isikukood\\w*", "ik", TAX, IDENTITY),
      plain: 0.45,
    }],
    samples: {
      found: ["«37102250382»"],
      clean: ["37102250383"],
    },
  },
  {
    type: "LV_PERSONAL_CODE",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{6}-9{5}=0.7", "9{11}"],
      check: latvian,
      label: words("pers(?:onas|\\.)? kod[sau]\\w*", "person\\w* kod\\w*", TAX, IDENTITY),
      plain: 0.4,
    }],
    samples: {
      found: ["«010110-00010»"],
      clean: ["010110-00011"],
    },
  },
  {
    type: "RU_INN",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{10}", "9{12}=0.45"],
      check: inn,
      label: new RegExp(`${words("inn", TAX).source}|ИНН|идентификационный номер`, "i"),
      plain: 0.3,
    }],
    samples: {
      found: ["ИНН «7707083893»"],
      clean: ["ИНН 7707083894"],
    },
  },
  {
    type: "RU_SNILS",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{3}-9{3}-9{3} 99", "9{3}-9{3}-9{3}-99", "9{11}=0.4"],
      check: (s) => !repeated(s) && weighted(s, [9, 8, 7, 6, 5, 4, 3, 2, 1]) % 101 % 100 === two(s, 9),
      label: new RegExp(`${words("snils").source}|СНИЛС|страхов`, "i"),
      plain: 0.85,
    }],
    samples: {
      found: ["«112-233-445 95»"],
      clean: ["112-233-445 96"],
    },
  },
];
