/**
 * Personal access tokens of Azure DevOps: 84 characters including a signature, or the older form with 52
 * characters of base32.
 */

import { UPPER } from "../character_class.ts";
import { entropy } from "../randomness.ts";
import type { Recognizer } from "../recognizer.ts";
import { after, before, report, type ScannedView } from "../scanned_view.ts";

const SIGNED = /^[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}$/;
const PLAIN = /^[a-z2-7]{52}$/;
const NAMED =
  /azure|devops|\bado\b|\bvsts\b|\btfs\b|(?<![a-z])pat(?![a-z])|visualstudio|personal.access|token|secret/i;

function scanToken(view: ScannedView, start: number, end: number): void {
  const word = view.text.slice(start, end);
  if (word.length === 84) {
    if (SIGNED.test(word) && entropy(word) > 3.5) report(view, "AZURE_DEVOPS_TOKEN", start, end, 0.95);
    return;
  }
  if (!PLAIN.test(word) || entropy(word) < 3.5 || !/\d/.test(word)) return;
  if (NAMED.test(before(view, start, 64)) || NAMED.test(after(view, end, 24))) {
    report(view, "AZURE_DEVOPS_TOKEN", start, end, 0.9);
  }
}

export const AZURE_DEVOPS_TOKEN: Recognizer = {
  type: "AZURE_DEVOPS_TOKEN",
  group: "SECRET",
  aliases: ["AZURE_DEVOPS_PAT", "AZURE_DEVOPS_PERSONAL_ACCESS_TOKEN"],
  triggers: [
    { on: "part", lengths: [52], lacks: UPPER, scan: scanToken },
    { on: "part", lengths: [84], scan: scanToken },
  ],
  samples: {
    found: [
      "AZURE_DEVOPS_EXT_PAT=«q7zk2xlm4vb2rtyp3nwe5shc6jd2fqm7lxkp2qz3fzk2xlm4vb6r»",
      "use «7QzLm4Vb81RtYp03nWe5sHc9Jd2fQm7LxKp2Qz3f9Zk29xLm4Vb81RtYp03nWe5sHc9Jd2fQm7LxAZDO4Vb8»",
    ],
    clean: [
      "checksum q7zk2xlm4vb2rtyp3nwe5shc6jd2fqm7lxkp2qz3fzk2xlm4vb6r",
      "use 7QzLm4Vb81RtYp03nWe5sHc9Jd2fQm7LxKp2Qz3f9Zk29xLm4Vb81RtYp03nWe5sHc9Jd2fQm7LxAZDX4Vb8",
    ],
  },
};
