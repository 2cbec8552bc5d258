/** Large batches of an answer's parts are processed in portions, so that each step is short. */
import { assert, assertEquals } from "@std/assert";
import type { Part } from "../../src/exchange/part.ts";
import { restoreTools, type ToolNames } from "../../src/exchange/tools.ts";
import { type Answering, type Asked, Delivery } from "../../src/pipeline/generation/delivery.ts";
import { Withheld } from "../../src/outgoing/withheld.ts";

const SECRET = "provider-secret-key-0123";
const LARGEST = 1 << 18;

function deliveryOf(batch: Part[], restore: Answering["restore"] = null): Delivery {
  const opened = { withheld: new Withheld({ authorization: `Bearer ${SECRET}` }), followed: null };
  const asked = { call: { others: null }, prompt: {}, kit: {} };
  return new Delivery(
    { opened, begun: { batch, reader: null }, use: {}, restore } as unknown as Answering,
    asked as unknown as Asked,
    false,
  );
}

const text = (parts: readonly Part[]) => parts.map((part) => "text" in part ? part.text : "").join("");

Deno.test("secrets are removed from a large text portion by portion, also between two portions", () => {
  // Each letter may begin the secret.
  const said = `prov${"p".repeat(LARGEST - 14)}${SECRET}${"p".repeat(5 * LARGEST)}${SECRET}`;
  const delivery = deliveryOf([
    { type: "text-start", block: 0, choice: 0 } as Part,
    { type: "text-delta", block: 0, text: said } as Part,
    { type: "text-end", block: 0 } as Part,
  ]);
  assert(delivery.isLarge);
  const portions = [...delivery.portions()];
  // The first portion holds back what may begin the secret.
  for (const portion of portions) assert(text(portion).length <= LARGEST + SECRET.length);
  assert(portions.length > 5);
  assertEquals(text(portions.flat()), said.replaceAll(SECRET, "[withheld]"));
  assertEquals(portions.flat().map(({ type }) => type).filter((type) => type !== "text-delta"), [
    "text-start",
    "text-end",
  ]);
});

Deno.test("many parts come in portions, with the names that the caller's tools have", () => {
  const names = new Map([["f_1", { name: "f", kind: "function", wrapped: false }]]) as unknown as ToolNames;
  const calls = Array.from({ length: 3000 }, (_, block): Part[] => [
    { type: "call-start", block, choice: 0, id: `c${block}`, name: "f_1", kind: "function" } as Part,
    { type: "call-end", block } as Part,
  ]).flat();
  const delivery = deliveryOf(calls, restoreTools(names));
  assert(delivery.isLarge);
  const portions = [...delivery.portions()];
  assertEquals(portions.map(({ length }) => length), [2000, 2000, 2000]);
  assert(portions.flat().every((part) => part.type !== "call-start" || part.name === "f"));
});

Deno.test("a small batch is given at once", () => {
  const delivery = deliveryOf([{ type: "text-delta", block: 0, text: `a ${SECRET} b` } as Part]);
  assertEquals(delivery.isLarge, false);
  assertEquals(text(delivery.given()), "a [withheld] b");
});
