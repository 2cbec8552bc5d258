import { assertEquals } from "@std/assert";
import { socketEvents } from "../../src/http/socket_events.ts";

const LONG = "x".repeat(1 << 16);
const response = (more: object) => ({ id: "resp_1", output: [], previous_response_id: null, ...more });
const EVENTS = [
  { type: "response.created", response: response({ instructions: LONG }) },
  { type: "response.in_progress", response: response({}) },
  { type: "response.output_text.delta", delta: '{"type":"response.completed"}' },
  { type: "response.completed", response: response({ instructions: LONG, output: [1] }) },
  { type: "response.extra" },
];

/** All events of an answer that arrives at once. */
async function batches(previous: string | null) {
  const text = EVENTS.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  const found = [];
  const turn = { previous, streamId: undefined };
  for await (const batch of socketEvents(new Response(text), turn, new AbortController().signal)) {
    found.push(batch);
  }
  return found;
}

Deno.test("socketEvents() gives a long event out before it reads the next, so that other calls come in between", async () => {
  const found = await batches(null);
  assertEquals(found.map((batch) => batch.length), [1, 3, 1]);
  assertEquals(found.flat().map(({ text }) => JSON.parse(text)), EVENTS);
  const ended = found.flat().map(({ ended }) => ended);
  assertEquals(ended, [null, null, null, { id: "resp_1", output: [1] }, null]);
});

Deno.test("socketEvents() names the answer before in each event that has the whole response", async () => {
  const named = (await batches("resp_0")).flat().map(({ text }) => JSON.parse(text));
  assertEquals(
    named.map(({ response }) => response?.previous_response_id),
    ["resp_0", "resp_0", undefined, "resp_0", undefined],
  );
});
