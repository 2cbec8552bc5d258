/** Numbers of driving licences. Sources: RESPER's national formats, and the issuing authorities for check digits. */

import { dni } from "./checks_eu.ts";
import { digit, weighted } from "../checksums.ts";
import type { Recognizer } from "../recognizer.ts";
import { licences } from "./documents.ts";

/** Japan: the eleventh digit is a check digit of the first ten, the last one counts reissues. */
function japanese(s: string): boolean {
  const rest = weighted(s, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
  return digit(s, 10) === (rest < 2 ? 0 : 11 - rest) && !/^(\d)\1+$/.test(s);
}

/** Brazil's CNH: two check digits; the second is reduced by two if the first would have been ten. */
function brazilian(s: string): boolean {
  if (/^(\d)\1+$/.test(s)) return false;
  const first = weighted(s, [9, 8, 7, 6, 5, 4, 3, 2, 1]) % 11;
  const second = weighted(s, [1, 2, 3, 4, 5, 6, 7, 8, 9]) % 11;
  const less = second >= 10 ? 0 : second - (first >= 10 ? 2 : 0);
  return digit(s, 9) === (first >= 10 ? 0 : first) && digit(s, 10) === (less < 0 ? less + 11 : less);
}

const INDIAN_STATES =
  /^(?:A[NPRS]|BR|C[GH]|D[DLN]|G[AJ]|H[PR]|J[HK]|K[AL]|L[AD]|M[HLNPZ]|NL|O[DR]|P[BY]|RJ|SK|T[NRS]|U[AKP]|WB)/;

export const DRIVING_LICENCES: readonly Recognizer[] = licences([
  {
    type: "DE_DRIVER_LICENSE",
    aliases: ["GERMANY_DRIVERS_LICENSE_NUMBER", "DE_DRIVING_LICENCE"],
    country: "german\\w*|deutsch\\w*|de|deu",
    own: "f(?:ü|ue)hrerschein\\w*|fahrerlaubnis\\w*",
    forms: [],
    free: { lengths: [11], shape: /^[A-Z]\d{2}[0-9A-Z]{6}\d[0-9A-Z]$/ },
    found: ["Führerscheinnummer «B072RRE2I55»", "German driving licence «J010000SD51»"],
    clean: ["Teil B072RRE2I55", "Führerschein BB72RRE2I55"],
  },
  {
    type: "FR_DRIVER_LICENSE",
    aliases: ["FRANCE_DRIVERS_LICENSE_NUMBER", "FR_DRIVING_LICENCE"],
    country: "france|french|fran[cç]ais\\w*|fr|fra",
    own: "permis(?: de conduire)?",
    forms: ["9{12}", "99AA9{5}"],
    plainDigits: true,
    found: ["permis de conduire n° «911091204912»", "French driving licence «13AA00002»"],
    clean: ["driving licence 911091204912", "commande 911091204912"],
  },
  {
    type: "ES_DRIVER_LICENSE",
    aliases: ["SPAIN_DRIVERS_LICENSE_NUMBER", "ES_DRIVING_LICENCE"],
    country: "spain|spanish|espa[nñ]\\w*|es|esp",
    own: "permiso de (?:conducir|conducci[oó]n)|carn[ée] de conducir",
    forms: ["9{8}A", "9{8}-A"],
    check: dni,
    found: ["permiso de conducir «54362315K»"],
    clean: ["permiso de conducir 54362315L"],
  },
  {
    type: "IT_DRIVER_LICENSE",
    aliases: ["ITALY_DRIVERS_LICENSE_NUMBER", "IT_DRIVING_LICENCE"],
    country: "italy|italian\\w*|it|ita",
    own: "patente(?: di guida)?",
    forms: ["AA9{7}A"],
    free: { lengths: [10], shape: /^U1[A-Z0-9]{7}[A-Z]$/ },
    found: ["patente di guida «RM1234567X»", "patente «U1H72B93KA»"],
    clean: ["parte RM1234567X", "patente U2H72B93KA"],
  },
  {
    type: "NL_DRIVER_LICENSE",
    aliases: ["NETHERLANDS_DRIVERS_LICENSE_NUMBER", "NL_DRIVING_LICENCE"],
    country: "netherlands|dutch|nederland\\w*|nl|nld",
    own: "rijbewijs(?:nummer)?",
    forms: ["9{10}"],
    plainDigits: true,
    found: ["rijbewijsnummer: «4923847561»"],
    clean: ["bestelling 4923847561", "driving licence 4923847561"],
  },
  {
    type: "BE_DRIVER_LICENSE",
    aliases: ["BELGIUM_DRIVERS_LICENSE_NUMBER", "BE_DRIVING_LICENCE"],
    country: "belgi\\w+|be|bel",
    own: "rijbewijs(?:nummer)?|permis de conduire",
    forms: ["9{10}"],
    plainDigits: true,
    found: ["Belgian driving licence «1073829465»"],
    clean: ["Belgian order 1073829465"],
  },
  {
    type: "PL_DRIVER_LICENSE",
    aliases: ["POLAND_DRIVERS_LICENSE_NUMBER", "PL_DRIVING_LICENCE"],
    country: "poland|polish|polski\\w*|pl|pol",
    own: "praw(?:o|a) jazdy",
    forms: ["9{5}/99/9{4}"],
    found: ["prawo jazdy «00123/07/1234»"],
    clean: ["sprawa 00123/07/1234"],
  },
  {
    type: "PT_DRIVER_LICENSE",
    aliases: ["PORTUGAL_DRIVERS_LICENSE_NUMBER", "PT_DRIVING_LICENCE"],
    country: "portug\\w+|pt|prt",
    own: "carta de condu[cç][aã]o",
    forms: ["AA-9{6} 9", "A-9{6} 9", "AA-9{5} 9", "A-9{7} 9"],
    found: ["carta de condução «SE-123456 7»"],
    clean: ["carta SE-123456 7"],
  },
  {
    type: "AT_DRIVER_LICENSE",
    aliases: ["AUSTRIA_DRIVERS_LICENSE_NUMBER", "AT_DRIVING_LICENCE"],
    country: "austria\\w*|[öo]sterreich\\w*|at|aut",
    own: "f(?:ü|ue)hrerschein\\w*",
    forms: ["9{8}"],
    // Not the issue date, which is written in the same form.
    check: (s) => !/^(?:19|20)\d\d(?:0[1-9]|1[0-2])/.test(s),
    plainDigits: true,
    found: ["Führerschein Nr. «16384729»"],
    clean: ["Rechnung 16384729", "Führerschein seit 19991231", "driving licence 16384729"],
  },
  {
    type: "CH_DRIVER_LICENSE",
    aliases: ["SWITZERLAND_DRIVERS_LICENSE_NUMBER", "CH_DRIVING_LICENCE"],
    country: "switzerland|swiss|schweiz\\w*|suisse|svizzer\\w+|ch|che",
    own: "f(?:ü|ue)hrerausweis\\w*",
    forms: ["9{12}"],
    plainDigits: true,
    found: ["Führerausweis «002938475001»"],
    clean: ["Swiss order 002938475001"],
  },
  {
    type: "IE_DRIVER_LICENSE",
    aliases: ["IRELAND_DRIVERS_LICENSE_NUMBER", "IE_DRIVING_LICENCE"],
    country: "ireland|irish|ie|irl",
    own: "driver number",
    forms: ["9{6}AA9{4}", "9{9}", "9{3} 9{3} 9{3}"],
    plainDigits: true,
    found: ["Irish driving licence «038273AB1942»", "Irish driving licence «392 847 561»"],
    clean: ["Irish order 038273AB1942"],
  },
  {
    type: "CA_DRIVER_LICENSE",
    aliases: ["CANADA_DRIVERS_LICENSE_NUMBER", "CA_DRIVING_LICENCE"],
    country: "canad\\w+|ontario|qu[ée]bec|manitoba|alberta|british columbia|nova scotia|can",
    own: "permis de conduire",
    forms: ["A9{4}-9{5}-9{5}", "A9{14}", "A9{4}-9{6}-99", "A9{12}", "9{6}-9{3}", "AAAAA9{9}"],
    found: ["driver's licence «S1234-56789-01234»", "Québec driver's licence «A1234-567890-12»"],
    clean: ["part S1234-56789-01234"],
  },
  {
    type: "AU_DRIVER_LICENSE",
    aliases: ["AUSTRALIA_DRIVERS_LICENSE_NUMBER", "AU_DRIVING_LICENCE"],
    country: "australia\\w*|nsw|new south wales|queensland|qld|victoria\\w*|vic|tasmania\\w*|aus",
    // "licence" is spelled differently in other countries.
    own: "driver licence(?: (?:no|number))?",
    forms: ["9{8}", "9{9}", "9{10}", "9{4}AA", "A9{6}", "9{7}"],
    plainDigits: true,
    found: ["NSW driver licence «18293847»", "Australian driver's licence no. «092837465»"],
    clean: ["NSW parcel 18293847", "driver licence number 1829"],
  },
  {
    type: "NZ_DRIVER_LICENSE",
    aliases: ["NEW_ZEALAND_DRIVERS_LICENSE_NUMBER", "NZ_DRIVING_LICENCE"],
    country: "new zealand\\w*|nz|nzl",
    forms: ["AA9{6}"],
    found: ["NZ driver licence «DH382947»"],
    clean: ["NZ part DH382947"],
  },
  {
    type: "IN_DRIVER_LICENSE",
    aliases: ["INDIA_DRIVERS_LICENSE_NUMBER", "IN_DRIVING_LICENCE"],
    country: "india\\w*|rto|ind",
    forms: ["AA99 9{11}", "AA9{13}", "AA-9{13}", "AA99-9{11}", "AA-99-9{4}-9{7}", "AA99 9{4} 9{7}"],
    check: (s) => INDIAN_STATES.test(s) && /^..\d\d(?:19|20)\d\d/.test(s),
    found: ["driving licence «MH12 20110012345»", "DL No. «KA0119990004567»"],
    clean: ["part MH12 20110012345", "driving licence XX12 20110012345"],
  },
  {
    type: "JP_DRIVER_LICENSE",
    aliases: ["JAPAN_DRIVERS_LICENSE_NUMBER", "JP_DRIVING_LICENCE"],
    country: "japan\\w*|jp|jpn|日本",
    own: "運転免許証?(?:番号)?|免許証(?:番号)?",
    forms: ["9{12}", "9{4} 9{4} 9{4}"],
    check: japanese,
    plainDigits: true,
    found: ["運転免許証番号：«305012345630»"],
    clean: ["運転免許証番号：305012345640", "注文 305012345630"],
  },
  {
    type: "BR_DRIVER_LICENSE",
    aliases: ["BRAZIL_DRIVERS_LICENSE_NUMBER", "BR_CNH"],
    country: "bra[sz]il\\w*|br|bra",
    own: "cnh|habilita[cç][aã]o|carteira (?:nacional )?de (?:habilita[cç][aã]o|motorista)",
    forms: ["9{11}", "9{9}-99", "9{3} 9{3} 9{3} 99"],
    check: brazilian,
    plainDigits: true,
    found: ["CNH: «02650306461»"],
    clean: ["CNH: 02650306462", "pedido 02650306461"],
  },
  {
    type: "KR_DRIVER_LICENSE",
    aliases: ["KOREA_DRIVERS_LICENSE_NUMBER", "KR_DRIVING_LICENCE"],
    country: "korea\\w*|kor|한국",
    own: "운전\\s?면허\\S*",
    forms: ["99-99-9{6}-99", "9{12}"],
    check: (s) => /^(?:1[1-9]|2[0-8])/.test(s),
    plainDigits: true,
    found: ["운전면허번호 «11-15-382947-20»", "Korean driver's license «21-08-123456-31»"],
    clean: ["운전면허번호 10-15-382947-20", "주문 11-15-382947-20"],
  },
]);
