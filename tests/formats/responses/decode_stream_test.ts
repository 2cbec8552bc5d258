/** Streams of providers that differ from OpenAI's, each event list as a provider sends it. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import type { Block } from "../../../src/exchange/answer.ts";
import { collect } from "../../../src/exchange/answer.ts";
import { Failure } from "../../../src/exchange/failure.ts";
import type { Loose } from "../../../src/exchange/json.ts";
import type { Part } from "../../../src/exchange/part.ts";
import { responses } from "../../../src/formats/responses/mod.ts";
import { added, completed, created, decodeEvents, delta, done, exchanges } from "./support.ts";
import { withoutLive } from "../../support/live.ts";
import { sharedTest } from "../../support/shared.ts";

/** Blocks without what only this format reads. */
function blocks(...events: Loose[]): Loose[] {
  const { choices } = collect(decodeEvents([created, ...events, completed()]));
  return (choices[0]?.blocks ?? []).map((b: Block) => {
    const { extra: _, ...rest } = b as Block & { extra?: unknown };
    return JSON.parse(JSON.stringify(rest)) as Loose;
  });
}
const said = (text: string) => ({ type: "text", text, refusal: false, citations: [] });

Deno.test("responses.decodeStream() completes arguments that were never or only partly streamed", () => {
  const item = { type: "function_call", id: "fc", call_id: "c", name: "f", arguments: '{"a":1}' };
  const call = { type: "call", id: "c", name: "f", kind: "function", arguments: '{"a":1}' };
  const open = added(0, { ...item, arguments: "" });
  const whole = { type: "response.function_call_arguments.done", output_index: 0, arguments: '{"a":1}' };
  assertEquals(blocks(open, whole, done(0, item)), [call]);
  assertEquals(blocks(open, delta("function_call_arguments", 0, '{"a'), done(0, item)), [call]);
  assertEquals(blocks(done(0, item)), [call]);
  assertEquals(blocks(added(0, { type: "function_call", id: "fc" }), done(0, item)), [call]);
  assertEquals(blocks(open, delta("function_call_arguments", 0, '{"a":1}'), whole, done(0, item)), [call]);
});

Deno.test("responses.decodeStream() knows items by output_index, whatever their ids say", () => {
  const found = blocks(
    added(0, { type: "reasoning", id: "a", summary: [] }),
    added(1, { type: "message", id: "b", content: [] }),
    delta("output_text", 1, "Hel", { item_id: "zzz" }),
    delta("reasoning_summary_text", 0, "think", { item_id: "yyy", summary_index: 0 }),
    delta("output_text", 1, "lo", { item_id: "xxx" }),
    done(0, { type: "reasoning", id: "c", summary: [{ text: "think" }], encrypted_content: "E" }),
    done(1, { type: "message", id: "d", content: [{ type: "output_text", text: "Hello" }] }),
  );
  assertEquals(found, [
    {
      type: "reasoning",
      sections: ["think"],
      kind: "summary",
      proof: { api: "responses", kind: "encrypted", data: "E", id: "c" },
    },
    said("Hello"),
  ]);
});

Deno.test("responses.decodeStream() passes an item of another kind on as it is at its end", () => {
  const item = { type: "program", id: "cm_1", call_id: "c", code: "await f()", fingerprint: "late" };
  const [program] = blocks(
    added(0, { ...item, code: "", fingerprint: "early", status: "in_progress" }),
    done(0, item),
  );
  assertEquals(program.value, item);
});

Deno.test("responses.decodeStream() keeps the encrypted content of the end, not of the start", () => {
  const [reasoning] = blocks(
    added(0, { type: "reasoning", id: "r", summary: [], encrypted_content: "early" }),
    done(0, { type: "reasoning", id: "r", summary: [], encrypted_content: "late" }),
  );
  assertEquals((reasoning.proof as Loose).data, "late");
});

Deno.test("responses.decodeStream() matches whole contents to streamed ones where indices start at 1", () => {
  assertEquals(
    blocks(
      added(0, { type: "message", id: "m", content: [] }),
      delta("output_text", 0, "Sure", { content_index: 1 }),
      {
        type: "response.content_part.done",
        output_index: 0,
        content_index: 1,
        part: { type: "output_text", text: "Sure!" },
      },
      done(0, { type: "message", id: "m", content: [{ type: "output_text", text: "Sure!" }] }),
    ),
    [said("Sure!")],
  );
});

Deno.test("responses.decodeStream() takes open reasoning text under either name of its parts", () => {
  for (const part of ["content_part", "reasoning_part"]) {
    assertEquals(
      blocks(
        added(0, { type: "reasoning", id: "r", summary: [] }),
        {
          type: `response.${part}.added`,
          output_index: 0,
          content_index: 0,
          part: { type: "reasoning_text", text: "" },
        },
        delta("reasoning_text", 0, "hm"),
        {
          type: `response.${part}.done`,
          output_index: 0,
          content_index: 0,
          part: { type: "reasoning_text", text: "hm" },
        },
        done(0, {
          type: "reasoning",
          id: "r",
          summary: [],
          content: [{ type: "reasoning_text", text: "hm" }],
        }),
      ),
      [{ type: "reasoning", sections: ["hm"], kind: "text" }],
    );
  }
});

Deno.test("responses.decodeStream() gives each summary part a section", () => {
  const [reasoning] = blocks(
    added(0, { type: "reasoning", id: "r", summary: [] }),
    delta("reasoning_summary_text", 0, "one", { summary_index: 0 }),
    { type: "response.reasoning_summary_text.done", output_index: 0, summary_index: 1, text: "two" },
    done(0, { type: "reasoning", id: "r", summary: [{ text: "one" }, { text: "two" }] }),
  );
  assertEquals(reasoning.sections, ["one", "two"]);
});

Deno.test("responses.decodeStream() takes text that no event announced", () => {
  assertEquals(blocks(delta("output_text", 0, "Hi")), [said("Hi")]);
});

Deno.test("responses.decodeStream() takes the final output when nothing was streamed", () => {
  const output = [{ type: "message", id: "m", content: [{ type: "output_text", text: "Hi" }] }];
  const parts = decodeEvents([created, completed({ output })]);
  assertEquals(collect(parts).choices[0].blocks.length, 1);
});

Deno.test("responses.decodeStream() reads a provider's own searches, page visits aside", () => {
  const search = {
    type: "web_search_call",
    id: "ws",
    status: "searching",
    action: { type: "search", queries: ["q"], sources: [{ type: "url", url: "https://a.org" }] },
  };
  const visit = {
    type: "web_search_call",
    id: "wt",
    status: "completed",
    action: { type: "open_page", url: "u" },
  };
  const parts = decodeEvents([
    created,
    done(0, search),
    done(1, visit),
    completed({ usage: { input_tokens: 1 } }),
  ]);
  const answer = collect(parts);
  assertEquals(answer.searches, 1);
  const [first, second] = answer.choices[0].blocks;
  assertEquals(first.type === "search" && [first.query, first.hits, first.failed], [
    "q",
    [{ url: "https://a.org", title: "" }],
    false,
  ]);
  assertEquals(second, { type: "opaque", format: "responses", value: visit });
});

Deno.test("responses.decodeStream() tells citations once, from events or from the finished part", () => {
  const annotation = { type: "url_citation", url: "https://a.org", title: "A" };
  const event = {
    type: "response.output_text.annotation.added",
    output_index: 0,
    content_index: 0,
    annotation_index: 0,
    annotation,
  };
  const whole = done(0, {
    type: "message",
    id: "m",
    content: [{ type: "output_text", text: "x", annotations: [annotation] }],
  });
  const open = added(0, { type: "message", id: "m", content: [] });
  for (const events of [[open, delta("output_text", 0, "x"), event, whole], [open, whole]]) {
    assertEquals((blocks(...events)[0].citations as unknown[]).length, 1);
  }
});

Deno.test("responses.decodeStream() says why an answer ended", () => {
  const reason = (...events: Loose[]) => collect(decodeEvents([created, ...events])).choices[0].reason;
  const cut = (why: string) => ({
    type: "response.incomplete",
    response: { incomplete_details: { reason: why } },
  });
  const refusal = done(0, { type: "message", id: "m", content: [{ type: "refusal", refusal: "No." }] });
  const call = done(0, { type: "custom_tool_call", id: "x", call_id: "c", name: "f", input: "y" });
  assertEquals(reason(completed()), "stop");
  assertEquals(reason(call, completed()), "tool-calls");
  assertEquals(reason(refusal, completed()), "refusal");
  assertEquals(reason(cut("max_output_tokens")), "length");
  assertEquals(reason(call, cut("max_output_tokens")), "length");
  assertEquals(reason(cut("content_filter")), "content-filter");
});

Deno.test("responses.decodeStream() throws an error of either form, and a failed response", () => {
  const code = (event: Loose) => assertThrows(() => decodeEvents([created, event]), Failure).code;
  const error = { type: "rate_limit_error", code: "rate_limit_exceeded", message: "Rate limit reached" };
  assertEquals(code({ type: "error", error }), "provider_rate_limited");
  assertEquals(code({ ...error, type: "error" }), "provider_rate_limited");
  assertEquals(code({ error }), "provider_rate_limited");
  assertEquals(
    code({ type: "response.failed", response: { status: "failed", error } }),
    "provider_rate_limited",
  );
  assertEquals(
    code({ type: "response.failed", response: { status: "failed", error: null } }),
    "provider_unavailable",
  );
});

Deno.test("responses.decodeStream() wants an end, and needs no [DONE]", () => {
  assertThrows(() => decodeEvents([created]), Failure, "broke off");
  assertThrows(() => decodeEvents([]), Failure, "broke off");
  const decoder = responses.decodeStream();
  assertThrows(() => decoder.push({ event: "", data: "<html>" }, []), Failure, "is not JSON");
  decodeEvents([created, completed(), created]);
});

Deno.test("responses.decodeAnswer() throws what is no answer", () => {
  const code = (body: unknown) => assertThrows(() => responses.decodeAnswer(body), Failure).code;
  assertEquals(code("x"), "provider_unavailable");
  assertEquals(code({}), "provider_unavailable");
  assertEquals(
    code({ error: { message: "Rate limit reached", code: "rate_limit_exceeded" } }),
    "provider_rate_limited",
  );
  assertEquals(
    code({ status: "failed", output: [], error: { code: "server_error", message: "x" } }),
    "provider_unavailable",
  );
  assertEquals(code({ status: "queued", output: [] }), "provider_unavailable");
});

const EVENTS: Loose[] = exchanges().filter((e) => e.sse !== null).flatMap((e) =>
  e.sse!.split("\n").filter((l) => l.startsWith("data: {")).slice(0, 40).map((l) =>
    JSON.parse(l.slice(6)) as Loose
  )
);

sharedTest(
  "corpus/",
  "responses.decodeStream() survives any order and any damage of events: blocks stay whole, only Failures",
  () => {
    const event = fc.nat(EVENTS.length - 1).chain((i) =>
      fc.oneof(
        { weight: 4, arbitrary: fc.constant(EVENTS[i]) },
        { weight: 2, arbitrary: fc.nat(3).map((output_index) => ({ ...EVENTS[i], output_index })) },
        {
          weight: 1,
          arbitrary: fc.tuple(fc.constantFrom(...Object.keys(EVENTS[i])), fc.jsonValue()).map((
            [key, value],
          ) => ({
            ...EVENTS[i],
            [key]: value,
          })),
        },
      )
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        const decoder = responses.decodeStream();
        const parts: Parameters<typeof decoder.push>[1] = [];
        try {
          for (const e of events) decoder.push({ event: "", data: JSON.stringify(e) }, parts);
          decoder.push({ event: "", data: JSON.stringify(completed()) }, parts);
          decoder.end(parts);
        } catch (thrown) {
          if (!(thrown instanceof Failure)) throw thrown;
          return;
        }
        checkParts(parts);
      }),
      { numRuns: 1500, seed: 11 },
    );
  },
);

function checkParts(all: readonly Part[]): void {
  const parts: readonly { type: string; block?: number }[] = withoutLive(all);
  const open = new Set<number>();
  const seen = new Set<number>();
  for (const { type, block } of parts) {
    if (block === undefined) continue;
    if (type.endsWith("-start")) {
      assert(!seen.has(block), `block ${block} twice`);
      seen.add(block);
      open.add(block);
    } else if (type === "opaque" || type === "media") {
      assert(!seen.has(block));
      seen.add(block);
    } else assert(open.has(block), `${type} of block ${block}, which is not open`);
    if (type.endsWith("-end")) open.delete(block);
  }
  assertEquals(open.size, 0);
  assertEquals(parts.filter((p) => p.type === "finish").length, 1);
  assertEquals(parts[0].type, "start");
  assertEquals(parts.at(-1)!.type, "finish");
}
