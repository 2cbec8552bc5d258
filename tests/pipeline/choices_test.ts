/** Several answers of an API that gives one, put together. */
import { assertEquals, assertRejects } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import type { Part } from "../../src/exchange/part.ts";
import { normalizeUsage } from "../../src/exchange/usage.ts";
import { choices } from "../../src/pipeline/choices.ts";
import { eventually, nextTurn } from "../support/time.ts";

const answer = (text: string, output: number): Part[][] => [
  [{ type: "start" }, { type: "text-start", block: 0, choice: 0 }, { type: "text-delta", block: 0, text }],
  [
    { type: "text-end", block: 0 },
    { type: "usage", usage: normalizeUsage({ input: 5, output }) },
    { type: "finish", choice: 0, reason: "stop" },
  ],
];

/** Calls that say these batches; an Error among them is thrown. */
function asking(calls: (Part[][] | Error)[]) {
  const ended: number[] = [];
  let next = 0;
  async function* ask() {
    const i = next++;
    const said = calls[i];
    try {
      if (said instanceof Error) throw await Promise.resolve(said);
      yield* said;
    } finally {
      ended.push(i);
    }
  }
  return { ask, ended, chars: 40 };
}

async function collect(parts: AsyncGenerator<readonly Part[]>): Promise<Part[]> {
  const all: Part[] = [];
  for await (const batch of parts) all.push(...batch);
  return all;
}

Deno.test("choices() numbers answers and their blocks apart, begins once and adds usage up", async () => {
  const parts = await collect(choices(3, asking([answer("a", 1), answer("b", 2), answer("c", 4)])));
  assertEquals(parts.filter((p) => p.type === "start").length, 1);
  const starts = parts.filter((p) => p.type === "text-start");
  assertEquals(starts.map((p) => p.choice), [0, 1, 2]);
  assertEquals(new Set(starts.map((p) => p.block)).size, 3);
  const texts = new Map(parts.filter((p) => p.type === "text-delta").map((p) => [p.block, p.text]));
  assertEquals(starts.map((p) => texts.get(p.block)), ["a", "b", "c"]);
  assertEquals(parts.filter((p) => p.type === "finish").map((p) => p.choice).sort(), [0, 1, 2]);
  const usage = parts.filter((p) => p.type === "usage").at(-1)!.usage;
  assertEquals([usage.input, usage.output], [15, 7]);
});

Deno.test("choices() takes one answer of each call", async () => {
  const unasked: Part[] = [
    { type: "text-start", block: 1, choice: 1 },
    { type: "text-delta", block: 1, text: "unasked" },
    { type: "text-end", block: 1 },
    { type: "finish", choice: 1, reason: "length" },
  ];
  const two = answer("a", 1).map((batch, i) => i === 1 ? [...unasked, ...batch] : batch);
  const parts = await collect(choices(2, asking([two, answer("b", 2)])));
  assertEquals(parts.filter((p) => p.type === "text-delta").map((p) => p.text).sort(), ["a", "b"]);
  assertEquals(parts.filter((p) => p.type === "finish").map((p) => [p.choice, p.reason]).sort(), [
    [0, "stop"],
    [1, "stop"],
  ]);
});

Deno.test("choices() counts a call by estimate whose provider reports nothing, and adds up searches of providers", async () => {
  const silent = answer("eight", 0).map((batch) => batch.filter(({ type }) => type !== "usage"));
  const searched = answer("b", 2).map((batch) =>
    batch.map((part) => part.type === "usage" ? { ...part, searches: 2 } : part)
  );
  const parts = await collect(choices(3, asking([silent, searched, searched])));
  const last = parts.filter((p) => p.type === "usage").at(-1)!;
  assertEquals([last.usage.input, last.usage.output], [20, 6]);
  assertEquals([last.searches, last.estimated], [4, true]);
});

Deno.test("choices() gives the tier that all calls had, and adds up the other counts of their reports", async () => {
  const reported = (service: string | undefined, fields: Record<string, unknown>) =>
    answer("a", 1).map((batch) =>
      batch.map((part): Part =>
        part.type === "usage"
          ? { ...part, ...(service && { service }), extra: { format: "chat_completions", fields } }
          : part
      )
    );
  const cases = [
    [["flex", "flex", undefined], "flex"],
    [["flex", "default", undefined], undefined],
    [[undefined, undefined, undefined], undefined],
  ] as const;
  for (const [services, expected] of cases) {
    const calls = services.map((service, i) =>
      reported(service, { accepted_prediction_tokens: i, note: `call ${i}` })
    );
    const parts = await collect(choices(3, asking(calls)));
    const last = parts.filter((p) => p.type === "usage").at(-1)!;
    assertEquals(last.service, expected);
    assertEquals(last.extra?.format, "chat_completions");
    assertEquals(last.extra?.fields.accepted_prediction_tokens, 3);
  }
});

Deno.test("choices() throws what one call throws, and reads the others to their end", async () => {
  const { ask, ended } = asking([
    answer("a", 1),
    new Failure("provider_unavailable", "gone"),
    answer("c", 4),
  ]);
  const failure = await assertRejects(() => collect(choices(3, { ask, chars: 0 })), Failure);
  assertEquals(failure.code, "provider_unavailable");
  await eventually(() => ended.length === 3);
});

Deno.test("choices() may fail while a slow caller takes what came before, and the process goes on", async () => {
  async function* ask(): AsyncGenerator<readonly Part[]> {
    yield await Promise.resolve(answer("a", 1)[0]);
    throw new Failure("provider_unavailable", "gone");
  }
  const parts = choices(2, { ask, chars: 0 });
  assertEquals((await parts.next()).done, false);
  // A failure that nobody waits for ends the process when the event loop turns.
  await nextTurn();
  await assertRejects(() => collect(parts), Failure, "gone");
});
