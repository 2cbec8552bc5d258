/**
 * The cases of the Open Responses compliance suite of 2026-04-24, rebuilt from their description, at every provider API: the
 * answer follows the document, is completed, and holds what the case is about.
 */
import { assert, assertEquals } from "@std/assert";
import { array, type Loose, object } from "../../src/exchange/json.ts";
import { APIS, type Stage, stage } from "../clients/support.ts";
import { SECRET } from "../support/gateway.ts";
import type { Line } from "../support/script/mod.ts";
import { SocketClient, type SocketEvent } from "../support/socket_client.ts";
import { eventsOf, mistakes } from "./check.ts";
import { streamMistakes } from "./surfaces.ts";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const user = (content: unknown) => ({ type: "message", role: "user", content });

interface Case {
  name: string;
  input: unknown[];
  more?: Loose;
  says?: Line;
  /** Types of the output's items. */
  output?: readonly string[];
}

const CASES: readonly Case[] = [
  { name: "a text", input: [user("Say hello in exactly 3 words.")] },
  {
    name: "a system message",
    input: [{ type: "message", role: "developer", content: "One word." }, user("Hello.")],
  },
  {
    name: "a tool call",
    input: [user("What is the weather in San Francisco?")],
    more: {
      tools: [{
        type: "function",
        name: "get_weather",
        description: "Current weather of a place",
        parameters: { type: "object", properties: { location: { type: "string" } }, required: ["location"] },
      }],
      tool_choice: "required",
    },
    says: { calls: [{ id: "call_1", name: "get_weather", input: { location: "San Francisco" } }] },
    output: ["function_call"],
  },
  {
    name: "an image",
    input: [user([
      { type: "input_text", text: "Describe it." },
      { type: "input_image", image_url: `data:image/png;base64,${PIXEL}` },
    ])],
  },
  {
    name: "several turns",
    input: [
      user("My name is Alice."),
      { type: "message", role: "assistant", content: "Hello Alice!" },
      user("My name?"),
    ],
  },
  {
    name: "the phases of an earlier answer",
    input: [
      {
        type: "message",
        role: "assistant",
        phase: "commentary",
        content: "I should answer with the number.",
      },
      { type: "message", role: "assistant", phase: "final_answer", content: "The number is four." },
      user("Repeat only the number."),
    ],
  },
  {
    name: "reasoning",
    input: [user("What is 15 * 37?")],
    more: { reasoning: { effort: "low", summary: "auto" } },
    says: { reasoning: { text: "Fifteen times thirty-seven.", proof: "EqQBCkYIBxgCKkDcW1==" }, text: "555" },
    output: ["reasoning", "message"],
  },
];

async function post(at: Stage, body: Loose, path = "/v1/responses"): Promise<Response> {
  return await fetch(`${at.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${SECRET}`, "content-type": "application/json" },
    body: JSON.stringify({ model: at.model, ...body }),
  });
}

function assertCompleted(response: Loose, output: readonly string[]): void {
  assertEquals(mistakes("open_responses.openapi", "ResponseResource", response), []);
  assertEquals(mistakes("openai.types", "Response", response), []);
  assertEquals(response.status, "completed");
  assert(typeof response.id === "string" && response.id !== "");
  // The signature of a text follows in reasoning of its own.
  const types = array(response.output).map((item) => object(item).type);
  assertEquals(types.slice(0, output.length), output);
  const usage = object(response.usage);
  for (const name of ["input_tokens", "output_tokens", "total_tokens"]) {
    assertEquals(typeof usage[name], "number");
  }
}

for (const api of APIS) {
  for (
    const { name, input, more = {}, says = { text: "Hello there, friend." }, output = ["message"] } of CASES
  ) {
    Deno.test(`Open Responses: ${name}, from ${api}`, async () => {
      await using at = await stage(api, [says, says]);
      const whole = await post(at, { input, ...more });
      assertEquals(whole.status, 200);
      assertCompleted(await whole.json(), output);

      const sse = await (await post(at, { input, ...more, stream: true })).text();
      assertEquals(streamMistakes("responses", sse), []);
      const events = eventsOf(sse);
      assertEquals(events.slice(0, 2).map((e) => e.data.type), ["response.created", "response.in_progress"]);
      assertEquals(events.map((e) => e.data.sequence_number), events.map((_, i) => i));
      assertEquals(events.at(-1)!.data.type, "response.completed");
      assertCompleted(events.at(-1)!.data.response as Loose, output);
    });
  }
}

const SAYS: Line = { text: "OK, cobalt." };
/** Servers of the responses API that have no compaction of their own. */
const noCompaction = (
  line: Line,
): Line[] => [() => Response.json({ detail: "Not Found" }, { status: 404 }), line];

async function socketTo(at: Stage): Promise<SocketClient> {
  return await SocketClient.open(at.url);
}

/** The events of a turn follow the document, and end with a completed response, which is given back. */
function assertTurn(events: SocketEvent[]): Loose {
  const sse = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  assertEquals(streamMistakes("responses", sse), []);
  const { type, response } = events.at(-1);
  assertEquals(type, "response.completed");
  assertCompleted(response, ["message"]);
  return response;
}

function assertRefused(events: SocketEvent[], code: string): void {
  assertEquals(mistakes("open_responses.openapi", "WebSocketErrorEvent", events.at(-1)), []);
  assertEquals(events.at(-1).error.code, code);
}

function turnOf(at: Stage, input: unknown, more: Loose = {}): Loose {
  return { model: at.model, store: false, input, ...more };
}

for (const api of APIS) {
  Deno.test(`Open Responses: turns over a WebSocket, from ${api}`, async () => {
    await using at = await stage(api, Array(4).fill(SAYS));
    const client = await socketTo(at);
    const one = assertTurn(await client.turn({ model: at.model, input: [user("Count from 1 to 3.")] }));
    assertTurn(await client.turn(turnOf(at, "Reply with exactly: second")));
    assertTurn(await client.turn(turnOf(at, "What is the code word?", { previous_response_id: one.id })));
    await client.close();

    const again = await socketTo(at);
    assertRefused(
      await again.turn(turnOf(at, "Try to go on.", { previous_response_id: one.id })),
      "previous_response_not_found",
    );
    assertTurn(await again.turn(turnOf(at, [user("Start anew.")])));
    assertRefused(
      await again.turn(turnOf(at, "This must fail.", { previous_response_id: "resp_missing_1" })),
      "previous_response_not_found",
    );
    await again.close();
  });

  Deno.test(`Open Responses: a continuation over a WebSocket that fails is forgotten, from ${api}`, async () => {
    await using at = await stage(api, [SAYS]);
    const client = await socketTo(at);
    const { id } = assertTurn(await client.turn(turnOf(at, "Remember: ember.")));
    const result = { type: "function_call_output", call_id: "call_missing", output: "of no call" };
    assertRefused(await client.turn(turnOf(at, [result], { previous_response_id: id })), "validation_error");
    assertRefused(
      await client.turn(turnOf(at, "Go on.", { previous_response_id: id })),
      "previous_response_not_found",
    );
    await client.close();
  });

  Deno.test(`Open Responses: a compaction and a WebSocket that goes on from it, from ${api}`, async () => {
    const lines: Line[] = [{ text: "The launch is on Tuesday; tell support first." }, SAYS];
    await using at = await stage(
      api,
      api === "openai-responses" ? noCompaction(lines[0]).concat(SAYS) : lines,
    );
    const conversation = [
      user("We agreed to launch on Tuesday and notify support first."),
      { type: "message", role: "assistant", content: "Understood." },
    ];
    const fields = { input: conversation, prompt_cache_key: "openresponses-compact-test" };
    const answer = await post(at, fields, "/v1/responses/compact");
    const compacted = await answer.json();
    assertEquals([answer.status, compacted.object], [200, "response.compaction"]);
    assertEquals(mistakes("open_responses.openapi", "CompactResource", compacted), []);
    assert(array(compacted.output).some((item) => object(item).type === "compaction"));

    const client = await socketTo(at);
    assertTurn(await client.turn(turnOf(at, [...compacted.output, user("Continue.")], { tools: [] })));
    assert(JSON.stringify(at.seen.at(-1)!.body).includes("The launch is on Tuesday; tell support first."));
    await client.close();
  });
}

for (const path of ["/v1/responses", "/v1/responses/compact"]) {
  Deno.test(`Open Responses: a request without a model at ${path}`, () => assertModelNeeded(path));
}

async function assertModelNeeded(path: string): Promise<void> {
  await using at = await stage("openai-responses", []);
  const response = await post(at, { model: undefined, input: [user("test")] }, path);
  assertEquals(response.status, 422);
  const { error } = await response.json();
  for (const field of ["type", "code", "message", "param"]) {
    assertEquals(typeof error[field], "string", field);
  }
}
