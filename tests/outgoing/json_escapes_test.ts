import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { withoutEscapes } from "../../src/outgoing/json_escapes.ts";

Deno.test("withoutEscapes() writes printable ASCII as itself, and leaves every other escape", () => {
  const cases = {
    "\\u0041\\u007a\\u0020\\u007e": "Az ~",
    "\\u003C\\u003c": "<<",
    "\\u0022\\u005c\\u007f\\u001f\\u00e9": "\\u0022\\u005c\\u007f\\u001f\\u00e9",
    "\\\\u0041\\\\\\u0041": "\\\\u0041\\\\A",
    "\\u004": "\\u004",
    "\\u00g1\\u0141\\U0041": "\\u00g1\\u0141\\U0041",
    "ä\\u0041€😀\\n\\": "äA€😀\\n\\",
    "": "",
  };
  for (const [json, clean] of Object.entries(cases)) assertEquals(withoutEscapes(json), clean, json);
});

Deno.test("withoutEscapes() changes no value, however its JSON is escaped", () => {
  const text = fc.string({ unit: "binary" });
  fc.assert(fc.property(text, fc.array(fc.boolean(), { minLength: 1, maxLength: 9 }), (value, escapes) => {
    let nth = 0;
    const json = JSON.stringify(value).slice(1, -1).replace(
      /\\.[\da-f]{0,4}|[^\\]/gu,
      (found) =>
        found.length === 1 && found < "\x80" && escapes[nth++ % escapes.length]
          ? `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`
          : found,
    );
    assertEquals(JSON.parse(`"${withoutEscapes(json)}"`), value);
  }));
});
