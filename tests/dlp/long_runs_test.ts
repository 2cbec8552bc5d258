/** Stop words and custom patterns inside encoded text that is longer than the segments of a scan. */
import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { merge } from "../../src/dlp/merge.ts";
import { findPatterns } from "../../src/dlp/patterns.ts";
import { openRe2 } from "../../src/dlp/re2.ts";
import { readRequestOptions } from "../../src/dlp/request.ts";
import { detector } from "../../src/dlp/scan.ts";
import { screenBody, textsOf } from "../../src/dlp/screen_body.ts";
import { readLeaves } from "../../src/formats/leaves/mod.ts";
import { LEAVES } from "../../src/formats/mod.ts";
import { atOnce, Slices } from "../../src/timing/slices.ts";

const FORMS: Record<string, (text: string) => string> = {
  base64: (text) => Buffer.from(text).toString("base64"),
  "base64 in lines": (text) => Buffer.from(text).toString("base64").replace(/.{76}/g, "$&\n"),
  hexadecimal: (text) => Buffer.from(text).toString("hex"),
  "hexadecimal in lines": (text) => Buffer.from(text).toString("hex").replace(/.{64}/g, "$&\n"),
  "two levels of base64": (text) => Buffer.from(Buffer.from(text).toString("base64")).toString("base64"),
};

const CARD = "4539578763621486";

/** Text with characters of several bytes, which a cut between segments would break. */
function filler(length: number): string {
  return "Die Flüsse waren im Frühling voll – für 20 € gab es Fisch. ".repeat(length / 58 + 1).slice(
    0,
    length,
  );
}

Deno.test("stop words and patterns are found anywhere in long encoded text, and the whole run is reported", async () => {
  const re2 = openRe2({ limitMs: 60_000 });
  const check = merge(
    null,
    readRequestOptions({
      mode: "mask",
      entity_types: [],
      stop_words: [{ value: "Project Falcon" }],
      regexes: [{ name: "PLAN", pattern: "Falcon plan \\d{4}" }],
    }),
    { unscannable: "pass", restore: false },
  );
  try {
    for (const [form, encode] of Object.entries(FORMS)) {
      for (const before of [0, 5000, 8180, 16_380, 40_000]) {
        for (const lead of ["see: ", `${"x".repeat(9000)} `]) {
          const run = encode(`${filler(before)} Project Falcon plan 1234 ${filler(30_000)}`);
          const body = { messages: [{ role: "user", content: `${lead}${run} end` }] };
          const reading = readLeaves(body, LEAVES.chat_completions);
          const long = { re2, slices: new Slices(), key: "k" };
          const patterns = await findPatterns(atOnce(textsOf(reading, check)), check, long);
          const work = screenBody(reading, check, { budgetMs: 60_000, patterns });
          let step = work.next();
          while (!step.done) step = work.next();
          const span = [lead.length, lead.length + run.length];
          const found = step.value.findings.map(({ entity_type, start, end }) => [entity_type, start, end]);
          assertEquals(found.sort(), [["PLAN", ...span], ["STOP_WORD", ...span]], `${form} ${before}`);
          assertEquals(body.messages[0].content, `${lead}<STOP_WORD_1> end`);
        }
      }
    }
  } finally {
    re2.close();
  }
});

Deno.test("scan() decodes hexadecimal and base32 with further units of their alphabets before and behind", () => {
  const text = `the card of the customer is ${CARD} and it is valid until the end of the next year`;
  const base32 = [...Buffer.from(text)].map((byte) => byte.toString(2).padStart(8, "0")).join("")
    .replace(/.{5}/g, (bits) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[parseInt(bits, 2)]).replace(/[01]+$/, "");
  const cards = detector(new Set(["CREDIT_CARD"]));
  // Fewer units than stand for whole bytes.
  for (const [run, unit, group] of [[Buffer.from(text).toString("hex"), "a", 2], [base32, "A", 8]] as const) {
    for (let before = 0; before < group; before++) {
      for (const behind of ["", unit]) {
        const found = cards.scan(`id ${unit.repeat(before)}${run}${behind} end`);
        assertEquals(found.map(({ entityType }) => entityType), ["CREDIT_CARD"], `${before} ${behind}`);
      }
    }
  }
});
