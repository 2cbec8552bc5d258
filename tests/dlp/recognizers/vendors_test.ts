import { assert, assertEquals } from "@std/assert";
import { VENDORS } from "../../../src/dlp/recognizers/vendors.ts";
import { GROUPS } from "../../../src/dlp/entities.ts";

const RULES = [...VENDORS.values()].flat();

Deno.test("VENDORS knows some two hundred kinds, all of known types", () => {
  assert(RULES.length >= 200, String(RULES.length));
  const types = new Set(GROUPS.SECRET);
  for (const { type, prefix } of RULES) assert(types.has(type), `${prefix}: ${type}`);
});

Deno.test("VENDORS patterns hold no abbreviation that was not written out", () => {
  for (const { prefix, pattern } of RULES) assertEquals(/[AWH]\{/.test(pattern.source), false, prefix);
});

Deno.test("VENDORS patterns match a whole token and nothing longer", () => {
  const hex = "3f1b495289a4592257386d3f8fa22818";
  const tokens = [
    `access-production-${hex.slice(0, 8)}-1111-2222-3333-${hex.slice(0, 12)}`,
    `lsv2_pt_${hex}_${hex.slice(0, 10)}`,
    `re_A1b2C3d4_${hex.slice(0, 24)}`,
    `1000.${hex}.${hex}`,
    `xkeysib-${hex}${hex}-${hex.slice(0, 16)}`,
    `access_token$production$${hex.slice(0, 16)}$${hex}`,
  ];
  for (const token of tokens) {
    const matching = (text: string) =>
      RULES.some(({ prefix, pattern }) => {
        pattern.lastIndex = 0;
        return text.startsWith(prefix) && pattern.exec(text)?.[0] === token;
      });
    assert(matching(token), token);
    assert(matching(`${token}" `), token);
    assert(!matching(`${token}9`), token);
  }
});
