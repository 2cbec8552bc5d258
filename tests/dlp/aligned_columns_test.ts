/** Tables whose columns are aligned with spaces, as commands print them and as the text of documents has them. */
import { assertEquals } from "@std/assert";
import { ALL_ENTITY_NAMES, resolveEntityTypes } from "../../src/dlp/entities.ts";
import { detector } from "../../src/dlp/scan.ts";

const everything = detector(resolveEntityTypes(ALL_ENTITY_NAMES).types);

/** Found values are between « and »; the signs are removed before the text is scanned. */
const FOUND: Record<string, { type: string; text: string }> = {
  "begins below its name": {
    type: "US_SSN",
    text: `
      Name            SSN        Dept
      Ann Lee         «682634103»  ops
      Bartholomew Ng  «536904399»  hr`,
  },
  "ends below its name": {
    type: "US_SSN",
    text: `
      Name                  SSN    Salary
      Ann Lee         «682634103»  90825.80
      Bartholomew Ng  «536904399»   9867.82`,
  },
  "stands behind a cell without a name": {
    type: "NL_BSN",
    text: `
           naam        bsn
      0    Jan   «171180318»
      1    Piet  «202922091»`,
  },
  "stands beside an empty cell": {
    type: "DATE_OF_BIRTH",
    text: `
      Name     City    Date of birth
      Ann Lee          «1984-03-12»
      Bob Ray  Bonn    «1990-11-02»`,
  },
  "stands below a line": {
    type: "PASSWORD",
    text: `
      Host          User   Password
      ------------  -----  ----------
      db.internal   svc    «kV7pQz2mLx»
      app.internal  admin  «Heron2042!»`,
  },
  "has a width of two columns for each letter": {
    type: "CN_RESIDENT_ID",
    text: `
      姓名    身份证号            城市
      王小明  «110101200102159666»  北京`,
  },
  "has spaces in it": {
    type: "CREDIT_CARD",
    text: `
      Cardholder     PAN                  Exp
      Ann Lee        «4539 5787 6362 1486»  12/29`,
  },
  "is in a string of JSON": {
    type: "CVV",
    text: '{"output":"Cardholder  CVV   Exp\\nAnn Lee     «737»   12/29\\nBob Ray     «041»   01/28\\n"}',
  },
};

for (const [what, { type, text }] of Object.entries(FOUND)) {
  Deno.test(`scan() finds a value in an aligned column that ${what}`, () => {
    const marked = text.replace(/^\n {6}/, "").replaceAll("\n      ", "\n");
    const expected: string[] = [...marked.matchAll(/«([^»]+)»/g)].map(([, value]) => value);
    const plain = marked.replace(/[«»]/g, "");
    const found = everything.scan(plain).filter((one) => one.entityType === type);
    assertEquals(found.map(({ start, end }) => plain.slice(start, end)), expected);
  });
}

Deno.test("scan() takes no number in an aligned column for the value of a neighbour's name", () => {
  for (
    const text of [
      "Order       Customer  Total\n682634103   171180318  9.99\n536904399   202922091  1.50",
      `Name  SSN${" ".repeat(90)}Order\nAnn   ${" ".repeat(93)}682634103\nBob   ${" ".repeat(93)}536904399`,
      "Payment  Card\n\n682634103  Visa",
    ]
  ) {
    assertEquals(everything.scan(text).filter(({ entityType }) => entityType === "US_SSN"), [], text);
  }
});

Deno.test("scan() finds the values of an aligned column at any distance from its name", () => {
  const rows = Array.from(
    { length: 3000 },
    (_, i) => `worker ${100 + i % 900}     ${536904399 + i % 2}  day`,
  );
  const text = "Name           SSN        Shift\n" + rows.join("\n");
  const found = everything.scan(text).filter(({ entityType }) => entityType === "US_SSN");
  assertEquals(found.length, 3000);
});
