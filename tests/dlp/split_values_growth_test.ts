import { assert, assertEquals } from "@std/assert";
import { groupsOf, spacedWindowsOf } from "../../src/dlp/joined_parts.ts";
import { merge } from "../../src/dlp/merge.ts";
import { readRequestOptions } from "../../src/dlp/request.ts";
import { screenBody } from "../../src/dlp/screen_body.ts";
import { type Found, Scan, SliceClock } from "../../src/dlp/scan_leaves.ts";
import { readLeaves } from "../../src/formats/leaves/mod.ts";
import { LEAVES } from "../../src/formats/mod.ts";

Deno.test("Scan.group() compares a value that is split over parts with few findings, however many there are", () => {
  const values = 400;
  const parts = Array.from(
    { length: 2 * values },
    (_, i) => ({ type: "text", text: i % 2 === 0 ? `write to jane${i}@` : `corp${i}.example and` }),
  );
  // One message with all parts, and one message for each value.
  const shapes = [[parts], Array.from({ length: values }, (_, i) => parts.slice(2 * i, 2 * i + 2))];
  for (const shape of shapes) {
    const body = { messages: shape.map((content) => ({ role: "user", content })) };
    const check = merge(null, readRequestOptions({ mode: "mask", entity_types: ["EMAIL_ADDRESS"] }), {
      unscannable: "pass",
      restore: false,
    });
    const scan = new Scan(check, new SliceClock(60_000), undefined);
    let reads = 0;
    const found = new Proxy<Found[]>([], {
      get(target, name, receiver) {
        if (typeof name === "string" && /^\d+$/.test(name)) reads++;
        return Reflect.get(target, name, receiver);
      },
    });
    const reading = readLeaves(body, LEAVES.chat_completions);
    for (const group of groupsOf(reading)) for (const _ of scan.group(group, found));
    assertEquals(found.length, values);
    assert(reads < 10 * values, `${reads} reads of ${values} findings`);
  }
});

Deno.test("spacedWindowsOf() reads each unit once, however many parts are a digit each", () => {
  const text = "4539 578763621486 ".repeat(500);
  const borders = Array.from({ length: text.length - 1 }, (_, i) => i + 1);
  let units = 0;
  for (const window of spacedWindowsOf(text, borders)) {
    units += window.text.length;
    for (let at = 0; at < window.text.length; at++) {
      const sent = window.sent(at);
      assert(window.text[at] === text[sent] || window.text[at] === " " && window.sent(at + 1) === sent);
    }
    assertEquals(window.text.slice(0, 12), "4 5 3 9 5 7 ");
  }
  assert(units < 3 * text.length, `${units} for ${text.length}`);
});

Deno.test("Scan.group() finds groups of digits that only borders separate", () => {
  const content = ["card 4539", "5787", "6362", "1486 and ", "DE89 3704 0044", "0532 0130 00"];
  const body = { messages: [{ role: "user", content: content.map((text) => ({ type: "text", text })) }] };
  const check = merge(null, readRequestOptions({ mode: "mask" }), { unscannable: "pass", restore: false });
  const work = screenBody(readLeaves(body, LEAVES.chat_completions), check, { budgetMs: 60_000 });
  while (!work.next().done);
  assertEquals(
    body.messages[0].content.map(({ text }) => text),
    ["card <CREDIT_CARD_1>", "", "", " and ", "<IBAN_CODE_1>", ""],
  );
});
