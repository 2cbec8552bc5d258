/** Tool calls whose arguments are mended, as callers see it. */
import { assertEquals } from "@std/assert";
import type { FinishReason, Part } from "../../../src/exchange/part.ts";
import type { Tool } from "../../../src/exchange/prompt.ts";
import { repairCalls } from "../../../src/pipeline/repair/repair_calls.ts";
import { chatChunk } from "../../support/answers.ts";
import { testGateway } from "../../support/gateway.ts";
import { loopbackProvider, sseResponse } from "../../support/provider.ts";
import { eventually } from "../../support/time.ts";

const PARAMETERS = { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } } };
const TOOLS: Tool[] = [{ kind: "function", name: "weather", parameters: PARAMETERS }];

/** Parts of answers with calls, their arguments in pieces; the calls interleave. */
async function* answer(
  calls: readonly (readonly string[])[],
  { name = "weather", reason = "tool-calls" as FinishReason, ends = true } = {},
): AsyncGenerator<Part[]> {
  for (const [block] of calls.entries()) {
    yield [{ type: "call-start", block, choice: 0, id: `c${block}`, name, kind: "function" }];
  }
  for (let i = 0; i < Math.max(...calls.map((pieces) => pieces.length)); i++) {
    yield calls.flatMap((pieces, block): Part[] =>
      i < pieces.length ? [{ type: "call-delta", block, text: pieces[i] }] : []
    );
  }
  if (!ends) throw new Error("broke off");
  yield calls.map((_, block): Part => ({ type: "call-end", block }));
  yield [{ type: "finish", choice: 0, reason }];
}

async function repaired(parts: AsyncGenerator<readonly Part[]>) {
  const batches: (readonly Part[])[] = [];
  let count = 0;
  try {
    for await (const batch of repairCalls(parts, TOOLS, () => count++)) batches.push(batch);
  } catch {
    // It broke off.
  }
  const texts = new Map<number, string>();
  for (const part of batches.flat()) {
    if (part.type === "call-delta") texts.set(part.block, (texts.get(part.block) ?? "") + part.text);
  }
  return { batches, texts: [...texts.entries()].sort(([a], [b]) => a - b).map(([, text]) => text), count };
}

Deno.test("good arguments go on as they come", async () => {
  const pieces = ['{"ci', 'ty": "Ulm"', "}"];
  const { batches, count } = await repaired(answer([pieces]));
  assertEquals(batches, await Array.fromAsync(answer([pieces])));
  assertEquals(count, 0);
});

Deno.test("arguments are held back from the first fault on, and mended when the answer has ended", async () => {
  const { batches, texts, count } = await repaired(
    answer([['{"city":"Ulm",', '"days":', '"3"', "}"], ['{"city":"Bonn"}'], ['{"city":"Köln"']]),
  );
  assertEquals(texts, ['{"city":"Ulm","days":3}', '{"city":"Bonn"}', '{"city":"Köln"}']);
  assertEquals(count, 2);
  const order = batches.flat().map((part) => "block" in part ? `${part.type} ${part.block}` : part.type);
  assertEquals(order.slice(-5), ["call-delta 0", "call-end 0", "call-delta 2", "call-end 2", "finish"]);
  assertEquals(order.indexOf("call-end 1") < order.length - 5, true);
});

Deno.test("what was cut off, cannot be mended, or was not declared goes on as it was", async () => {
  for (const reason of ["length", "content-filter", "refusal", "pause"] as const) {
    const { texts, count } = await repaired(answer([['{"city":"Ulm"']], { reason }));
    assertEquals([texts, count], [['{"city":"Ulm"'], 0]);
  }
  for (
    const [text, options] of [['{"city":"Ul', {}], ["{'a':1}", { name: "other" }], ["{'a'", {
      ends: false,
    }]] as const
  ) {
    const { texts, count } = await repaired(answer([[...text]], options));
    assertEquals([texts, count], [[text], 0]);
  }
});

Deno.test("a caller who asks for it gets calls that parse, whole and streamed, and the record says how many were mended", async () => {
  const call = {
    id: "c1",
    type: "function",
    function: { name: "weather", arguments: '{"city":"Ulm","days":"3",}' },
  };
  const provider = loopbackProvider(({ body }) =>
    body.stream
      ? sseResponse([
        chatChunk({
          role: "assistant",
          tool_calls: [{ ...call, index: 0, function: { name: "weather", arguments: "" } }],
        }),
        ...['{"city":"U', 'lm","days":', '"3",}'].map((text) =>
          chatChunk({ tool_calls: [{ index: 0, function: { arguments: text } }] })
        ),
        chatChunk({}, "tool_calls"),
        "data: [DONE]\n\n",
      ])
      : Response.json({
        choices: [{
          index: 0,
          finish_reason: "tool_calls",
          message: { role: "assistant", content: null, tool_calls: [call] },
        }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      })
  );
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } });
  const ask = async (stream: boolean, headers: Record<string, string>) => {
    const response = await gateway.post("/v1/chat/completions", {
      model: "p/model",
      stream,
      messages: [{ role: "user", content: "Weather?" }],
      tools: [{ type: "function", function: { name: "weather", parameters: PARAMETERS } }],
    }, { headers });
    const text = await response.text();
    const id = response.headers.get("x-request-id")!;
    const record = await eventually(async () =>
      await gateway.gateway.accounts.generation(id).catch(() => null)
    );
    const given = stream
      ? [...text.matchAll(/"arguments":("(?:[^"\\]|\\.)*")/g)].map(([, json]) => JSON.parse(json)).join("")
      : JSON.parse(text).choices[0].message.tool_calls[0].function.arguments;
    return [given, response.headers.get("x-svc-repaired"), record!.repaired];
  };
  const asking = { "x-svc-repair": "true" };
  assertEquals(await ask(false, asking), ['{"city":"Ulm","days":3}', "1", 1]);
  assertEquals(await ask(true, asking), ['{"city":"Ulm","days":3}', null, 1]);
  assertEquals(await ask(false, {}), [call.function.arguments, null, 0]);
  await gateway.close();
  await provider.close();
});
