/** Numbering plans against the package whose plans they are. */
import { assertEquals } from "@std/assert";
import { parsePhoneNumberFromString } from "libphonenumber-js/min";
import metadata from "libphonenumber-js/min/metadata";
import { type Grade, gradeOf } from "../../../src/dlp/recognizers/phone_plan.ts";

const PLANS = metadata as unknown as {
  country_calling_codes: Record<string, string[]>;
  countries: Record<string, unknown[]>;
  nonGeographic: Record<string, unknown[]>;
};
const EACH = 60;

function byPackage(digits: string): Grade {
  const number = parsePhoneNumberFromString(`+${digits}`);
  return number?.isValid() ? "assigned" : number?.isPossible() ? "possible" : "none";
}

/** How numbers of a plan may begin: the digits in its patterns. */
function beginnings(plan: unknown[]): string[] {
  return [2, 5, 7, 10, 11].flatMap((at) => JSON.stringify(plan[at] ?? "").match(/\d{1,5}/g) ?? []);
}

Deno.test("a number of any country exists if the package says so", () => {
  let state = 12345;
  const random = (below: number) => {
    state = Math.imul(state ^ state >>> 15, 0x2c1b3c6d) + 0x6d2b79f5 | 0;
    return ((state ^ state >>> 13) >>> 0) % below;
  };
  const counts: Record<Grade, number> = { assigned: 0, possible: 0, none: 0 };
  const plans = Object.entries(PLANS.country_calling_codes)
    .map(([code, countries]) =>
      [code, countries.flatMap((c) => beginnings(PLANS.countries[c] ?? []))] as const
    )
    .concat(Object.entries(PLANS.nonGeographic).map(([code, plan]) => [code, beginnings(plan)] as const))
    .concat([["0", ["1"]], ["999", ["2"]], ["21", ["0"]]]);
  for (const [code, begun] of plans) {
    for (let i = 0; i < EACH; i++) {
      const begins = i % 4 === 0 || begun.length === 0 ? "" : begun[random(begun.length)];
      let digits = code + begins + (i % 4 === 3 ? begun[random(begun.length)] ?? "" : "");
      for (const length = code.length + 1 + random(16); digits.length < length;) digits += random(10);
      const grade = byPackage(digits);
      counts[grade]++;
      assertEquals(`${digits} ${gradeOf(digits)}`, `${digits} ${grade}`);
    }
  }
  assertEquals(
    counts.assigned > 500 && counts.possible > 500 && counts.none > 500,
    true,
    JSON.stringify(counts),
  );
});

Deno.test("what is dialled before a number within its country is passed over", () => {
  assertEquals(gradeOf("4407400123456"), "assigned");
  assertEquals(gradeOf("390612345678"), "assigned");
  assertEquals(gradeOf("5491123456789"), "assigned");
  assertEquals(gradeOf("540111523456789"), byPackage("540111523456789"));
});
