/**
 * The cases of the Open Responses compliance suite that go over HTTP, rebuilt from their description, at every provider API:
 * the answer follows the document, is completed, and holds what the case is about.
 */
import { assert, assertEquals } from "@std/assert";
import { array, type Loose, object } from "../../src/exchange/json.ts";
import { APIS, type Stage, stage } from "../clients/support.ts";
import { SECRET } from "../support/gateway.ts";
import type { Line } from "../support/script/mod.ts";
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

async function post(at: Stage, body: Loose): Promise<Response> {
  return await fetch(`${at.url}/v1/responses`, {
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

Deno.test("Open Responses: a request without a model", async () => {
  await using at = await stage("openai-responses", []);
  const response = await post(at, { model: undefined, input: [user("test")] });
  assertEquals(response.status, 422);
  const { error } = await response.json();
  for (const field of ["type", "code", "message", "param"]) {
    assertEquals(typeof error[field], "string", field);
  }
});
