/** Numbers of SIM cards. Source: ITU-T E.118: 89, country, issuer, account, and a check digit. */

import { luhn } from "./checksums.ts";
import type { Recognizer } from "./recognizer.ts";
import { words } from "./scanned_view.ts";

export const SIM_CARDS: readonly Recognizer[] = [
  {
    type: "ICCID",
    group: "NETWORK",
    aliases: ["SIM_CARD_NUMBER", "SIM_ICCID"],
    numbers: [{
      forms: [
        "9{19}",
        "9{20}",
        "9{18}=0.4",
        "9{4} 9{4} 9{4} 9{4} 9{3}",
        "9{4} 9{4} 9{4} 9{4} 9{4}",
        "9{4}-9{4}-9{4}-9{4}-9{3}",
        "9{4}-9{4}-9{4}-9{4}-9{4}",
        "99 99 99 9{12} 9",
        "9{6} 9{12} 9",
      ],
      check: (s) => /^89[1-9]/.test(s) && !/^89(\d)\1+$/.test(s) && luhn(s),
      label: words("iccid", "sim(?:[ -]*(?:card|no|number|id|serial)){0,2}", "e?uicc(?:id)?", "esim"),
      plain: 0.7,
    }],
    samples: {
      found: ["ICCID «8944501234567890124»", "«8991 1012 0000 3204 514»"],
      clean: ["ICCID 8944501234567890125", "7944501234567890120"],
    },
  },
];
