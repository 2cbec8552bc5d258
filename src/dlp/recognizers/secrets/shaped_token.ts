/** Tokens without a prefix that are recognised by their overall form. */

import { entropy } from "../randomness.ts";
import { report, type ScannedView } from "../scanned_view.ts";

const TELEGRAM = /\d{5,16}:A?[A-Za-z0-9_-]{34,35}(?![\w-])/y;
const DISCORD = /[MNOA][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![\w-])/y;
const AZURE_AD = /[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}(?![\w~-])/y;
const TERRAFORM = /[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9=_-]{60,70}/y;
const MAILCHIMP = /[0-9a-f]{32}-us\d{1,2}(?!\w)/y;
const MAXMIND = /(?:[A-Za-z0-9]{6}_)?[A-Za-z0-9_]{29,32}_mmk(?!\w)/y;
const SALESFORCE = /00[A-Za-z0-9]{13}![A-Za-z0-9._-]{80,260}(?!\w)/y;
const FACEBOOK = /\d{15,16}\|[A-Za-z0-9_-]{27,40}(?![\w-])/y;
/** The number of a personal access token of Laravel, and the token. */
const SANCTUM =
  /\d{1,9}\|(?=[^A-Z|]{0,39}[A-Z])(?=[^a-z|]{0,39}[a-z])(?=(?:\D*\d){3})[A-Za-z0-9]{40}(?:[0-9a-f]{8})?(?![\w-])/y;
const HEX_AND_SECRET = /[0-9a-f]{32}\.(?=[A-Za-z_-]{0,23}\d)(?:[\w-]{16}|[\w-]{24})(?![\w.-])/y;
const TABLEAU = /[A-Za-z0-9+/]{22}==:[A-Za-z0-9]{32}(?!\w)/y;
/** Letters of both cases and three digits: numbers in hexadecimal and identifiers have not all of them. */
const OKTA =
  /00(?![0-9A-Fa-f]{6}-[0-9A-Fa-f]{4}-)(?=[\w-]{0,39}[a-z])(?=[\w-]{0,39}[A-Z])(?=(?:[A-Za-z_-]{0,39}\d){3})[A-Za-z0-9_-]{40}(?![\w-])/y;
const TRUENAS = /\d{1,2}-[A-Za-z0-9]{64}(?![\w-])/y;

/** Examines the run from `start` to `end` for such tokens; the following characters distinguish them. */
export function scanShaped(view: ScannedView, start: number, end: number): boolean {
  const next = view.text.charCodeAt(end);
  const length = end - start;
  if (
    next === 58
      ? shaped(view, "TELEGRAM_BOT_TOKEN", TELEGRAM, start)
      : next === 126
      ? length >= 5 && shaped(view, "AZURE_KEY", AZURE_AD, end - 5)
      : next === 33
      ? length === 15 && shaped(view, "API_KEY", SALESFORCE, start)
      : next === 124
      ? length <= 16 &&
        (shaped(view, "API_KEY", FACEBOOK, start) || length < 10 && shaped(view, "API_KEY", SANCTUM, start))
      : next === 61
      ? length <= 22 && shaped(view, "API_KEY", TABLEAU, end - 22)
      : next === 46 && dotted(view, start, length)
  ) return true;
  // These end with the run; the sign after it may be punctuation.
  if ((length === 66 || length === 67) && view.text.charCodeAt(end - 65) === 45) {
    return shaped(view, "API_KEY", TRUENAS, start);
  }
  if (length === 42 && view.text.charCodeAt(start) === 48) return shaped(view, "API_KEY", OKTA, start);
  if (length < 33 || length > 43) return false;
  return shaped(view, "API_KEY", MAXMIND, start) || shaped(view, "API_KEY", MAILCHIMP, start);
}

/** A run with a dot after it. */
function dotted(view: ScannedView, start: number, length: number): boolean {
  if (length === 32) return shaped(view, "API_KEY", HEX_AND_SECRET, start);
  return length === 14
    ? shaped(view, "API_KEY", TERRAFORM, start)
    : length >= 24 && length <= 28 && shaped(view, "DISCORD_TOKEN", DISCORD, start);
}

function shaped(view: ScannedView, type: string, pattern: RegExp, start: number): boolean {
  pattern.lastIndex = start;
  const match = pattern.exec(view.text);
  if (!match || entropy(match[0]) < 3.2 || /xxxx|EXAMPLE/.test(match[0])) return false;
  report(view, type, start, start + match[0].length, 0.9);
  return true;
}
