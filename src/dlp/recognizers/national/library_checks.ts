/**
 * Checks that stdnum makes, for numbers with letters in fixed places: few runs of a text come as far as these.
 *
 * Numbers of digits alone keep the arithmetic of this folder. With every type wanted each nine-digit run is tried by a
 * dozen rules, and stdnum takes 5 to 40 µs for each, this folder 0.1 to 1 µs; on the labelled rows stdnum accepts 165 of
 * the 178 numbers that are accepted here (not old PESEL and CNP dates, Swedish ten digits, Korean numbers of today).
 * The modules are imported one by one because the package's index loads 90 countries, which takes 0.1 s.
 */

import * as personalIdOfTaiwan from "stdnum/lib/cjs/tw/natid.js";
import * as pensionOfGermany from "stdnum/lib/cjs/de/svnr.js";
import * as ppsOfIreland from "stdnum/lib/cjs/ie/pps.js";
import * as taxOfIndia from "stdnum/lib/cjs/in/gstin.js";
import * as taxOfItaly from "stdnum/lib/cjs/it/codicefiscale.js";
import * as personalIdOfMexico from "stdnum/lib/cjs/mx/curp.js";

interface Validator {
  validate(value: string): { isValid: boolean };
}

function checkOf({ validate }: Validator): (compact: string) => boolean {
  return (compact) => validate(compact).isValid;
}

export const codiceFiscale = checkOf(taxOfItaly);
export const curp = checkOf(personalIdOfMexico);
export const germanPension = checkOf(pensionOfGermany);
export const gstin = checkOf(taxOfIndia);
export const pps = checkOf(ppsOfIreland);
export const taiwan = checkOf(personalIdOfTaiwan);
