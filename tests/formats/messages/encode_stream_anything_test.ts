/** Blocks in any interleaving make a legal stream that adds up to the whole answer. */
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Part } from "../../../src/exchange/part.ts";
import { answering, checkStream, encodeParts, encodeWhole, fold } from "./support.ts";
import { FINISH, paired, START } from "./answers.ts";

const piece = fc.oneof(
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.constantFrom("", "\ud800", "\n\n", "\u2028"),
);
const proof = fc.option(
  fc.record({
    api: fc.constantFrom("messages" as const, "responses" as const, "gemini" as const),
    kind: fc.constantFrom("signature" as const, "redacted" as const, "encrypted" as const),
    data: fc.string({ minLength: 1, maxLength: 4 }),
  }),
  { nil: undefined },
);
const citation = fc.record({ kind: fc.constantFrom("url" as const, "document" as const), url: fc.webUrl() });

/** The parts of one block, without its number. */
const block = fc.oneof(
  fc.tuple(fc.array(fc.oneof(piece, citation), { maxLength: 4 }), proof).map(
    ([pieces, p]) => (b: number): Part[] => [
      { type: "text-start", block: b, choice: 0 },
      ...pieces.map((x): Part =>
        typeof x === "string"
          ? { type: "text-delta", block: b, text: x }
          : { type: "citation", block: b, citation: x }
      ),
      { type: "text-end", block: b, ...(p && { proof: p }) },
    ],
  ),
  fc.tuple(fc.array(fc.tuple(fc.nat(2), piece), { maxLength: 4 }), proof).map(
    ([pieces, p]) => (b: number): Part[] => [
      { type: "reasoning-start", block: b, choice: 0, kind: "summary" },
      ...pieces.toSorted((x, y) => x[0] - y[0]).map(([section, t]): Part => ({
        type: "reasoning-delta",
        block: b,
        section,
        text: t,
      })),
      { type: "reasoning-end", block: b, ...(p && { proof: p }) },
    ],
  ),
  fc.tuple(fc.dictionary(fc.string({ maxLength: 3 }), piece), fc.nat(9), fc.boolean(), proof).map(
    ([input, cut, custom, p]) => (b: number): Part[] => {
      const json = Object.keys(input).length === 0 ? "" : JSON.stringify(input);
      return [
        {
          type: "call-start",
          block: b,
          choice: 0,
          id: `c${b}`,
          name: "f",
          kind: custom ? "custom" : "function",
          ...(p && { proof: p }),
        },
        { type: "call-delta", block: b, text: json.slice(0, cut) },
        { type: "call-delta", block: b, text: json.slice(cut) },
        { type: "call-end", block: b },
      ];
    },
  ),
  fc.tuple(fc.string(), fc.boolean()).map(([query, failed]) => (b: number): Part[] => [
    { type: "search-start", block: b, choice: 0, id: `s${b}`, query },
    {
      type: "search-end",
      block: b,
      hits: failed ? [] : [{ url: "u", title: "t" }],
      ...(failed && { failed }),
    },
  ]),
  fc.constant((b: number): Part[] => [
    { type: "opaque", block: b, choice: 0, format: "messages", value: { type: "x", n: b } },
  ]),
  fc.constant((
    b: number,
  ): Part[] => [{ type: "media", block: b, choice: 0, mediaType: "image/png", data: "aa" }]),
);

Deno.test("encodeStream() is legal and adds up to the whole answer for blocks in any interleaving", () => {
  fc.assert(
    fc.property(
      fc.array(block, { maxLength: 5 }),
      fc.infiniteStream(fc.nat()),
      fc.integer({ min: 1, max: 5 }),
      (blocks, picks, batch) => {
        const queues = blocks.map((make, b) => make(b));
        const parts: Part[] = [START];
        let started = 0;
        while (queues.some((q) => q.length > 0)) {
          // Blocks begin in order of their numbers; what is open may come in any order.
          const open = queues.map((_, i) => i).filter((i) => queues[i].length > 0 && i <= started);
          const chosen = open[picks.next().value % open.length];
          if (chosen === started) started++;
          parts.push(queues[chosen].shift()!);
        }
        parts.push(FINISH);
        const stream = encodeParts(parts, answering(), batch);
        checkStream(stream);
        assertEquals(paired(fold(stream)), encodeWhole(parts));
      },
    ),
    { numRuns: 300 },
  );
});
