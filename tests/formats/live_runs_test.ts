/** Tools that a provider runs reach a caller of the same format while they run. */
import { assert, assertEquals } from "@std/assert";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import type { Loose } from "../../src/exchange/json.ts";
import type { Part } from "../../src/exchange/part.ts";
import { messages } from "../../src/formats/messages/mod.ts";
import { responses } from "../../src/formats/responses/mod.ts";
import { sharedTest } from "../support/shared.ts";
import { closed, delta, ending, opened, started, stopped, textFrames } from "./messages/frames.ts";
import * as msgs from "./messages/support.ts";
import { answering, checkStream, eventsOf, exchanges, type WireEvent } from "./responses/support.ts";

const RUN = /^response\.(?:code_interpreter|file_search|image_generation|mcp)_/;
const PLACES = new Set(["type", "sequence_number", "output_index", "item_id", "obfuscation"]);

/** What the caller gets for each event of the provider, and at the end. */
function relayed(events: readonly Loose[]): { each: WireEvent[][]; all: WireEvent[]; text: string } {
  const decoder = responses.decodeStream();
  const encoder = responses.encodeStream(answering());
  const each: WireEvent[][] = [];
  let text = "";
  for (const event of events) {
    const parts: Part[] = [];
    decoder.push({ event: String(event.type), data: JSON.stringify(event) }, parts);
    const said = parts.length > 0 ? encoder.encode(parts) : "";
    text += said;
    each.push(eventsOf(`${said}data: [DONE]\n\n`));
  }
  const out: Part[] = [];
  decoder.end(out);
  text += (out.length > 0 ? encoder.encode(out) : "") + encoder.end();
  return { each, all: eventsOf(text), text };
}

function fieldsOf(event: Loose): Loose {
  return Object.fromEntries(Object.entries(event).filter(([name]) => !PLACES.has(name)));
}

sharedTest("corpus/", "responses: every recorded event of a run is passed on when it arrives", async () => {
  let seen = 0;
  for (const { id, sse } of exchanges()) {
    if (sse === null || !RUN.test(/response\.\w+_(?:call|tools)\b[^"\n]*/.exec(sse)?.[0] ?? "")) continue;
    const events = sse.split("\n").filter((line) => line.startsWith("data: {"))
      .map((line) => JSON.parse(line.slice(6)) as Loose);
    if (!events.some((event) => event.type === "response.completed")) continue;
    const { each, all, text } = relayed(events);
    const { folded, response } = checkStream(all);
    assertEquals(folded, response!.output, id);
    for (const [i, event] of events.entries()) {
      if (!RUN.test(String(event.type))) continue;
      seen++;
      const [own] = each[i].filter(({ name }) => name === event.type);
      assertEquals(own && fieldsOf(own.data), fieldsOf(event), `${id} ${i}`);
      const item = events.find((e) =>
        e.type === "response.output_item.added" && e.output_index === event.output_index
      )!;
      assertEquals(own.data.item_id, (item.item as Loose).id, id);
    }
    const client = new OpenAI({
      apiKey: "k",
      fetch: () => Promise.resolve(new Response(text, { headers: { "content-type": "text/event-stream" } })),
    });
    const helper = client.responses.stream({ model: "m", input: "x" });
    const names: string[] = [];
    helper.on("event", ({ type }) => names.push(type));
    const final = await helper.finalResponse();
    assertEquals(final.output.map(({ type }) => String(type)), folded.map(({ type }) => String(type)), id);
    assertEquals(
      names.filter((name) => RUN.test(name)).length,
      events.filter((e) => RUN.test(`${e.type}`)).length,
    );
  }
  assert(seen > 400, `${seen} events`);
});

const created = { type: "response.created", response: { id: "r", model: "m", output: [] } };
const done = {
  type: "response.completed",
  response: { id: "r", model: "m", status: "completed", output: [] },
};
const CALL = {
  id: "mcp_1",
  type: "mcp_call",
  name: "roll",
  server_label: "dice",
  arguments: "",
  output: null,
};
const added = (item: Loose, output_index = 0) => ({ type: "response.output_item.added", output_index, item });
const finished = (item: Loose, output_index = 0) => ({
  type: "response.output_item.done",
  output_index,
  item,
});
const event = (type: string, fields: Loose = {}, output_index = 0) => ({
  type: `response.${type}`,
  output_index,
  item_id: "another",
  ...fields,
});

Deno.test("responses: an event of a run that does not fit its item, or that clients do not know, is not passed on", () => {
  const { all } = relayed([
    created,
    event("mcp_call.in_progress"),
    added(CALL),
    event("mcp_call.in_progress"),
    event("code_interpreter_call_code.delta", { delta: "x" }),
    event("mcp_call_arguments.delta", { delta: "" }),
    event("mcp_call_arguments.delta", { delta: "{}" }),
    event("mcp_call.paused"),
    event("mcp_call_arguments.done", { arguments: "{}" }),
    event("mcp_call.failed"),
    finished({ ...CALL, arguments: "{}", error: "no dice" }),
    event("mcp_call.completed"),
    done,
  ]);
  checkStream(all);
  assertEquals(all.slice(2, -1).map(({ name }) => name), [
    "response.output_item.added",
    "response.mcp_call.in_progress",
    "response.mcp_call_arguments.delta",
    "response.mcp_call_arguments.done",
    "response.mcp_call.failed",
    "response.output_item.done",
  ]);
  assert(all.every(({ data }) => data.item_id === undefined || data.item_id === "mcp_1"));
});

Deno.test("responses: runs that interleave keep the indices of their items, also beside a message", () => {
  const other = { id: "ci_1", type: "code_interpreter_call", code: "", status: "in_progress" };
  const { all } = relayed([
    created,
    added({ id: "rs_1", type: "reasoning", summary: [] }),
    added({ id: "m_1", type: "message", content: [], role: "assistant" }, 1),
    event("output_text.delta", { content_index: 0, delta: "Let me" }, 1),
    added(CALL, 2),
    added(other, 3),
    event("code_interpreter_call_code.delta", { delta: "1" }, 3),
    event("mcp_call_arguments.delta", { delta: "{}" }, 2),
    event("output_text.delta", { content_index: 0, delta: " see" }, 1),
    finished({ ...other, code: "1", status: "completed" }, 3),
    finished({ ...CALL, arguments: "{}" }, 2),
    finished({ id: "rs_1", type: "reasoning", summary: [], encrypted_content: "E" }),
    done,
  ]);
  const { folded, response } = checkStream(all);
  assertEquals(folded, response!.output);
  assertEquals(folded.map(({ type }) => type), [
    "reasoning",
    "message",
    "mcp_call",
    "code_interpreter_call",
  ]);
});

Deno.test("responses: a run that an interrupted answer leaves open is not in the failed response", () => {
  const encoder = responses.encodeStream(answering());
  const decoder = responses.decodeStream();
  const parts: Part[] = [];
  const list = { id: "l", type: "mcp_list_tools", server_label: "dice", tools: [] };
  for (const one of [created, added(list), event("mcp_list_tools.in_progress")] as Loose[]) {
    decoder.push({ event: "", data: JSON.stringify(one) }, parts);
  }
  const text = encoder.encode(parts) + encoder.fail(msgs.failureOf(() => decoder.end([])));
  const events = eventsOf(text);
  checkStream(events);
  assertEquals((events.at(-1)!.data.response as Loose).output, []);
});

Deno.test("messages: the input of a tool that the provider runs is streamed while it is written", async () => {
  const decoder = messages.decodeStream();
  const encoder = messages.encodeStream(msgs.answering());
  const hits = [{ type: "web_search_result", url: "https://a.org", title: "A", encrypted_content: "E" }];
  const call = (id: string, name: string, type = "server_tool_use") => ({ type, id, name, input: {} });
  const json = (index: number, partial_json: string) =>
    delta(index, { type: "input_json_delta", partial_json });
  const steps = [
    [started()],
    [opened(0, call("srvtoolu_1", "web_search"))],
    [json(0, '{"query":')],
    [json(0, '"news"}')],
    [closed(0)],
    [
      opened(1, { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: hits }),
      closed(1),
    ],
    [opened(2, { ...call("mcptoolu_1", "roll", "mcp_tool_use"), server_name: "dice" })],
    [json(2, '{"n":1}'), closed(2)],
    [
      opened(3, { type: "mcp_tool_result", tool_use_id: "mcptoolu_1", is_error: false, content: [] }),
      closed(3),
    ],
    [opened(4, call("srvtoolu_2", "web_search")), json(4, '{"query":"none"}'), closed(4)],
    [...textFrames(5, "Done.")],
    [ending(undefined, { stop_reason: "pause_turn" }), stopped],
  ];
  let text = "";
  const said = steps.map((frames) => {
    const parts: Part[] = [];
    for (const one of frames) decoder.push(one, parts);
    const out = parts.length > 0 ? encoder.encode(parts) : "";
    text += out;
    return msgs.framesOf(out).map((f) => {
      const { type, index, content_block, delta } = JSON.parse(f.data);
      return [type.replace("content_block_", ""), index, content_block?.type ?? delta?.partial_json];
    });
  });
  text += encoder.end();
  assertEquals(said.slice(1, 11), [
    [["start", 0, "server_tool_use"]],
    [["delta", 0, '{"query":']],
    [["delta", 0, '"news"}']],
    [["stop", 0, undefined]],
    [["start", 1, "web_search_tool_result"], ["stop", 1, undefined]],
    [["start", 2, "mcp_tool_use"]],
    [["delta", 2, '{"n":1}'], ["stop", 2, undefined]],
    [["start", 3, "mcp_tool_result"], ["stop", 3, undefined]],
    [["start", 4, "server_tool_use"], ["delta", 4, '{"query":"none"}'], ["stop", 4, undefined]],
    [["start", 5, "text"], ["delta", 5, undefined], ["stop", 5, undefined]],
  ]);
  const client = new Anthropic({
    apiKey: "k",
    fetch: () => Promise.resolve(new Response(text, { headers: { "content-type": "text/event-stream" } })),
  });
  const final = await client.beta.messages.stream({ model: "m", max_tokens: 9, messages: [] }).finalMessage();
  assertEquals(final.content.map((block) => [block.type, "input" in block ? block.input : undefined]), [
    ["server_tool_use", { query: "news" }],
    ["web_search_tool_result", undefined],
    ["mcp_tool_use", { n: 1 }],
    ["mcp_tool_result", undefined],
    ["server_tool_use", { query: "none" }],
    ["text", undefined],
  ] as unknown as [never]);
  assertEquals(final.stop_reason, "pause_turn");
});

Deno.test("messages: searches that run side by side are shown as they start and as they finish", () => {
  const call = (index: number, id: string) => [
    opened(index, { type: "server_tool_use", id, name: "web_search", input: {} }),
    delta(index, { type: "input_json_delta", partial_json: `{"query":"${id}"}` }),
    closed(index),
  ];
  const result = (index: number, tool_use_id: string) => [
    opened(index, { type: "web_search_tool_result", tool_use_id, content: [] }),
    closed(index),
  ];
  const parts = msgs.decodeFrames([
    started(),
    ...call(0, "a"),
    ...call(1, "b"),
    ...result(2, "a"),
    ...result(3, "b"),
    ending(),
    stopped,
  ]);
  const content = msgs.fold(msgs.encodeParts(parts)).content as Loose[];
  assertEquals(content.map(({ id, tool_use_id, input }) => [id ?? tool_use_id, input]), [
    ["srvtoolu_a", { query: "a" }],
    ["srvtoolu_b", { query: "b" }],
    ["srvtoolu_a", undefined],
    ["srvtoolu_b", undefined],
  ]);
});

Deno.test("a run of another format leaves no trace but its complete part", () => {
  const parts: Part[] = [
    { type: "start" },
    { type: "live-start", block: 0, choice: 0, format: "responses", value: CALL },
    { type: "live-delta", block: 0, event: "response.mcp_call_arguments.delta", text: "{}" },
    { type: "live-event", block: 0, event: "response.mcp_call.completed", value: {} },
    { type: "opaque", block: 0, choice: 0, format: "responses", value: CALL },
    { type: "text-start", block: 1, choice: 0 },
    { type: "text-delta", block: 1, text: "x" },
    { type: "text-end", block: 1 },
    { type: "finish", choice: 0, reason: "stop" },
  ];
  const content = msgs.fold(msgs.encodeParts(parts)).content as Loose[];
  assertEquals(content.map(({ type }) => type), ["text"]);
  // The other way round.
  const foreign = parts.map((part) => "format" in part ? { ...part, format: "messages" as const } : part);
  const encoder = responses.encodeStream(answering());
  const { folded } = checkStream(eventsOf(encoder.encode(foreign) + encoder.end()));
  assertEquals(folded.map(({ type }) => type), ["message"]);
});
