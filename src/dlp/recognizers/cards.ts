/** Payment cards. Sources: ISO/IEC 7812 and the number ranges that the schemes publish. */

import { luhn, repeated } from "./checksums.ts";
import { pairAt, pairTable } from "./letter_pairs.ts";
import type { Recognizer } from "./recognizer.ts";
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

const CARD_WORDS = words(
  "(?:credit|debit|bank|payment)?[ _-]*cards?(?:[ _-]*(?:no|num(?:ber)?|#))?",
  "ccn?(?:[ _-]*(?:no|num(?:ber)?))?",
  "visa|master ?card|amex|american express|discover|diners|jcb|maestro|union ?pay",
  "kreditkarte\\w*|carte|tarjeta|carta|cart[ãa]o|kart[aey]|kaart(?:nummer)?|pan|карт[аыу]|カ[ー-]ド(?:番号)?|信用卡|卡号|卡號|카드",
);

const CVV =
  /(?:cvv2?|cvc2?|csc|cvn|card[ _-]?(?:verification|security)[ _-]?(?:value|code|number)|security[ _-]?code|verification[ _-]?(?:code|value)|prüfziffer|cryptogramme|código de seguridad|código de segurança)\b["'\])]{0,2}\s*(?:is\b|no\.?|number|code)?\s*(?:->|=>|[:=#|—–-])?\s*["'“]?(\d{3,4})(?![\d\w.,-]*\d)/iy;

/** The code's name at the end of a field's: "cardCvc", "card_cvv". */
const CVV_AT_END = /(?<=[a-z_-])(?:[Cc][Vv][Vv]2?|CVC2?|[Cc]vc2?|[Cc]sc|[Cc]vn|[Ss]ecurity_?[Cc]ode)$/;

/** The last two characters of one of these names, and the first two of those that may stand alone. */
const ENDS = pairTable("vv vc sc vn de v2 c2");
const BEGINNINGS = pairTable("cv cs ca cr se ve pr");

/** Tries for a card's security code named by, or at the end of, the run at `[start, end)`. */
function scanCvv(view: ScannedView, start: number, end: number): void {
  const { text } = view;
  const inner = ENDS[pairAt(text, end - 2)] === 1 ? CVV_AT_END.exec(text.slice(start, end)) : null;
  if (inner === null && BEGINNINGS[pairAt(text, start)] === 0) return;
  CVV.lastIndex = inner ? start + inner.index : start;
  const match = CVV.exec(text);
  if (!match) return;
  const stop = match.index + match[0].length;
  report(view, "CVV", stop - match[1].length, stop, 0.8);
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
      plain: 0.65,
    }],
    samples: {
      found: ["«5398228707871527»", "«3714 496353 98431»"],
      clean: ["5398228707871528", "3714 496353 98432", "504E 5055 5075 5074 5077 504F 500F"],
    },
  },
  {
    type: "CVV",
    group: "FINANCIAL",
    aliases: ["CREDIT_DEBIT_CVV"],
    triggers: [{ on: "run", shortest: 3, longest: 24, begins: "csvp", scan: scanCvv }],
    samples: {
      found: ["cvv: «123»", "security code is «0417»", '"cardCvc": "«123»"', "payment_cvv=«9134»"],
      clean: ["cvv: 12345", "code 123"],
    },
  },
];
