import { assert, assertEquals } from "@std/assert";
import { RECOGNIZERS } from "../../../src/dlp/recognizers/list.ts";
import { tokenTable } from "../../../src/dlp/recognizers/tokens.ts";

const FORMS = tokenTable(RECOGNIZERS).byPair.flatMap((forms) => forms ?? []);

Deno.test("tokenTable() knows some two hundred kinds, all of secrets", () => {
  assert(FORMS.length >= 200, String(FORMS.length));
  for (const { type, tokens } of RECOGNIZERS.filter(({ group }) => group !== "SECRET")) {
    assertEquals(tokens, undefined, type);
  }
});

Deno.test("tokenTable() patterns hold no abbreviation that was not written out", () => {
  for (const { prefix, pattern } of FORMS) assertEquals(/[AWH]\{/.test(pattern.source), false, prefix);
});

Deno.test("tokenTable() patterns match a whole token and nothing longer", () => {
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
      FORMS.some(({ prefix, pattern }) => {
        pattern.lastIndex = 0;
        return text.startsWith(prefix) && pattern.exec(text)?.[0] === token;
      });
    assert(matching(token), token);
    assert(matching(`${token}" `), token);
    assert(!matching(`${token}9`), token);
  }
});
