/**
 * Identity and tax numbers of Asia.
 *
 * Check digits as the issuing authorities publish them and as python-stdnum documents them.
 */

import { gstin, hongKong, korean, resident, singapore, taiwan, turkish, uen } from "./checks_world.ts";
import { dateAt, digit, luhn, repeated, verhoeff, weighted } from "../checksums.ts";
import { IDENTITY, PASSPORT, TAX } from "./labels.ts";
import type { Recognizer } from "../recognizer.ts";
import { words } from "../scanned_view.ts";

export const ASIA: readonly Recognizer[] = [
  {
    type: "IN_AADHAAR",
    group: "NATIONAL_ID",
    aliases: ["IN_AADHAAR_NUMBER"],
    numbers: [{
      forms: ["9{4} 9{4} 9{4}=0.6", "9{4}-9{4}-9{4}=0.6", "9{12}"],
      check: (s) => /^[2-9]/.test(s) && !repeated(s) && s !== [...s].reverse().join("") && verhoeff(s),
      label: words("aadhaa?r", "uidai", "uid", IDENTITY, "आधार"),
      plain: 0.45,
    }],
    samples: {
      found: ["Aadhaar «234123412346»", "see «2341 2341 2346» ok", "aadhaar 9400 «2341 2341 2346» 74"],
      clean: ["Aadhaar 234123412347", "parcel 9400 1787 8021 5490 7401 06", "at 1787 8021 5490 7401 ok"],
    },
  },
  {
    type: "IN_PAN",
    group: "NATIONAL_ID",
    aliases: ["IN_PERMANENT_ACCOUNT_NUMBER"],
    numbers: [{
      forms: ["A{5}9{4}A"],
      check: (s) => /^[A-Z]{3}[ABCEFGHJLPT][A-Z]/.test(s),
      label: words("pan(?:[ _-]*(?:no|number|card))?", "permanent account", TAX),
      plain: 0.6,
    }, {
      forms: ["A{5}9{4}A"],
      label: words("pan(?:[ _-]*(?:no|number|card))?", "permanent account"),
      plain: 0.2,
      alone: 0.5,
      labelled: 0.7,
    }],
    samples: {
      found: ["«ACUPA7085R»"],
      clean: ["ACUPA70851"],
    },
  },
  {
    type: "IN_GSTIN",
    group: "NATIONAL_ID",
    numbers: [{
      forms: [],
      free: {
        lengths: [15],
        shape: /^(?:0[1-9]|[12]\d|3[0-8]|97|99)[A-Z]{5}\d{4}[A-Z][1-9A-Z]Z[0-9A-Z]$/,
      },
      check: gstin,
      label: words("gst\\w*", TAX),
      plain: 0.95,
      anyCase: true,
    }, {
      // Examples in documents often have wrong check digits.
      forms: [],
      free: {
        lengths: [15],
        shape: /^(?:0[1-9]|[12]\d|3[0-8]|97|99)[A-Z]{5}\d{4}[A-Z][1-9A-Z]Z[0-9A-Z]$/,
      },
      label: words("gst\\w*", TAX),
      plain: 0.4,
      alone: 0.5,
      labelled: 0.7,
      anyCase: true,
    }],
    samples: {
      found: ["«27ABCDE1234F1Z5»"],
      clean: ["00ABCDE1234F1Z5", "part 27ABCDE1234F1Z5 of"],
    },
  },
  {
    type: "IN_VOTER",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["A{3}9{7}"],
      check: (s) => luhn(s.slice(3)),
      label: words("voters?(?:[ _-]*(?:id|card|no))?", "epic", "election"),
      plain: 0.4,
      loose: 0.55,
    }],
    samples: {
      found: ["«WKH1186253»"],
      clean: ["WKH1186254"],
    },
  },
  {
    type: "IN_PASSPORT",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["A9{7}", "A9 9{5} 9", "A 9{7}"],
      check: (s) => /^[A-PR-WY][1-9]/.test(s),
      label: words(PASSPORT),
      plain: 0,
      alone: 0,
      labelled: 0.65,
    }],
    samples: {
      found: ["passport no. «J8369854»"],
      clean: ["part no. J8369854"],
    },
  },
  {
    type: "SG_NRIC_FIN",
    group: "NATIONAL_ID",
    aliases: ["SG_FIN"],
    numbers: [{
      forms: ["A9{7}A"],
      check: (s) => /^[STFGM]/.test(s) && singapore(s),
      label: words("nric", "fin", "uin", IDENTITY),
      plain: 0.75,
    }, {
      forms: ["A9{7}A"],
      check: (s) => /^[STFGM]/.test(s),
      label: words("nric", "fin", "singapore"),
      plain: 0.2,
      alone: 0.5,
      labelled: 0.65,
    }],
    samples: {
      found: ["«S1234567D»"],
      clean: ["A1234567D"],
    },
  },
  {
    type: "SG_UEN",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{8}A", "9{9}A", "A99AA9{4}A=0.7"],
      check: uen,
      label: words("uen", "unique entity", "acra", "business reg\\w*"),
      plain: 0.4,
    }],
    samples: {
      found: ["UEN «197401143C»"],
      clean: ["UEN 197401143D"],
    },
  },
  {
    type: "KR_RRN",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{6}-9{7}=0.7", "9{13}"],
      check: korean,
      label: words("rrn", "jumin\\w*", "resident reg\\w*", "주민\\s?(?:등록\\s?)?번호", IDENTITY),
      plain: 0.3,
    }],
    samples: {
      found: ["«960121-1234567»"],
      clean: ["961321-1234567"],
    },
  },
  {
    type: "KR_BRN",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{3}-99-9{5}=0.6", "9{10}"],
      check: (s) => {
        if (s[0] === "0") return false;
        const sum = weighted(s, [1, 3, 7, 1, 3, 7, 1, 3]) + Math.floor(digit(s, 8) * 5 / 10) +
          digit(s, 8) * 5;
        return (10 - sum % 10) % 10 === digit(s, 9);
      },
      label: words("brn", "business reg\\w*", "사업자\\s?(?:등록\\s?)?번호", TAX),
      plain: 0.3,
    }],
    samples: {
      found: ["«104-86-56659»"],
      clean: ["123-45-67890"],
    },
  },
  {
    type: "KR_PASSPORT",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["A9{8}", "A9{3}A9{4}"],
      check: (s) => /^[MSRODG]/.test(s),
      label: words(PASSPORT, "korean?"),
      plain: 0,
      alone: 0,
      labelled: 0.65,
      anyCase: true,
    }],
    samples: {
      found: ["Passport number: «M35772699»"],
      clean: ["Passport number: X35772699"],
    },
  },
  {
    type: "CN_RESIDENT_ID",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{18}", "9{17}A"],
      check: resident,
      label: words("身份证\\w*", "身份證", "resident id\\w*", "shenfenzheng", IDENTITY),
      plain: 0.9,
      anyCase: true,
    }],
    samples: {
      found: ["«360426199101010071»"],
      clean: ["360426199101010072"],
    },
  },
  {
    type: "TW_ID",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["A9{9}"],
      check: (s) => /^[A-Z][1289]/.test(s) && taiwan(s),
      label: words("taiwan\\w*", "身分證\\w*", "身份證\\w*", IDENTITY),
      plain: 0.45,
    }],
    samples: {
      found: ["«A219758834»"],
      clean: ["A219758835"],
    },
  },
  {
    type: "HK_ID",
    group: "NATIONAL_ID",
    numbers: [{
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
    }],
    samples: {
      found: ["«OV290326[A]»", "«W520128(7)»"],
      clean: ["W520128(8)"],
    },
  },
  {
    type: "TH_TNIN",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9-9{4}-9{5}-99-9=0.85", "9 9{4} 9{5} 99 9=0.85", "9{13}"],
      check: (s) =>
        /^[1-8](?:1\d|2[0-7]|3\d|4\d|5[0-8]|6[0-7]|7[0-7]|8[0-6]|9[0-6])/.test(s) &&
        (11 - weighted(s, [13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11) % 10 === digit(s, 12),
      label: words("thai\\w*", "tnin", "บัตรประชาชน", "เลขประจำตัวประชาชน", IDENTITY, TAX),
      plain: 0.45,
    }],
    samples: {
      found: ["«3456789012347»"],
      clean: ["3456789012348"],
    },
  },
  {
    type: "MY_NRIC",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{6}-99-9{4}=0.75", "9{12}", "9{6} 99 9{4}"],
      check: (s) => dateAt(s, 0, 2, 4) && !/^(?:00|1[789]|[28]0|69|70|73|94|95|96|97)$/.test(s.slice(6, 8)),
      label: words(
        "my ?ka?d",
        "nric",
        "kad pengenalan",
        "no\\.? ?k\\.?p",
        "ic[ _-]*(?:no|num(?:ber)?)",
        IDENTITY,
      ),
      plain: 0.2,
    }],
    samples: {
      found: ["«770305-02-1234»"],
      clean: ["771305-02-1234"],
    },
  },
  {
    type: "TR_NATIONAL_ID",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{11}"],
      check: turkish,
      label: words("t\\.?c\\.?(?: ?kimlik)?", "kimlik\\w*", "tckn", TAX, IDENTITY),
      plain: 0.45,
    }],
    samples: {
      found: ["«17291716060»"],
      clean: ["17291716050"],
    },
  },
  {
    type: "IL_ID",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{9}", "9{8}-9", "9-9{7}-9"],
      check: (s) => !repeated(s) && luhn(s),
      label: words("teudat\\w*", "israel\\w*", "mispar zehut", "(?:תעודת|מספר) זהות", 'ת[. "״]?ז', IDENTITY),
      plain: 0.3,
    }],
    samples: {
      found: ["«219640216»"],
      clean: ["219640217"],
    },
  },
];
