/** Web addresses, host names, streets and postal codes: searched for only on request. */

import { CLASS_OF, DIGIT, isAlphanumeric, WORD } from "./character_class.ts";
import { COUNTRIES } from "./countries.ts";
import { matchesOf } from "./matches.ts";
import type { Recognizer } from "./recognizer.ts";
import { before, isAlone, report, type ScannedView, words } from "./scanned_view.ts";

const URL =
  /(?<![A-Za-z0-9])(?:https?|ftps?|wss?):\/\/[^\s<>"'`{}|\\^[\]]{3,2000}|(?<![A-Za-z0-9.@-])www\.[A-Za-z0-9-]{1,63}\.[^\s<>"'`{}|\\^[\]]{2,2000}/gi;
const DOMAIN = /(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,6}[a-z]{2,24}(?![A-Za-z0-9@_(])/iy;
/** Maximum length of a label before a dot. */
const LONGEST_LABEL = 63;
/** Domains that cannot be anything else. */
const SURE_DOMAIN =
  /^(?:com|org|net|edu|gov|mil|de|uk|fr|nl|ch|se|eu|ca|au|jp|cn|br|ru|dk|fi|cz|hu|gr|pt|ie|nz|za|mx|ar|kr|tr|ua|ro|local|internal|corp|example|arpa)$/;
/** Top-level domains that are also file extensions or object members: a word must name a host. */
const OTHER_DOMAIN =
  /^(?:io|tv|info|biz|name|pro|aero|coop|mobi|int|tel|cat|asia|app|dev|page|cloud|online|site|store|shop|blog|tech|xyz|club|top|live|news|media|digital|email|global|group|network|systems|solutions|services|support|world|space|website|host|zone|today|life|work|team|design|studio|company|ltd|gmbh|inc|law|bank|finance|health|care|academy|school|education|center|city|lan|home|test)$/;
const HOST_WORDS = words(
  "(?:sub)?domains?(?:[ _-]*names?)?",
  "host(?:s|[ _-]*names?)?",
  "fqdn",
  "dns",
  "server",
  "web ?site",
  "site",
  "visit",
  "resolves?",
  "nslookup|dig|ping",
);

function domainConfidence(view: ScannedView, start: number, end: number): number {
  const name = view.text.slice(start, end);
  // Object members have capitals within.
  if (/[a-z]/.test(name) && /[A-Z]/.test(name)) return 0;
  const last = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  if (SURE_DOMAIN.test(last)) return 0.6;
  const other = OTHER_DOMAIN.test(last);
  if (!other && !COUNTRIES.has(last.toUpperCase())) return 0;
  const named = HOST_WORDS.test(before(view, start, 32)) || /^www\./i.test(name);
  return named || other && isAlone(view, start, end) ? 0.6 : 0;
}

/** Whether a unit may occur in a path, address or dotted name, which contains at most one domain, at its start. */
function isInPath(unit: number): boolean {
  return (CLASS_OF[unit] & WORD) !== 0 || unit === 46 || unit === 47 || unit === 64;
}

/** A dot: the domain of which it is the first dot. Returns the end of the enclosing name. */
function scanDomain(view: ScannedView, at: number): number | void {
  const { text } = view;
  if (!isAlphanumeric(text.charCodeAt(at - 1)) || !isAlphanumeric(text.charCodeAt(at + 1))) return;
  let start = at - 1;
  while (start > 0 && at - start <= LONGEST_LABEL && isInPath(text.charCodeAt(start - 1))) start--;
  let stop = at + 1;
  while (isInPath(text.charCodeAt(stop))) stop++;
  DOMAIN.lastIndex = start;
  if (at - start > LONGEST_LABEL || !DOMAIN.test(text)) return stop;
  const end = DOMAIN.lastIndex;
  const confidence = domainConfidence(view, start, end);
  if (confidence >= 0.5) report(view, "DOMAIN_NAME", start, end, confidence);
  return stop;
}

const STREET =
  /(?<![\w.])\d{1,5}[A-Za-z]? (?:[A-Z][A-Za-z'.-]{1,20} ){1,4}(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Square|Sq|Way|Terrace|Place|Pl|Parkway|Pkwy|Highway|Hwy)\b\.?(?:,? (?:Apt|Suite|Ste|Unit|#) ?\w{1,6})?/g;
/** A street name before its number. */
const NAMED_STREET = /(?<!\w)[A-ZÄÖÜ][a-zäöüß]{2,20}(?:straße|strasse|str\.|weg|platz|allee|gasse) $/;
const LONGEST_STREET = 32;
const HOUSE_NUMBER = /\d{1,4}[a-z]?\b/y;
/** Last units of a street name. */
const STREET_ENDS = "e.gz";

/** A house number after a street name with a typical ending, as in German. */
function scanHouseNumber(view: ScannedView, start: number): void {
  const { text } = view;
  if (text.charCodeAt(start - 1) !== 32 || !STREET_ENDS.includes(text.charAt(start - 2))) return;
  const street = NAMED_STREET.exec(before(view, start, LONGEST_STREET));
  HOUSE_NUMBER.lastIndex = start;
  if (street && HOUSE_NUMBER.test(text)) {
    report(view, "STREET_ADDRESS", start - street[0].length, HOUSE_NUMBER.lastIndex, 0.65);
  }
}
/** Postcode areas of the United Kingdom. */
const AREA =
  "(?:[BEGLMNSW]|A[BL]|B[ABDHLNRSTX]|C[ABFHMORTVW]|D[ADEGHLNTY]|E[CHNX]|F[KY]|G[LUY]|H[ADGPRSUX]|I[GMPV]|JE|" +
  "K[ATWY]|L[ADELNSU]|M[EKL]|N[EGNPRW]|O[LX]|P[AEHLOR]|R[GHM]|S[AEGKLMNOPRSTWY]|T[ADFNQRSW]|UB|W[ACDFNRSV]|YO|ZE)";
const POSTCODE = new RegExp(
  `(?=[A-Z]{1,2}\\d|GIR)(?<![\\w#])(?:GIR ?0AA|${AREA}\\d(?:\\d|[ABEHJKMNPR-Y])? ?\\d[ABD-HJLNP-UW-Z]{2})(?!\\w)` +
    `|(?=[A-Z]\\d[A-Z])(?<![\\w#])[ABCEGHJ-NPRSTVXY]\\d[ABCEGHJ-NPRSTV-Z] ?\\d[ABCEGHJ-NPRSTV-Z]\\d(?!\\w)`,
  "g",
);

/** Without the space it looks like many other codes. */
function postcodeConfidence(view: ScannedView, start: number, end: number): number {
  if (view.text.slice(start, end).includes(" ")) return 0.7;
  return ZIP_WORDS.test(before(view, start, 24)) || isAlone(view, start, end) ? 0.6 : 0;
}

const ZIP = /\d(?<![\w.,$-]\d)\d{4}(?:-\d{4})?(?![\w.-]*\d)/g;
const ZIP_WORDS = words(
  "zip(?: ?code)?",
  "postal(?: ?code)?",
  "post ?code",
  "plz",
  "postleitzahl",
  "code postal",
  "cap",
);

/** Five digits are a postal code if a word or a state abbreviation identifies them. */
function zipConfidence(view: ScannedView, start: number, end: number): number {
  if (ZIP_WORDS.test(before(view, start, 24)) || / [A-Z]{2},? $/.test(before(view, start, 5))) return 0.8;
  return view.focused && isAlone(view, start, end) ? 0.6 : 0;
}

export const PLACES: readonly Recognizer[] = [
  {
    type: "URL",
    group: "CONTACT",
    triggers: [matchesOf("URL", URL, () => 0.9)],
    samples: {
      found: ["see «https://example.org/a?b=c».", "«www.example.org/x»"],
      clean: ["example.org", "ratio 3:4", "https://"],
    },
  },
  {
    type: "DOMAIN_NAME",
    group: "CONTACT",
    triggers: [{ on: "sign", signs: ".", scan: scanDomain }],
    samples: {
      found: ["host «mail.example.org» is down", "domain: «corp.io»"],
      clean: [
        "a@mail.example.org",
        "call f.apply(x)",
        "3.14",
        "a.tar.gz",
        "this.user.id",
        "to log.info of",
        "System.Net",
      ],
    },
  },
  {
    type: "STREET_ADDRESS",
    group: "CONTACT",
    aliases: ["ADDRESS"],
    triggers: [
      matchesOf(
        "STREET_ADDRESS",
        STREET,
        () => 0.65,
        /[a-zA-Z.] (?:St|Ave|R|Bou|Bl|L|Dr|C|Sq|Way|T|P|H)/,
      ),
      { on: "part", longest: 5, first: DIGIT, scan: scanHouseNumber },
    ],
    samples: {
      found: ["at «12 Old Mill Road», Springfield", "in der «Goethestraße 7a»"],
      clean: ["12 old mills", "the road to 12 mills"],
    },
  },
  {
    type: "POSTAL_CODE",
    group: "CONTACT",
    aliases: ["US_ZIP_CODE", "ZIP_CODE", "UK_POSTCODE"],
    triggers: [
      matchesOf("POSTAL_CODE", POSTCODE, postcodeConfidence, /[A-Z]\d/),
      matchesOf("POSTAL_CODE", ZIP, zipConfidence, /[A-Za-z]{2}/),
    ],
    samples: {
      found: ["London «SW1A 1AA»", "Beverly Hills, CA «90210»", "Ottawa «K1A 0B1»"],
      clean: ["order 90210 shipped", "$90210"],
    },
  },
];
