/** Payment cards. Sources: ISO/IEC 7812 and the number ranges that the schemes publish. */

import { DIGIT, isDigit, LETTER } from "./character_class.ts";
import { luhn, repeated } from "./checksums.ts";
import { FOREIGN_CODES, foreignWords } from "./foreign_words.ts";
import { pairAt, pairTable } from "./letter_pairs.ts";
import type { Recognizer } from "./recognizer.ts";
import { REPLY } from "./reply.ts";
import { report, type ScannedView, words } from "./scanned_view.ts";

function card(s: string): boolean {
  const n = s.length;
  const two = Number(s.slice(0, 2));
  const four = Number(s.slice(0, 4));
  const known = (s[0] === "4" && (n === 13 || n === 16 || n === 19)) ||
    (n === 16 && ((two >= 51 && two <= 55) || (four >= 2221 && four <= 2720))) ||
    (n === 15 && (two === 34 || two === 37)) ||
    (n >= 16 && (two === 65 || four === 6011 || (four >= 6440 && four <= 6499))) ||
    (n === 14 &&
      (two === 36 || two === 38 || two === 39 || (four >= 3000 && four <= 3059) || four === 3095)) ||
    (n === 15 && (four === 2131 || four === 1800)) || (n >= 16 && four >= 3528 && four <= 3589) ||
    (n >= 16 && (two === 62 || two === 81 || two === 60)) ||
    (n >= 16 && four >= 2200 && four <= 2204) ||
    (n >= 12 && (two === 50 || two === 67 || two === 63 || (two >= 56 && two <= 59) || two === 61));
  return known && luhn(s) && !repeated(s);
}

/** Numbers that payment services and card schemes publish for tests; those of Stripe have many zeros. */
const TEST_CARDS: ReadonlySet<string> = new Set(
  ("4242424242424242 4000002500003155 4000002760003184 4000003800000446 4000008400001629 4000008260003178 4111111111111111 4012888888881881 4000056655665556 4222222222222 4917610000000000 4988438843884305 " +
    "4917300800000000 5555555555554444 5105105105105100 2223003122003222 5200828282828210 5454545454545454 " +
    "378282246310005 371449635398431 378734493671000 6011111111111117 6011000990139424 6011981111111113 30569309025904 " +
    "38520000023237 3056930009020004 36227206271667 3566002020360505 3530111333300000 6304000000000000 " +
    "6759649826438453 6200000000000005 6205500000000000004").split(" "),
);
/** "Test" as a part of the name: many other texts say that they are a test or an example. */
const TEST_CARD = words(
  "test[ -](?:(?:credit|debit|visa|mastercard|amex|payment)[ -])?(?:cards?|pans?|numbers?)(?:[ -]numbers?)?",
  "testkarten?(?:nummern?)?|testkort|testkaart|cartes? de test|tarjetas? de prueba|cart[ãa]o de teste|carta di (?:prova|test)",
  "тестов(?:ая|ой|ую|ые|ых) карт[аыу]?|测试卡号?|テストカ[ー-]ド|테스트 카드",
);

const CARD_WORDS = words(
  "(?:credit|debit|bank|payment)?[ _-]*cards?(?:[ _-]*(?:no|num(?:ber)?|#))?",
  "ccn?(?:[ _-]*(?:no|num(?:ber)?))?",
  "visa|master ?card|amex|american express|discover|diners|jcb|maestro|union ?pay",
  "kreditkarte\\w*|carte|tarjeta|carta|cart[ãa]o|kart[aey]|kaart(?:nummer)?|pan|карт[аыу]|カ[ー-]ド(?:番号)?|信用卡|卡号|卡號|카드",
);

const CVV_NAME =
  "(?:cvv2?|cvc2?|csc|cvn|card[ _-]?(?:verification|security)[ _-]?(?:value|code|number)|security[ _-]?code|verification[ _-]?(?:code|value)" +
  "|sicherheitscode|kartenpr[üu]f(?:nummer|ziffer|zahl|code)|cryptogramme(?: visuel)?|sicurezza|(?<=código de )(?:seguridad|segurança)" +
  "|code de s[ée]curit[ée]|codul de securitate|(?<=gü)venlik kodu|beveiligingscode|kod bezpieczeństwa|bezpečnostní kód" +
  "|(?<=s[äa])kerhetskod(?:en)?|sikkerhe[td]skoden?|kontrol(?:cifre|koden?)|turvakoodi|turvaluku|kode keamanan" +
  `|${FOREIGN_CODES})(?![\\p{Script=Latin}\\d])`;
const IS = "(?:is|ist|lautet|est|este|es|è|é|je|är|er|on|jest|to|это|είναι|هو|הוא|है|คือ|là|は|은|는|是|为|為)";
/** Only one of its parts can match any given white space, so that many spaces are read once. */
const CVV = new RegExp(
  `${CVV_NAME}(?:["'\\])】」』]{0,2}\\s*(?:(?:on|of|for) \\p{L}{2,9} )?(?:(?:${IS}(?!\\p{Script=Latin})|no\\.?|number|[- ]?[ck]ode?|番号|번호|[- ]?код|码|碼)\\s*)?(?:(?:->|=>|[:：=#|—–-]|\\.{2,40})\\s*)?["'“(]?` +
    `(\\d{3,4})(?![\\d\\w.,-]*\\d)|${REPLY}(?:\\d{1,2}\\s?/\\s?\\d{2,4}(?:,| and| und| et| y| e)? )?["'“]?(\\d{3,4})(?=["'”.!]{0,2}\\s*$))`,
  "imuy",
);

/** Names of the security code after the value: "737 is my card's CVV", "737 (CVV)". */
const CVV_BEHIND = new RegExp(
  `(?<=(?<![\\w.,/$€£-])(\\d{3,4})["'”]?(?: \\(| ${IS} (?:[\\p{L}'’]{1,8} ){0,3}))${CVV_NAME}(?=[)."',;!]|\\s*$| (?:for|of|on|für|von|de|del|da|van|voor|pour)\\s)`,
  "imuy",
);

/** The name at the end of an identifier: "cardCvc", "card_cvv". */
const CVV_AT_END = /(?<=[a-z_-])(?:[Cc][Vv][Vv]2?|CVC2?|[Cc]vc2?|[Cc]sc|[Cc]vn|[Ss]ecurity_?[Cc]ode)$/;

/** The last two characters of these names, and the first two of those that may stand alone. */
const ENDS = pairTable("vv vc sc vn de v2 c2");
const BEGINNINGS = pairTable("cv cs ca cr se si ve be ke ko ka tu");
/** Beginnings of these names: most runs with the same two characters are something else. */
const MAY_BE_NAME =
  /cv[vcn]|csc|card|crypt|secu|segur|sich|sicu|veri|venlik|beveil|bezpe|kerhet|kartenpr|kod (?:bez|zab)|kode kea|kontrol[ck]|sikker|turva/iy;

/** Searches for a security code named by the run at `[start, end)` or its end. */
function scanCvv(view: ScannedView, start: number, end: number): void {
  const { text } = view;
  const inner = ENDS[pairAt(text, end - 2)] === 1 ? CVV_AT_END.exec(text.slice(start, end)) : null;
  if (inner === null) {
    if (BEGINNINGS[pairAt(text, start)] === 0) return;
    MAY_BE_NAME.lastIndex = start;
    if (MAY_BE_NAME.test(text)) codeNamedAt(view, start);
  } else codeNamedAt(view, start + inner.index);
}

function scanCodeOf(view: ScannedView, start: number, end: number): void {
  if (view.text.startsWith(" de s", end)) codeNamedAt(view, start);
}

function scanForeignCodes(view: ScannedView): void {
  for (const at of foreignWords(view).codes) codeNamedAt(view, at);
}

function codeNamedAt(view: ScannedView, start: number): void {
  const { text } = view;
  CVV.lastIndex = start;
  const match = CVV.exec(text);
  if (match) {
    const stop = match.index + match[0].length;
    return report(view, "CVV", stop - (match[1] ?? match[2]).length, stop, 0.8);
  }
  CVV_BEHIND.lastIndex = start;
  const behind = CVV_BEHIND.exec(text);
  if (!behind) return;
  const at = text.lastIndexOf(behind[1], start);
  report(view, "CVV", at, at + behind[1].length, 0.8);
}

const PAN = "(\\d{4}([ -])\\d{4}\\2\\d{4}\\2\\d{4}|\\d{4}[ -]\\d{6}[ -]\\d{4,5}|\\d{14,19})";
const BESIDE = "(?:\\s{0,2}[|,;:/]\\s{0,2}|\\s{1,4})";
const EXPIRY =
  "(?:(?:exp(?:iry|ires|iration)?(?: date)?|valid (?:thru|until|to)|good thru|gültig bis)\\.?:?\\s{0,2})?(?:0?[1-9]|1[0-2])\\s?(?:[/|.,:;-]\\s?(?:20)?[2-4]\\d|(?<=\\d\\d)[2-4]\\d)";
const CODE = "(\\d{3,4})(?![\\d\\p{L}_]|[.,:/-]\\d)";
/** A card number with its expiry month and security code, in either order. */
const ROW = new RegExp(
  `${PAN}${BESIDE}(?:${EXPIRY}${BESIDE}${CODE}|(\\d{3,4})${BESIDE}${EXPIRY}(?!\\d))`,
  "iuy",
);

/** Searches for a security code without a name, after a card number whose first digits are at `[start, end)`. */
function scanCodeBesideExpiry(view: ScannedView, start: number, end: number): void {
  const { text } = view;
  const first = text.charCodeAt(start);
  // Rules out most numbers by the first digit, the next character, and the next group of digits.
  if (first < 50 || first > 54 && first !== 56 || !" \n\t\r|,;:/".includes(text.charAt(end))) return;
  if (end - start === 4 && !(isDigit(text.charCodeAt(start + 5)) && isDigit(text.charCodeAt(start + 8)))) {
    return;
  }
  ROW.lastIndex = start;
  const match = ROW.exec(text);
  if (match === null) return;
  const number = match[1].replace(/[ -]/g, "");
  const code = match[3] ?? match[4];
  if (code.length !== (/^3[47]/.test(number) ? 4 : 3) || !card(number)) return;
  const at = match[3] === undefined
    ? text.indexOf(code, start + match[1].length)
    : ROW.lastIndex - code.length;
  report(view, "CVV", at, at + code.length, 0.8);
}

export const CARDS: readonly Recognizer[] = [
  {
    type: "CREDIT_CARD",
    group: "FINANCIAL",
    aliases: ["CREDIT_CARD_NUMBER", "CREDIT_DEBIT_NUMBER"],
    numbers: [{
      forms: [
        "9{16}",
        "9{15}",
        "9{14}=0.55",
        "9{19}=0.4",
        "9{18}=0.3",
        "9{17}=0.3",
        "9{13}=0.4",
        "9{12}=0.3",
        "9{4}~9{4}~9{4}~9{4}=0.9",
        "9{4}+9{4}+9{4}+9{4}=0.9",
        "9{4}~9{6}~9{5}=0.9",
        "9{4}~9{6}~9{4}=0.85",
        "9{4}~9{4}~9{4}~9{4}~9{3}=0.85",
        "9{4}~9{4}~9{4}~9=0.6",
        "9{4}~9{4}~9{5}=0.5",
      ],
      check: card,
      label: CARD_WORDS,
      examples: { isOne: (s) => TEST_CARDS.has(s) || /^4000.*0{7}/.test(s), said: TEST_CARD },
      plain: 0.65,
    }],
    samples: {
      found: [
        "«5398228707871527»",
        "«3714 496353 98431»",
        "card «4111111111111111»",
        "a test: my card is «4111111111111111»",
        "test card «5398228707871527»",
      ],
      clean: [
        "5398228707871528",
        "3714 496353 98432",
        "504E 5055 5075 5074 5077 504F 500F",
        "Use the test card 4242 4242 4242 4242 with any CVC.",
        "Testkarte: 5555555555554444",
        'const TEST_CARD = "4000002500003155";',
        "1.4156351426208857e-05",
      ],
    },
  },
  {
    type: "CVV",
    group: "FINANCIAL",
    aliases: ["CREDIT_DEBIT_CVV"],
    triggers: [
      { on: "run", shortest: 3, longest: 24, begins: "csvp", scan: scanCvv },
      // "code de sécurité" and "codul de securitate"; the condition on the next character rules out other
      // words.
      { on: "run", lengths: [4, 5], lacks: DIGIT, begins: "c", followedBy: " ", scan: scanCodeOf },
      // "kod …" and "kode …", "bezpe…", and single-word names.
      { on: "run", lengths: [3, 4, 8, 10, 11, 12], lacks: DIGIT, begins: "k", scan: scanCvv },
      { on: "run", lengths: [5, 16], lacks: DIGIT, begins: "b", scan: scanCvv },
      { on: "run", lengths: [9, 10], lacks: DIGIT, begins: "t", scan: scanCvv },
      { on: "view", scan: scanForeignCodes },
      { on: "run", shortest: 14, longest: 19, first: DIGIT, lacks: LETTER, scan: scanCodeBesideExpiry },
      { on: "run", lengths: [4], first: DIGIT, lacks: LETTER, followedBy: " ", scan: scanCodeBesideExpiry },
    ],
    samples: {
      found: [
        "cvv: «123»",
        "security code is «0417»",
        "CVV ........ «159»",
        '"cardCvc": "«123»"',
        "payment_cvv=«9134»",
        "What's the CVV on the back?\nUser: sure, «737»",
        "The expiry and security code?\nCustomer: 09/27 and «737»",
        "«737» is my card's CVV.",
        "12/27, «0417» (CVV)",
        "Sicherheitscode: «737»",
        "Il codice di sicurezza è «737»",
        "código de seguridad: «123»",
        "código de segurança: «123»",
        "Cryptogramme : «123»",
        "Güvenlik kodu: «123»",
        "Code de sécurité : «123»",
        "Kartenprüfnummer: «123»",
        "Beveiligingscode: «123»",
        "Kod zabezpieczający: «123»",
        "Säkerhetskod: «123»",
        "Sikkerhedskode: «123»",
        "Turvakoodi on «123»",
        "Kode keamanan: «123»",
        "Mã bảo mật: «123»",
        "Код безопасности: «123»",
        "安全码：«123»",
        "セキュリティコードは«123»です",
        "보안 코드는 «123»입니다",
        "κωδικός ασφαλείας: «123»",
        "CVV-код: «123»",
        "CVC번호 «123»",
        "【CVV】«123»",
        "«737» est mon code de sécurité.",
        "4111111111111111 12/27 «123»",
        "4111 1111 1111 1111, exp 12/2027, «123»",
        "4111111111111111|03|29|«123»",
        "4111-1111-1111-1111 0329 «123»",
        "378282246310005 03/29 «1234»",
        "4111111111111111 «123» 12/27",
        "4111111111111111\n12/27\n«123»",
      ],
      clean: [
        "cvv: 12345",
        "code 123",
        "What is a CVV?\n100 questions about cards",
        "version 404 is the CVV-free one",
        "code de sécurité 2024-11",
        "セキュリティコードは必要です。123",
        "$500 is the security code deposit",
        "4111111111111112 12/27 123",
        "4111111111111111 12/27 1234",
        "4111111111111111 13/27 123",
        "4111111111111111 12/27 123.50",
        "4111111111111111 12/27/2024 100 items",
      ],
    },
  },
];
