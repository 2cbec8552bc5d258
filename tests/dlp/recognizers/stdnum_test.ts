/** The check digits that this project computes itself, beside those of stdnum. */
import { assertEquals } from "@std/assert";
import {
  codiceFiscale,
  germanPension,
  germanTax,
  pps,
} from "../../../src/dlp/recognizers/national/checks_eu.ts";
import { curp, gstin, taiwan } from "../../../src/dlp/recognizers/national/checks_world.ts";
import * as germanPensions from "stdnum/lib/cjs/de/svnr.js";
import * as germanTaxes from "stdnum/lib/cjs/de/idnr.js";
import * as ppsOfIreland from "stdnum/lib/cjs/ie/pps.js";
import * as taxOfIndia from "stdnum/lib/cjs/in/gstin.js";
import * as taxOfItaly from "stdnum/lib/cjs/it/codicefiscale.js";
import * as personalIdOfMexico from "stdnum/lib/cjs/mx/curp.js";
import * as personalIdOfTaiwan from "stdnum/lib/cjs/tw/natid.js";

interface Validator {
  validate(value: string): { isValid: boolean };
}

const CHECKS: Record<string, [(compact: string) => boolean, Validator, string]> = {
  germanPension: [germanPension, germanPensions, "15070649C103"],
  germanTax: [germanTax, germanTaxes, "26954371827"],
  pps: [pps, ppsOfIreland, "6433435F"],
  gstin: [gstin, taxOfIndia, "27AAPFU0939F1ZV"],
  codiceFiscale: [codiceFiscale, taxOfItaly, "RSSMRA85T10A562S"],
  curp: [curp, personalIdOfMexico, "BOXW310820HNERXN09"],
  taiwan: [taiwan, personalIdOfTaiwan, "A123456789"],
};

/** The same value with the check character, and one more character, replaced by each of their kind. */
function* relatives(valid: string): Generator<string> {
  for (let i = 0; i < valid.length; i++) {
    for (const c of /\d/.test(valid[i]) ? "0123456789" : "ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
      yield valid.slice(0, i) + c + valid.slice(i + 1);
    }
  }
}

for (const [name, [check, library, valid]] of Object.entries(CHECKS)) {
  Deno.test(`${name}() accepts what stdnum accepts among the relatives of one number`, () => {
    for (const value of relatives(valid)) {
      assertEquals(check(value), library.validate(value).isValid, value);
    }
    assertEquals(check(valid), true);
  });
}
