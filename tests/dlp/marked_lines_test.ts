/** Tables and settings whose lines have marks in front of them, or are the content of a string of JSON. */
import { assertEquals } from "@std/assert";
import { merge } from "../../src/dlp/merge.ts";
import { readRequestOptions } from "../../src/dlp/request.ts";
import { screenBody } from "../../src/dlp/screen_body.ts";
import { readLeaves } from "../../src/formats/leaves/mod.ts";
import { LEAVES } from "../../src/formats/mod.ts";

/** What the only message becomes. */
function masked(content: string): string {
  const check = merge(null, readRequestOptions({ mode: "mask" }), { unscannable: "pass", restore: false });
  const body = { messages: [{ role: "user", content }] };
  const work = screenBody(readLeaves(body, LEAVES.chat_completions), check, { budgetMs: 60_000 });
  for (let step = work.next(); !step.done;) step = work.next();
  return body.messages[0].content;
}

/** Values that are found only by the line that they stand in, or by the header of their column. */
const FILES: Record<string, [text: string, values: string[]]> = {
  "a CSV file": ["name,city,ssn\nAnn Lee,Bonn,682634103\nBob Ray,Trier,536904399\n", [
    "682634103",
    "536904399",
  ]],
  "a table with borders": [
    "+-----+-----------+\n| id  | bsn       |\n+-----+-----------+\n| 231 | 171180318 |\n| 100 | 202922091 |\n+-----+-----------+",
    ["171180318", "202922091"],
  ],
  "aligned columns": ["Name      SSN\nAnn Lee   682634103\nBob Ray   536904399", ["682634103", "536904399"]],
  "accounts of a mail server": [
    "# sasl_passwd\n[smtp.corp.example]:587 jo:Heron2042!\n[mail.corp.example]:25 an:kV7pQz2mLx",
    ["Heron2042!", "kV7pQz2mLx"],
  ],
  "the secrets of PPP": ["# secrets\njo\t*\tkV7pQz2mLx9wR\t*\nan\t*\tbN3kTq8vZs5dY\t*", [
    "kV7pQz2mLx9wR",
    "bN3kTq8vZs5dY",
  ]],
  "settings": ["requirepass kV7pQz2mLx\nmasterauth bN3kTq8vZs", ["kV7pQz2mLx", "bN3kTq8vZs"]],
};

const lines = (text: string, mark: (i: number) => string) =>
  text.split("\n").map((line, i) => mark(i) + line).join("\n");
const PLACES: Record<string, (text: string) => string> = {
  "as they are": (text) => text,
  "behind the numbers of the lines": (text) => lines(text, (i) => `${String(i + 9).padStart(6)}\t`),
  "behind the numbers of the lines and arrows": (text) => lines(text, (i) => `${String(i + 9).padStart(6)}→`),
  "in a quoted mail": (text) => `Jo wrote:\n${lines(text, () => "> ")}`,
  "in a log": (text) => lines(text, () => "2026-03-01T10:11:12Z app | "),
  "in the output of containers": (text) => lines(text, () => "web-1  | "),
  "in a string of JSON": (text) => JSON.stringify({ id: 4, stdout: text, ok: true }),
  "in a string of JSON in another": (text) => JSON.stringify({ a: [JSON.stringify({ stdout: text })] }),
  "in a block of code": (text) => `please check\n\`\`\`\n${text}\n\`\`\`\nthanks`,
};

for (const [place, put] of Object.entries(PLACES)) {
  Deno.test(`values that the lines of a file identify are masked ${place}`, () => {
    for (const [file, [text, values]] of Object.entries(FILES)) {
      const sent = masked(put(text));
      assertEquals(values.filter((value) => sent.includes(value)), [], `${file}: ${sent}`);
    }
  });
}

Deno.test("a table is masked in a change", () => {
  const sent = masked(
    `@@ -1,3 +1,3 @@\n${lines("name,city,ssn\nAnn Lee,Bonn,682634103\nBob Ray,Trier,536904399", () => "+")}`,
  );
  assertEquals(/682634103|536904399/.test(sent), false, sent);
});

Deno.test("the mask of a setting at the end of a string leaves the JSON around it as it is", () => {
  const given = { id: 4, text: "username svc privilege 15 secret 0 kV7pQz2mLx", ok: true };
  assertEquals(JSON.parse(masked(JSON.stringify(given))), {
    ...given,
    text: "username svc privilege 15 secret 0 <PASSWORD_1>",
  });
});

Deno.test("numbers and words in front of lines are no marks by themselves", () => {
  for (const text of ["2\ta note\n7\tanother", "1 | one\n2 | two", "- one\n+ two", "a → b\nc → d"]) {
    assertEquals(masked(text), text);
  }
});
