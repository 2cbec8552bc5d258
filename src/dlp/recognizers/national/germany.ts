/**
 * Identity and tax numbers of Germany.
 *
 * Check digits as the issuing authorities publish them and as python-stdnum documents them.
 */

import { germanPension, germanTax, icao } from "./checks_eu.ts";
import { digit, mod1110 } from "../checksums.ts";
import { IDENTITY, PASSPORT, TAX } from "./labels.ts";
import type { Recognizer } from "../recognizer.ts";
import { words } from "../scanned_view.ts";

/** Nine characters and their check digit. */
const WITH_CHECK_DIGIT = /^[CFGHJKLMNPRTVWXYZ](?=.*\d.)[0-9CFGHJKLMNPRTVWXYZ]{8}\d$/;

export const GERMANY: readonly Recognizer[] = [
  {
    type: "DE_TAX_ID",
    group: "NATIONAL_ID",
    aliases: ["DE_TAX_IDENTIFICATION_NUMBER"],
    numbers: [{
      forms: ["9{11}", "99 999 999 999=0.6", "99.999.999.999=0.5", "999/999/9999/9=0.6"],
      check: germanTax,
      label: words("steuer(?:liche)?-?\\s?(?:id\\w*|identifikations\\w*|nummer|nr)", "idnr", "tin"),
      plain: 0.45,
      loose: 0.55,
    }, {
      forms: ["9{11}"],
      check: germanTax,
      label: words("identifikations(?:nummer|nr)", TAX),
      plain: 0,
    }],
    samples: {
      found: ["Tax ID: «26954371827»", "Identifikationsnummer (Steuer) «26954371827»"],
      clean: ["Tax ID: 26954371828"],
    },
  },
  {
    type: "DE_SOCIAL_SECURITY",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{8}A9{3}", "99 9{6} A 9{3}", "99 9{6} A9{3}"],
      check: germanPension,
      label: words("sozialversicherung\\w*", "rentenversicherung\\w*", "rvnr", "svnr", "versicherungsnummer"),
      plain: 0.75,
    }],
    samples: {
      found: ["«15070649C103»"],
      clean: ["15071349C103"],
    },
  },
  {
    type: "DE_ID_CARD",
    group: "NATIONAL_ID",
    numbers: [{
      forms: [],
      free: { lengths: [9], shape: /^[CFGHJKLMNPRTVWXYZ](?=.*\d)[0-9CFGHJKLMNPRTVWXYZ]{8}$/ },
      label: words("personalausweis\\w*", "ausweis\\w*", "id[ -]?card", IDENTITY),
      plain: 0,
      labelled: 0.7,
    }, {
      forms: [],
      free: { lengths: [9], shape: /^[CFGHJKLMNPRTVWXYZ](?=.*\d)[0-9CFGHJKLMNPRTVWXYZ]{8}$/ },
      check: icao,
      label: words("personalausweis\\w*", "ausweis\\w*", "id[ -]?card", IDENTITY),
      plain: 0.3,
    }, {
      // The number and its check digit, as on the back of the card.
      forms: [],
      free: { lengths: [10], shape: WITH_CHECK_DIGIT },
      check: icao,
      label: words("personalausweis\\w*", "ausweis\\w*", "id[ -]?card", IDENTITY),
      plain: 0,
      alone: 0,
    }],
    samples: {
      found: ["Personalausweis «L01X00T47»", "Ausweis-Nr.: «L01X00T471»"],
      clean: ["Artikel L01X00T47"],
    },
  },
  {
    type: "DE_PASSPORT",
    group: "NATIONAL_ID",
    numbers: [{
      forms: [],
      free: { lengths: [9], shape: /^[CFGHJKLMNPRTVWXYZ](?=.*\d)[0-9CFGHJKLMNPRTVWXYZ]{8}$/ },
      check: icao,
      label: words(PASSPORT, "pass(?:nr|nummer)?"),
      plain: 0.3,
      loose: 0.6,
    }, {
      forms: [],
      free: { lengths: [10], shape: WITH_CHECK_DIGIT },
      check: icao,
      label: words(PASSPORT, "pass(?:nr|nummer)?"),
      plain: 0,
      alone: 0,
    }],
    samples: {
      found: ["«c01234565»", "Reisepass «C01X00T478»"],
      clean: ["c01234566"],
    },
  },
  {
    type: "DE_HEALTH_INSURANCE",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["A9{9}"],
      check: (s) => {
        const number = String(s.charCodeAt(0) - 64).padStart(2, "0") + s.slice(1, 9);
        let sum = 0;
        for (let i = 0; i < 10; i++) {
          const p = digit(number, i) * (i % 2 + 1);
          sum += p > 9 ? p - 9 : p;
        }
        return sum % 10 === digit(s, 9);
      },
      label: words(
        "kvnr",
        "egk",
        "krankenversicher\\w*",
        "krankenkasse\\w*",
        "versicherten-?\\s?(?:nummer|nr)",
        "health insurance",
      ),
      plain: 0.4,
    }],
    samples: {
      found: ["«A123456780»"],
      clean: ["A123456781"],
    },
  },
  {
    type: "DE_VAT_ID",
    group: "NATIONAL_ID",
    aliases: ["DE_VAT"],
    numbers: [{
      forms: ["9{9}", "9{3} 9{3} 9{3}"],
      prefix: "DE",
      check: mod1110,
      loose: 0.5,
      label: words("ust-?\\s?id\\w*", "umsatzsteuer\\w*", "vat\\w*", TAX),
      plain: 0,
      alone: 0,
    }],
    samples: {
      found: ["«DE136695976»"],
      clean: ["DE136695977"],
    },
  },
];
