import { assert, assertEquals } from "@std/assert";
import { groupsOf } from "../../src/dlp/joined_parts.ts";
import { merge } from "../../src/dlp/merge.ts";
import { readRequestOptions } from "../../src/dlp/request.ts";
import { type Found, Scan, SliceClock } from "../../src/dlp/scan_leaves.ts";
import { readLeaves } from "../../src/formats/leaves.ts";
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
