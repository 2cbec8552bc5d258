import { assertEquals } from "@std/assert";
import { Declared } from "../../../src/pipeline/repair/declared.ts";
import { mend } from "../../../src/pipeline/repair/mend.ts";
import { ArgumentScanner } from "../../../src/pipeline/repair/scanner.ts";

const SCHEMA = {
  type: "object",
  properties: {
    city: { type: "string" },
    days: { type: "integer" },
    limit: { type: ["number", "null"] },
    metric: { type: "boolean" },
    zip: { type: "string" },
    either: { anyOf: [{ type: "string" }, { type: "number" }] },
    tags: { type: "array", items: { type: "string" } },
    at: { $ref: "#/$defs/place" },
    free: {},
  },
  $defs: { place: { type: "object", properties: { lat: { type: "number" } } } },
};
const declared = Declared.of(SCHEMA);
const whole = (text: string) => mend(text, declared, { complete: true });
const cut = (text: string) => mend(text, declared, { complete: false });

/** What is wrong, and the same mended. */
const FAULTY: readonly (readonly [string, string])[] = [
  ['{"city":"Ulm"', '{"city":"Ulm"}'],
  ['{"at":{"lat":1.5', '{"at":{"lat":1.5}}'],
  ['{"tags":["a","b"', '{"tags":["a","b"]}'],
  ['{"city":"Ulm",}', '{"city":"Ulm"}'],
  ['{"tags":["a",],}', '{"tags":["a"]}'],
  ['{"city":"Ulm"}}', '{"city":"Ulm"}'],
  ['```json\n{"city":"Ulm"}\n```', '{"city":"Ulm"}'],
  ['"{\\"city\\":\\"Ulm\\"}"', '{"city":"Ulm"}'],
  ["{'city':'Ulm'}", '{"city":"Ulm"}'],
  ["{'city':'L\\'Aquila \"x\"'}", '{"city":"L\'Aquila \\"x\\""}'],
  ['{city: "Ulm"}', '{"city": "Ulm"}'],
  ['{"metric":True,"limit":None}', '{"metric":true,"limit":null}'],
  ['{"city":"a\nb"}', '{"city":"a\\nb"}'],
  ['{"city":"a\\qb"}', '{"city":"a\\\\qb"}'],
  ['{"days":"3"}', '{"days":3}'],
  ['{"limit":"2.50"}', '{"limit":2.50}'],
  ['{"limit":"null"}', '{"limit":null}'],
  ['{"metric":"true"}', '{"metric":true}'],
  ['{"zip":89073}', '{"zip":"89073"}'],
  ['{"tags":"[\\"a\\"]"}', '{"tags":["a"]}'],
  ['{"at":"{\\"lat\\":1}"}', '{"at":{"lat":1}}'],
  ['{"at":{"lat":"48.4"}}', '{"at":{"lat":48.4}}'],
  ['{"days":"12345678901234567890"}', '{"days":12345678901234567890}'],
  ['{"city":"Ulm", // a city\n"days":3}', '{"city":"Ulm", \n"days":3}'],
  ['{ /* none */ "days":3 # three\n}', '{  "days":3 \n}'],
  ['{"city":"Ulm",,"days":3,}', '{"city":"Ulm","days":3}'],
  ['{,"days":3}', '{"days":3}'],
  ['{"city":"Ulm"\n"days":3 "zip":"1"}', '{"city":"Ulm"\n,"days":3 ,"zip":"1"}'],
  ['{“city”:“Ulm”,„zip“:"1"}', '{"city":"Ulm","zip":"1"}'],
  ['{"city":`L\'Aquila "x"`}', '{"city":"L\'Aquila \\"x\\""}'],
  ['{"days":+3,"limit":.5,"at":{"lat":-.25e2}}', '{"days":3,"limit":0.5,"at":{"lat":-0.25e2}}'],
  ['{"metric":TRUE,"limit":NULL}', '{"metric":true,"limit":null}'],
  ['{"city":"Ulm"}<|im_end|>', '{"city":"Ulm"}'],
  ['{"city":"Ulm"}\n</tool_call>', '{"city":"Ulm"}'],
  ['{"city":"Ulm"}{"city":"Ulm"}', '{"city":"Ulm"}'],
  ['{"city":"Ulm"};', '{"city":"Ulm"}'],
  ['{"tags":["a"}', '{"tags":["a"]}'],
  ['{"free":[{"x":1],"days":3}', '{"free":[{"x":1}],"days":3}'],
];

/** What no change of syntax makes good, or what would change what is said. */
const BEYOND = [
  '{"city":"Ul',
  '{"city":',
  '{"city"',
  '{"city" "Ulm"}',
  '{"city":"Ulm"]}',
  '{"free":[1,,2]}',
  '{"city":"Ulm"}{"city":"Bonn"}',
  '{"city":"say "x" now"}',
  '{"days":1.}',
  '{"days":0x10}',
  '{"days":NaN}',
  '{"city":"Ulm" /* and',
  "Ulm",
  '["Ulm"]',
  '{"city":"Ulm"} and so on',
  '{"metric":tru}',
  '{"days":01}',
  "{".repeat(300),
];

const GOOD = [
  "",
  "{}",
  ' { "city" : "Ulm" , "days" : -3 } ',
  '{"either":"5","free":{"x":[1,"2",null,true]},"unknown":"7"}',
  '{"days":null,"limit":null,"city":null}',
  '{"zip":"08973","limit":-1.5e-7,"city":"\\u00fc\\n\\"{"}',
  '{"at":{"lat":48,"lon":"x"},"tags":[]}',
  '{"days":3.0}',
];

Deno.test("mend() puts syntax right, and nothing else", () => {
  for (const [text, mended] of FAULTY) assertEquals(whole(text), mended, text);
  for (const text of BEYOND) assertEquals(whole(text), null, text);
});

Deno.test("mend() closes nothing that was cut off", () => {
  assertEquals(cut('{"city":"Ulm"'), null);
  assertEquals(cut('{"days":12'), null);
  assertEquals(cut("{'city':'Ulm'}"), '{"city":"Ulm"}');
});

Deno.test("ArgumentScanner finds a fault in all that is faulty, in nothing that is good, wherever it is cut", () => {
  for (const step of [1, 2, 5, 1000]) {
    const scan = (text: string) => {
      const scanner = new ArgumentScanner(declared);
      for (let at = 0; at < text.length; at += step) scanner.push(text.slice(at, at + step));
      return scanner;
    };
    for (const text of GOOD) assertEquals([scan(text).fault, scan(text).whole], [null, true], text);
    for (const [text, mended] of FAULTY) {
      const scanner = scan(text);
      assertEquals(scanner.whole, false, text);
      // What has gone on by then is the beginning of what is mended, or all of it and white space.
      const sent = text.slice(0, scanner.good);
      assertEquals(mended.startsWith(sent) || mended === sent.trimEnd(), true, `${text}: ${sent}`);
    }
  }
});

Deno.test("values whose kinds nobody knows are left alone", () => {
  const schemas = [
    undefined,
    {},
    { type: "object", properties: { n: { allOf: [{ type: "number" }] } } },
    { type: "object", properties: { n: { $ref: "#/$defs/none" } } },
    { $ref: "#" },
    { type: "object", properties: { n: { type: "decimal" } } },
    { type: "object", properties: { n: { anyOf: [{ type: "string" }, {}] } } },
  ];
  for (const schema of schemas) {
    const scanner = new ArgumentScanner(Declared.of(schema));
    scanner.push('{"n":"5"}');
    assertEquals(scanner.whole, true, JSON.stringify(schema));
  }
});

Deno.test("a schema whose references lead to the same alternatives again and again is looked at in bounds", () => {
  const layers = (width: number, depth: number) => {
    const many = (name: string) => ({
      anyOf: Array.from({ length: width }, () => ({ $ref: `#/$defs/${name}` })),
    });
    const $defs: Record<string, unknown> = { [`l${depth}`]: { type: "object" } };
    for (let i = 1; i < depth; i++) $defs[`l${i}`] = many(`l${i + 1}`);
    return { ...many("l1"), $defs };
  };
  // Sixteen million alternatives, in 5 kB.
  assertEquals(Declared.of(layers(60, 4)).kinds, null);
  assertEquals([...Declared.of(layers(6, 2)).kinds!], ["object"]);
  const itself = { anyOf: [{ $ref: "#" }, { $ref: "#" }] };
  assertEquals(Declared.of(itself).kinds, null);
});
