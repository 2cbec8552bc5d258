/**
 * Identity and tax numbers outside Europe and the United States.
 *
 * Arithmetic as published by the issuing authorities and in python-stdnum's documentation.
 */

import { words } from "./field.ts";
import { dateAt, digit, luhn, repeated, two, verhoeff, weighted } from "./checksums.ts";
import {
  brazilian,
  CNPJ,
  CPF,
  curp,
  hongKong,
  inn,
  ird,
  korean,
  resident,
  rfc,
  rut,
  singapore,
  taiwan,
  turkish,
  uen,
} from "./checks_world.ts";
import { IDENTITY, PASSPORT, TAX } from "./labels.ts";
import type { NumberRule } from "./numbers.ts";

export const WORLD: readonly NumberRule[] = [
  {
    type: "CA_SIN",
    forms: ["9{3}-9{3}-9{3}=0.5", "9{3} 9{3} 9{3}=0.4", "9{9}"],
    check: (s) => !repeated(s) && luhn(s),
    label: words("sin", "social insurance", "nas", "assurance sociale", TAX),
    plain: 0.3,
  },
  {
    type: "AU_TFN",
    forms: ["9{3} 9{3} 9{3}=0.4", "9{3}-9{3}-9{3}=0.4", "9{9}", "9{8}"],
    check: (s) =>
      !repeated(s) &&
      (weighted(s, [1, 4, 3, 7, 5, 8, 6, 9, 10].slice(0, s.length)) % 11 === 0 ||
        s.length === 8 && weighted(s, [10, 7, 8, 4, 6, 3, 5, 1]) % 11 === 0),
    label: words("tfn", "tax file", TAX),
    plain: 0.3,
  },
  {
    type: "AU_ABN",
    forms: ["99 999 999 999=0.7", "9{11}"],
    check: (s) => s[0] !== "0" && (weighted(s, [10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19]) - 10) % 89 === 0,
    label: words("abn", "australian business", TAX),
    plain: 0.45,
  },
  {
    type: "AU_ACN",
    forms: ["9{3} 9{3} 9{3}=0.4", "9{9}"],
    check: (s) => (10 - weighted(s, [8, 7, 6, 5, 4, 3, 2, 1]) % 10) % 10 === digit(s, 8),
    label: words("acn", "australian company"),
    plain: 0.3,
  },
  {
    type: "AU_MEDICARE",
    forms: ["9{4} 9{5} 9=0.6", "9{4}-9{5}-9=0.6", "9{10}", "9{11}", "9{4} 9{5} 9 9"],
    check: (s) => /^[2-6]/.test(s) && weighted(s, [1, 3, 7, 9, 1, 3, 7, 9]) % 10 === digit(s, 8),
    label: words("medicare"),
    plain: 0.3,
  },
  {
    type: "NZ_IRD",
    forms: ["9{8}", "9{9}", "99-9{3}-9{3}=0.4", "9{3}-9{3}-9{3}=0.4", "9{7}-9=0.4", "9{8}-9=0.4"],
    prefix: "NZ",
    check: ird,
    label: words("ird", "inland revenue", TAX),
    plain: 0.3,
  },
  {
    type: "IN_AADHAAR",
    forms: ["9{4} 9{4} 9{4}=0.6", "9{4}-9{4}-9{4}=0.6", "9{12}"],
    check: (s) => /^[2-9]/.test(s) && !repeated(s) && s !== [...s].reverse().join("") && verhoeff(s),
    label: words("aadhaa?r", "uidai", "uid", IDENTITY, "आधार"),
    plain: 0.45,
  },
  {
    type: "IN_PAN",
    forms: ["A{5}9{4}A"],
    check: (s) => /^[A-Z]{3}[ABCEFGHJLPT][A-Z]/.test(s),
    label: words("pan(?:[ _-]*(?:no|number|card))?", "permanent account", TAX),
    plain: 0.6,
  },
  {
    type: "IN_PAN",
    forms: ["A{5}9{4}A"],
    label: words("pan(?:[ _-]*(?:no|number|card))?", "permanent account"),
    plain: 0.2,
    alone: 0.5,
    labelled: 0.7,
  },
  {
    type: "IN_GSTIN",
    forms: [],
    free: {
      lengths: [15],
      shape: /^(?:0[1-9]|[12]\d|3[0-8]|97|99)[A-Z]{5}\d{4}[A-Z][1-9A-Z]Z[0-9A-Z]$/,
    },
    label: words("gst\\w*", TAX),
    plain: 0.85,
    anyCase: true,
  },
  {
    type: "IN_VOTER",
    forms: ["A{3}9{7}"],
    check: (s) => luhn(s.slice(3)),
    label: words("voters?(?:[ _-]*(?:id|card|no))?", "epic", "election"),
    plain: 0.4,
    loose: 0.55,
  },
  {
    type: "IN_PASSPORT",
    forms: ["A9{7}", "A9 9{5} 9", "A 9{7}"],
    check: (s) => /^[A-PR-WY][1-9]/.test(s),
    label: words(PASSPORT),
    plain: 0,
    alone: 0,
    labelled: 0.65,
  },
  {
    type: "SG_NRIC_FIN",
    forms: ["A9{7}A"],
    check: (s) => /^[STFGM]/.test(s) && singapore(s),
    label: words("nric", "fin", "uin", IDENTITY),
    plain: 0.75,
  },
  {
    type: "SG_NRIC_FIN",
    forms: ["A9{7}A"],
    check: (s) => /^[STFGM]/.test(s),
    label: words("nric", "fin", "singapore"),
    plain: 0.2,
    alone: 0.5,
    labelled: 0.65,
  },
  {
    type: "SG_UEN",
    forms: ["9{8}A", "9{9}A", "A99AA9{4}A=0.7"],
    check: uen,
    label: words("uen", "unique entity", "acra", "business reg\\w*"),
    plain: 0.4,
  },
  {
    type: "KR_RRN",
    forms: ["9{6}-9{7}=0.7", "9{13}"],
    check: korean,
    label: words("rrn", "resident reg\\w*", "주민등록번호", "주민번호", IDENTITY),
    plain: 0.3,
  },
  {
    type: "KR_BRN",
    forms: ["9{3}-99-9{5}=0.6", "9{10}"],
    check: (s) => {
      if (s[0] === "0") return false;
      const sum = weighted(s, [1, 3, 7, 1, 3, 7, 1, 3]) + Math.floor(digit(s, 8) * 5 / 10) + digit(s, 8) * 5;
      return (10 - sum % 10) % 10 === digit(s, 9);
    },
    label: words("brn", "business reg\\w*", "사업자등록번호", TAX),
    plain: 0.3,
  },
  {
    type: "KR_PASSPORT",
    forms: ["A9{8}", "A9{3}A9{4}"],
    check: (s) => /^[MSRODG]/.test(s),
    label: words(PASSPORT, "korean?"),
    plain: 0,
    alone: 0,
    labelled: 0.65,
    anyCase: true,
  },
  {
    type: "CN_RESIDENT_ID",
    forms: ["9{18}", "9{17}A"],
    check: resident,
    label: words("身份证\\w*", "身份證", "resident id\\w*", "shenfenzheng", IDENTITY),
    plain: 0.9,
    anyCase: true,
  },
  {
    type: "TW_ID",
    forms: ["A9{9}"],
    check: (s) => /^[A-Z][1289]/.test(s) && taiwan(s),
    label: words("taiwan\\w*", "身分證\\w*", "身份證\\w*", IDENTITY),
    plain: 0.45,
  },
  {
    type: "HK_ID",
    forms: [
      "A9{6}(9)=0.9",
      "A9{6}(A)=0.9",
      "AA9{6}(9)=0.9",
      "AA9{6}(A)=0.9",
      "A9{7}",
      "A9{6}A",
      "AA9{7}",
      "AA9{6}A",
    ],
    check: hongKong,
    label: words("hkid\\w*", "hong kong\\w*", "身份證\\w*", IDENTITY),
    plain: 0.4,
  },
  {
    type: "TH_TNIN",
    forms: ["9-9{4}-9{5}-99-9=0.85", "9 9{4} 9{5} 99 9=0.85", "9{13}"],
    check: (s) =>
      /^[1-8](?:1\d|2[0-7]|3\d|4\d|5[0-8]|6[0-7]|7[0-7]|8[0-6]|9[0-6])/.test(s) &&
      (11 - weighted(s, [13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11) % 10 === digit(s, 12),
    label: words("thai\\w*", "tnin", "บัตรประชาชน", "เลขประจำตัวประชาชน", IDENTITY, TAX),
    plain: 0.45,
  },
  {
    type: "MY_NRIC",
    forms: ["9{6}-99-9{4}=0.75", "9{12}", "9{6} 99 9{4}"],
    check: (s) => dateAt(s, 0, 2, 4) && !/^(?:00|1[789]|[28]0|69|70|73|94|95|96|97)$/.test(s.slice(6, 8)),
    label: words("mykad", "nric", "my ?kad", "kad pengenalan", IDENTITY),
    plain: 0.2,
  },
  {
    type: "TR_NATIONAL_ID",
    forms: ["9{11}"],
    check: turkish,
    label: words("t\\.?c\\.?(?: ?kimlik)?", "kimlik\\w*", "tckn", TAX, IDENTITY),
    plain: 0.55,
  },
  {
    type: "IL_ID",
    forms: ["9{9}", "9{8}-9", "9-9{7}-9"],
    check: (s) => !repeated(s) && luhn(s),
    label: words("teudat\\w*", "israel\\w*", "mispar zehut", "תעודת זהות", "ת\\.?ז", IDENTITY),
    plain: 0.3,
  },
  {
    type: "ZA_ID_NUMBER",
    forms: ["9{13}", "9{6} 9{4} 99 9"],
    check: (s) => dateAt(s, 0, 2, 4) && digit(s, 10) < 3 && luhn(s),
    label: words("south african?", "rsa id", "said", "permanent resident", IDENTITY),
    plain: 0.55,
  },
  {
    type: "BR_CPF",
    forms: ["9{3}.9{3}.9{3}-99", "9{9}-99=0.75", "9{3} 9{3} 9{3} 99=0.6", "9{11}=0.45"],
    check: (s) => brazilian(s, 11, CPF),
    label: words("cpf", "cadastro", TAX),
    plain: 0.95,
  },
  {
    type: "BR_CNPJ",
    forms: ["99.9{3}.9{3}/9{4}-99", "9{14}=0.55", "9{8}/9{4}-99"],
    check: (s) => brazilian(s, 14, CNPJ),
    label: words("cnpj", "cadastro", TAX),
    plain: 0.95,
  },
  {
    type: "BR_CNPJ",
    forms: [],
    free: { lengths: [14], shape: /^[A-Z0-9]{12}\d\d$/ },
    check: (s) => brazilian(s, 14, CNPJ),
    label: words("cnpj", "cadastro", TAX),
    plain: 0.4,
  },
  {
    type: "MX_CURP",
    forms: [],
    free: { lengths: [18], shape: /^[A-Z][AEIOUX][A-Z]{2}\d{6}[HMX][A-Z]{2}[B-DF-HJ-NP-TV-Z]{3}[A-Z0-9]\d$/ },
    check: curp,
    label: words("curp"),
    plain: 0.95,
    anyCase: true,
  },
  {
    type: "MX_RFC",
    forms: [],
    free: { lengths: [12, 13], shape: /^[A-Z]{3,4}\d{6}[A-Z0-9]{2}[0-9A]$/ },
    check: rfc,
    label: words("r\\.?f\\.?c", "registro federal", TAX),
    plain: 0.6,
  },
  {
    type: "AR_CUIT",
    forms: ["99-9{8}-9=0.75", "9{11}"],
    check: (s) => {
      if (!/^(?:2[0347]|3[034]|5[015])/.test(s)) return false;
      const check = 11 - weighted(s, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
      return (check === 11 ? 0 : check === 10 ? 9 : check) === digit(s, 10);
    },
    label: words("cui[tl]", TAX),
    plain: 0.45,
  },
  {
    type: "CL_RUT",
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
    label: words("rut", "run", "rol [uú]nico", TAX),
    plain: 0.4,
  },
  {
    type: "RU_INN",
    forms: ["9{10}", "9{12}=0.45"],
    check: inn,
    label: new RegExp(`${words("inn", TAX).source}|ИНН|идентификационный номер`, "i"),
    plain: 0.3,
  },
  {
    type: "RU_SNILS",
    forms: ["9{3}-9{3}-9{3} 99", "9{3}-9{3}-9{3}-99", "9{11}=0.4"],
    check: (s) => !repeated(s) && weighted(s, [9, 8, 7, 6, 5, 4, 3, 2, 1]) % 101 % 100 === two(s, 9),
    label: new RegExp(`${words("snils").source}|СНИЛС|страхов`, "i"),
    plain: 0.85,
  },
];
