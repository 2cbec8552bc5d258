/** Bank account numbers without check digits: recognised by the words that name them. */

import type { Recognizer } from "./recognizer.ts";
import { words } from "./scanned_view.ts";

const SORT_CODE = "sort[ _-]*code(?:[ _-]*(?:no|number))?";
const ACCOUNT = "acc(?:oun)?t(?:[ _-]*(?:no|num(?:ber)?|#))?|a/c(?: no)?";
/** The account number follows the bank's code, in the same line or the next. */
const behind = (code: string) =>
  new RegExp(`(?<![A-Za-z])(?:${code})[\\s\\S]{0,40}(?:${ACCOUNT})\\W{0,4}$`, "i");

export const BANK_ACCOUNTS: readonly Recognizer[] = [
  {
    type: "UK_SORT_CODE",
    group: "FINANCIAL",
    aliases: ["GB_SORT_CODE", "BANK_SORT_CODE"],
    numbers: [{
      forms: ["99-99-99", "99 99 99", "9{6}"],
      label: words(SORT_CODE),
      plain: 0,
      alone: 0,
      labelled: 0.85,
    }],
    samples: {
      found: ["Sort code: «20-45-77»", "sortCode=«204577»"],
      clean: ["on 20-45-77", "score 20-45-7", "postcode 204577"],
    },
  },
  {
    type: "UK_BANK_ACCOUNT",
    group: "FINANCIAL",
    aliases: ["UK_BANK_ACCOUNT_NUMBER", "GB_BANK_ACCOUNT"],
    numbers: [{
      // The bank code and the account number together.
      forms: ["99-99-99 9{8}", "99 99 99 9{8}", "9{6} 9{8}"],
      label: words(SORT_CODE, ACCOUNT, "bank\\w*", "bacs"),
      plain: 0,
      alone: 0,
      labelled: 0.9,
    }, {
      forms: ["9{8}", "9{4} 9{4}"],
      label: behind(SORT_CODE),
      plain: 0,
      alone: 0,
      labelled: 0.9,
    }],
    samples: {
      found: [
        "pay «20-45-77 53918264» by bank transfer",
        "Sort code 20-45-77, account number «53918264»",
        "sort code: 20-45-77\nAccount: «5391 8264»",
      ],
      clean: [
        "dates 20-45-77 53918264 of",
        "sort by account number 53918264",
        "Sort code 20-45-77, page 53918264",
      ],
    },
  },
  {
    type: "AU_BSB",
    group: "FINANCIAL",
    aliases: ["AU_BANK_STATE_BRANCH", "BSB_NUMBER", "AU_BSB_NUMBER"],
    numbers: [{
      forms: ["9{3}-9{3}", "9{3} 9{3}", "9{6}"],
      label: words("bsb(?:[ _-]*(?:no|num(?:ber)?|code))?", "bank[ -]state[ -]branch"),
      plain: 0,
      alone: 0,
      labelled: 0.85,
    }],
    samples: {
      found: ["BSB: «062-000»", "BSB number «733 115»"],
      clean: ["flight 062-000", "BSB: 062-00"],
    },
  },
  {
    type: "AU_BANK_ACCOUNT",
    group: "FINANCIAL",
    aliases: ["AU_BANK_ACCOUNT_NUMBER"],
    numbers: [{
      forms: ["9{6}", "9{7}", "9{8}", "9{9}", "9{10}", "9{4} 9{4}", "9{3} 9{3} 9{3}", "99-9{3}-9{4}"],
      label: behind("bsb"),
      plain: 0,
      alone: 0,
      labelled: 0.9,
    }, {
      forms: ["9{3}-9{3} 9{6}", "9{3}-9{3} 9{7}", "9{3}-9{3} 9{8}", "9{3}-9{3} 9{9}"],
      label: words("bsb\\w*", ACCOUNT, "bank\\w*"),
      plain: 0,
      alone: 0,
      labelled: 0.9,
    }],
    samples: {
      found: ["BSB 062-000 Account No: «12345678»", "bank details «733-115 10294857»"],
      clean: ["Account No: 1234567", "details 733-115 10294857"],
    },
  },
];
