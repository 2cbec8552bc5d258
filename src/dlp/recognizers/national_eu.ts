/**
 * Identity and tax numbers of the European countries other than the United Kingdom and Ireland.
 *
 * Arithmetic as published by the issuing authorities and in python-stdnum's documentation. Where an authority
 * announced that check digits are no longer kept (Denmark), the date alone decides and needs a name beside it.
 */

import { words } from "./field.ts";
import { dateAt, digit, luhn, mod1110, repeated, weighted } from "./checksums.ts";
import {
  baltic,
  belgian,
  bulgarian,
  cif,
  codiceFiscale,
  czech,
  dni,
  germanPension,
  hetu,
  icao,
  latvian,
  nir,
  norwegian,
  pesel,
  romanian,
  swedish,
} from "./checks_eu.ts";
import { IDENTITY, PASSPORT, TAX } from "./labels.ts";
import type { NumberRule } from "./numbers.ts";

const DNI_WORDS = "d\\.?n\\.?i|n\\.?i\\.?f|documento nacional|identificaci[oó]n fiscal";

export const EUROPE: readonly NumberRule[] = [
  {
    type: "DE_TAX_ID",
    forms: ["9{11}", "99 999 999 999=0.6", "99.999.999.999=0.5", "999/999/9999/9=0.6"],
    check: (s) => s[0] !== "0" && !repeated(s) && mod1110(s),
    label: words("steuer-?\\s?(?:id\\w*|identifikations\\w*|nummer|nr)", "idnr", "tin"),
    plain: 0.45,
    loose: 0.55,
  },
  {
    type: "DE_TAX_ID",
    forms: ["9{11}"],
    check: (s) => s[0] !== "0" && !repeated(s) && mod1110(s),
    label: words(TAX),
    plain: 0,
  },
  {
    type: "DE_SOCIAL_SECURITY",
    forms: ["9{8}A9{3}", "99 9{6} A 9{3}", "99 9{6} A9{3}"],
    check: germanPension,
    label: words("sozialversicherung\\w*", "rentenversicherung\\w*", "rvnr", "svnr", "versicherungsnummer"),
    plain: 0.75,
  },
  {
    type: "DE_ID_CARD",
    forms: [],
    free: { lengths: [9], shape: /^[CFGHJKLMNPRTVWXYZ](?=.*\d)[0-9CFGHJKLMNPRTVWXYZ]{8}$/ },
    label: words("personalausweis\\w*", "ausweis\\w*", "id[ -]?card", IDENTITY),
    plain: 0,
    labelled: 0.7,
  },
  {
    type: "DE_PASSPORT",
    forms: [],
    free: { lengths: [9], shape: /^[CFGHJKLMNPRTVWXYZ](?=.*\d)[0-9CFGHJKLMNPRTVWXYZ]{8}$/ },
    check: icao,
    label: words(PASSPORT, "pass(?:nr|nummer)?"),
    plain: 0.3,
    loose: 0.6,
  },
  {
    type: "DE_HEALTH_INSURANCE",
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
      "versichertennummer",
      "health insurance",
    ),
    plain: 0.4,
  },
  {
    type: "DE_VAT_ID",
    forms: ["9{9}", "9{3} 9{3} 9{3}"],
    prefix: "DE",
    check: mod1110,
    label: words("ust-?\\s?id\\w*", "umsatzsteuer\\w*", "vat\\w*", TAX),
    plain: 0,
    alone: 0,
  },
  {
    type: "FR_NIR",
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
  },
  {
    type: "ES_NIF",
    forms: ["9{8}A", "9{7}A=0.3", "9{8}-A=0.75", "9{8} A", "99.999.999-A=0.85", "99.999.999A"],
    prefix: "ES",
    check: dni,
    label: words(DNI_WORDS, TAX, IDENTITY),
    plain: 0.6,
  },
  {
    type: "ES_NIF",
    forms: ["A9{7}A", "A-9{7}-A", "A9{7}-A", "A-9{7}A", "A9{8}=0.4", "A-9{8}=0.4", "A-9{7}-9=0.4"],
    prefix: "ES",
    check: (s) => (/^[KLMXYZ]/.test(s) && /[A-Z]$/.test(s) ? dni(s) : cif(s)),
    label: words(DNI_WORDS, "c\\.?i\\.?f", "n\\.?i\\.?e", TAX, IDENTITY),
    plain: 0.55,
    labelled: 0.9,
  },
  {
    type: "ES_NIE",
    forms: ["A9{7}A", "A-9{7}-A", "A9{7}-A", "A-9{7}A", "A 9{7} A"],
    prefix: "ES",
    check: (s) => /^[XYZ]/.test(s) && dni(s),
    label: words("n\\.?i\\.?e", "extranjer\\w+", DNI_WORDS, TAX, IDENTITY),
    plain: 0.8,
  },
  {
    type: "ES_CIF",
    forms: ["A9{7}A=0.6", "A9{8}", "A-9{8}", "A-9{7}-9", "A-9{7}-A=0.7", "A9{7}-A"],
    prefix: "ES",
    check: cif,
    label: words("c\\.?i\\.?f", "n\\.?i\\.?f", TAX),
    plain: 0.45,
  },
  {
    type: "IT_FISCAL_CODE",
    forms: [],
    free: {
      lengths: [16],
      shape: /^[A-Z]{6}[0-9LMNP-V]{2}[ABCDEHLMPRST][0-9LMNP-V]{2}[A-Z][0-9LMNP-V]{3}[A-Z]$/,
    },
    check: codiceFiscale,
    label: words("codice fiscale", "cod\\.? ?fisc\\w*", "c\\.?f\\.?", TAX),
    plain: 0.9,
    anyCase: true,
  },
  {
    type: "IT_VAT_CODE",
    forms: ["9{11}"],
    prefix: "IT",
    check: (s) => !repeated(s) && /^.{7}(?:0\d\d|100|12[01]|888|999)/.test(s) && luhn(s),
    label: words("partita iva", "p\\.? ?iva", "iva", TAX),
    plain: 0.3,
  },
  {
    type: "NL_BSN",
    forms: ["9{9}", "9{3}.9{3}.9{3}", "9{4}.9{2}.9{3}", "9{3} 9{3} 9{3}", "9{3}-9{3}-9{3}", "9{8}"],
    check: (s) => {
      const nine = s.padStart(9, "0");
      return !repeated(s) && (weighted(nine, [9, 8, 7, 6, 5, 4, 3, 2]) - digit(nine, 8)) % 11 === 0;
    },
    label: words("bsn", "burgerservice\\w*", "sofi\\w*", TAX, IDENTITY),
    plain: 0.3,
  },
  {
    type: "BE_NN",
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
      "rijksregister\\w*",
      "insz",
      "niss",
      TAX,
      IDENTITY,
    ),
    plain: 0.45,
  },
  {
    type: "PL_PESEL",
    forms: ["9{11}"],
    check: pesel,
    label: words("pesel", TAX, IDENTITY),
    plain: 0.45,
  },
  {
    // The date is not always one, but the check digit is.
    type: "PL_PESEL",
    forms: ["9{11}"],
    check: (s) =>
      !repeated(s) && (10 - weighted(s, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) % 10) % 10 === digit(s, 10),
    label: words("pesel", IDENTITY),
    plain: 0.2,
    alone: 0.5,
    labelled: 0.7,
  },
  {
    type: "PL_NIP",
    forms: ["9{10}", "9{3}-9{3}-99-99=0.7", "9{3}-99-99-9{3}=0.7", "9{3} 9{3} 99 99"],
    prefix: "PL",
    check: (s) => !repeated(s) && weighted(s, [6, 5, 7, 2, 3, 4, 5, 6, 7]) % 11 === digit(s, 9),
    label: words("nip", "numer identyfikacji", TAX),
    plain: 0.3,
  },
  {
    type: "PT_NIF",
    forms: ["9{9}", "9{3} 9{3} 9{3}", "9{3}.9{3}.9{3}"],
    prefix: "PT",
    check: (s) =>
      s[0] !== "0" &&
      (11 - weighted(s, [9, 8, 7, 6, 5, 4, 3, 2]) % 11) % 11 % 10 === digit(s, 8),
    label: words("nif", "nipc", "contribuinte", "identifica[cç][aã]o fiscal", TAX),
    plain: 0.3,
  },
  {
    type: "SE_PERSONNUMMER",
    forms: [
      "9{6}-9{4}=0.6",
      "9{6}+9{4}=0.6",
      "9{8}-9{4}=0.85",
      "9{8}+9{4}=0.7",
      "9{10}",
      "9{12}=0.55",
      "9{8} 9{4}",
    ],
    check: swedish,
    label: words("person(?:nummer|nr)", "pnr", "personal identity", "samordningsnummer", TAX, IDENTITY),
    plain: 0.4,
  },
  {
    type: "FI_PERSONAL_IDENTITY_CODE",
    forms: ["9{6}-9{3}A", "9{6}-9{4}", "9{6}+9{3}A", "9{6}+9{4}"],
    free: { lengths: [11], shape: /^\d{6}[A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y]$/ },
    check: hetu,
    label: words("hetu", "henkil[öo]tunnus\\w*", "personbeteckning", TAX, IDENTITY),
    plain: 0.8,
  },
  {
    type: "DK_CPR",
    forms: ["9{6}-9{4}=0.5", "9{10}", "9{6} 9{4}"],
    check: (s) => dateAt(s, 4, 2, 0) && weighted(s, [4, 3, 2, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0,
    label: words("cpr\\w*", "personnummer", TAX, IDENTITY),
    plain: 0.4,
  },
  {
    type: "DK_CPR",
    forms: ["9{6}-9{4}"],
    check: (s) => dateAt(s, 4, 2, 0),
    label: words("cpr\\w*"),
    plain: 0.3,
    alone: 0.3,
    labelled: 0.8,
  },
  {
    type: "NO_FODSELSNUMMER",
    forms: ["9{11}", "9{6} 9{5}=0.8"],
    check: norwegian,
    label: words("f[øo]dselsnummer", "personnummer", "fnr", TAX, IDENTITY),
    plain: 0.6,
  },
  {
    type: "CH_AHV",
    forms: ["9{13}=0.7", "9{3}.9{4}.9{4}.99", "9{3} 9{4} 9{4} 99"],
    check: (s) => s.startsWith("756") && weighted(s, [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]) % 10 === 0,
    label: words("ahv\\w*", "avs", "sozialversicherung\\w*", "oasi"),
    plain: 0.95,
  },
  {
    type: "RO_CNP",
    forms: ["9{13}"],
    check: romanian,
    label: words("cnp", "cod numeric personal", TAX, IDENTITY),
    plain: 0.55,
  },
  {
    type: "BG_EGN",
    forms: ["9{10}"],
    check: bulgarian,
    label: new RegExp(`${words("egn", TAX, IDENTITY).source}|ЕГН|единен граждански`, "i"),
    plain: 0.4,
  },
  {
    type: "CZ_RC",
    forms: ["9{6}/9{4}=0.85", "9{6}/9{3}=0.6", "9{10}", "9{9}"],
    check: czech,
    label: words("rodn[ée] [čc][íi]slo", "rodn[ée]ho [čc][íi]sla", "r\\.?[čc]\\.?", TAX, IDENTITY),
    plain: 0.4,
  },
  {
    type: "HR_OIB",
    forms: ["9{11}"],
    prefix: "HR",
    check: (s) => !repeated(s) && mod1110(s),
    label: words("oib", "osobni identifikacijski", TAX, IDENTITY),
    plain: 0.4,
  },
  {
    type: "EE_ISIKUKOOD",
    forms: ["9{11}"],
    check: baltic,
    label: words("isikukood\\w*", "ik", TAX, IDENTITY),
    plain: 0.45,
  },
  {
    type: "LV_PERSONAL_CODE",
    forms: ["9{6}-9{5}=0.7", "9{11}"],
    check: latvian,
    label: words("personas kods\\w*", "person\\w* kod\\w*", TAX, IDENTITY),
    plain: 0.4,
  },
];
