/**
 * Whole conversations, made by chance from a seed: three to five turns with parallel calls, images, citations, searches and
 * reasoning, each turn answered by a model of its choice, so that a conversation moves between providers midway; the client
 * sends back what it got, or loses the reasoning in it. Every request on the way is one that its provider accepts.
 */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { collect } from "../../src/exchange/answer.ts";
import type { FormatName } from "../../src/exchange/format_name.ts";
import type { Loose } from "../../src/exchange/json.ts";
import type { Part } from "../../src/exchange/part.ts";
import type { Proof } from "../../src/exchange/proof.ts";
import { CALLER_FORMATS } from "../../src/formats/mod.ts";
import { sealer } from "../../src/pipeline/seal.ts";
import { checkModelRequest } from "./check_model_request.ts";
import { type Caller, CALLERS, encode } from "./conversions.ts";

const MODELS: readonly (readonly [FormatName, string])[] = [
  ["chat_completions", "gpt-4o"],
  ["responses", "gpt-5-mini"],
  ["messages", "claude-sonnet-4-6"],
  ["messages", "claude-opus-4-7"],
  ["gemini", "gemini-2.5-flash"],
  ["gemini", "gemini-3-pro-preview"],
  ["converse", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"],
  ["converse", "amazon.nova-2-lite-v1:0"],
];

const { seal, unseal } = sealer(new Uint8Array(32).fill(3)).of("default");

interface Turn {
  /** Index of the model that answers. */
  model: number;
  reasons: boolean;
  /** Calls of the answer; none: it is the last of its turn. */
  calls: number;
  words: boolean;
  cites: boolean;
  image: boolean;
  failed: boolean;
  /** The client loses the reasoning of this answer. */
  forgets: boolean;
}

const TURN: fc.Arbitrary<Turn> = fc.record({
  model: fc.nat(MODELS.length - 1),
  reasons: fc.boolean(),
  calls: fc.nat(3),
  words: fc.boolean(),
  cites: fc.boolean(),
  image: fc.boolean(),
  failed: fc.boolean(),
  forgets: fc.boolean(),
});

const CONVERSATION = fc.record({
  turns: fc.array(TURN, { minLength: 3, maxLength: 5 }),
  effort: fc.constantFrom(undefined, "low", "high"),
  stream: fc.boolean(),
});

const PROOFS: Readonly<Record<FormatName, (n: number) => Proof>> = {
  messages: (n) => ({ api: "messages", kind: "signature", data: `sig${n}` }),
  responses: (n) => ({ api: "responses", kind: "encrypted", data: `E${n}`, id: `rs_${n}` }),
  converse: (n) => ({ api: "converse", kind: "signature", data: `csig${n}` }),
  gemini: (n) => ({ api: "gemini", kind: "thought", data: btoa(`t${n}`) }),
  chat_completions: () => ({
    api: "chat_completions",
    kind: "details",
    data: JSON.stringify({ field: "reasoning_content" }),
  }),
};

/** What a model of this API answers. */
function answer(turn: Turn, nth: number, last: boolean): Part[] {
  const [api] = MODELS[turn.model];
  const parts: Part[] = [{ type: "start" } as Part];
  let block = 0;
  if (turn.reasons && api !== "chat_completions") {
    const proof = PROOFS[api](nth);
    parts.push(
      { type: "reasoning-start", block, choice: 0, kind: api === "messages" ? "text" : "summary" },
      { type: "reasoning-delta", block, section: 0, text: `Thought ${nth}` },
      { type: "reasoning-end", block: block++, proof },
    );
  }
  const calls = last ? 0 : turn.calls;
  if (turn.words || calls === 0) {
    parts.push({ type: "text-start", block, choice: 0 }, { type: "text-delta", block, text: `Words ${nth}` });
    if (turn.cites) {
      const citation = {
        kind: "url",
        url: "https://x.test",
        title: "X",
        quote: "q",
        start: 0,
        end: 5,
      } as const;
      parts.push({ type: "citation", block, citation });
    }
    parts.push({ type: "text-end", block: block++ });
  }
  for (let i = 0; i < calls; i++) {
    const id = api === "gemini" ? `call_${nth}_${i}` : `${api === "messages" ? "toolu" : "call"}_${nth}_${i}`;
    const proof = turn.reasons && api === "gemini" && i === 0
      ? { ...PROOFS.gemini(nth), call: id }
      : undefined;
    parts.push(
      { type: "call-start", block, choice: 0, id, name: "look", kind: "function", ...(proof && { proof }) },
      { type: "call-delta", block, text: '{"id":12345678901234567890}' },
      { type: "call-end", block: block++ },
    );
  }
  parts.push({ type: "finish", choice: 0, reason: calls > 0 ? "tool-calls" : "stop" } as Part);
  return parts;
}

const PIXEL = "iVBORw0KGgo=";

/** How a client of each format asks, keeps an answer, and gives results. */
interface Client {
  first(effort: string | undefined): Loose;
  keep(history: Loose[], answered: Loose, forgets: boolean): string[];
  results(history: Loose[], ids: readonly string[], turn: Turn): void;
  ask(history: Loose[], turn: Turn): void;
}

// deno-lint-ignore no-explicit-any
type Any = any;

const SCHEMA = { type: "object", properties: { id: { type: "integer" } } };

const CLIENTS: Readonly<Record<Caller, Client>> = {
  chat_completions: {
    first: (effort) => ({
      tools: [{ type: "function", function: { name: "look", parameters: SCHEMA } }],
      web_search_options: {},
      ...(effort && { reasoning_effort: effort }),
    }),
    keep(history, answered: Any, forgets) {
      const message = answered.choices[0].message;
      if (forgets) {
        for (const key of ["reasoning", "reasoning_content", "reasoning_details"]) delete message[key];
      }
      history.push(message);
      return (message.tool_calls ?? []).map((call: Any) => call.id);
    },
    results(history, ids, turn) {
      for (const id of ids) {
        history.push({ role: "tool", tool_call_id: id, content: turn.failed ? "" : "found" });
      }
    },
    ask(history, turn) {
      const image = { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } };
      const parts = [{ type: "text", text: "And?" }, ...(turn.image ? [image] : [])];
      history.push({ role: "user", content: parts });
    },
  },
  messages: {
    first: (effort) => ({
      max_tokens: 8000,
      tools: [{ name: "look", input_schema: SCHEMA }, { type: "web_search_20250305", name: "web_search" }],
      ...(effort && { thinking: { type: "adaptive" }, output_config: { effort } }),
    }),
    keep(history, answered: Any, forgets) {
      const content = answered.content.filter((b: Any) => !(forgets && /thinking/.test(b.type)));
      if (content.length > 0) history.push({ role: "assistant", content });
      return content.filter((b: Any) => b.type === "tool_use").map((b: Any) => b.id);
    },
    results(history, ids, turn) {
      const content = ids.map((id) => ({
        type: "tool_result",
        tool_use_id: id,
        ...(turn.failed ? { is_error: true } : { content: turn.image ? [PICTURE] : "found" }),
      }));
      history.push({ role: "user", content });
    },
    ask(history, turn) {
      history.push({
        role: "user",
        content: [{ type: "text", text: "And?" }, ...(turn.image ? [PICTURE] : [])],
      });
    },
  },
  responses: {
    first: (effort) => ({
      tools: [{ type: "function", name: "look", parameters: SCHEMA, strict: false }, { type: "web_search" }],
      ...(effort && { reasoning: { effort, summary: "auto" } }),
    }),
    keep(history, answered: Any, forgets) {
      const items = answered.output.filter((i: Any) => !(forgets && i.type === "reasoning"));
      history.push(...items);
      return items.filter((i: Any) => i.type === "function_call").map((i: Any) => i.call_id);
    },
    results(history, ids, turn) {
      const image = { type: "input_image", image_url: `data:image/png;base64,${PIXEL}`, detail: "auto" };
      const output = turn.failed ? "" : turn.image ? [image] : "found";
      for (const id of ids) history.push({ type: "function_call_output", call_id: id, output });
    },
    ask(history, turn) {
      const image = { type: "input_image", image_url: `data:image/png;base64,${PIXEL}`, detail: "auto" };
      const content = [{ type: "input_text", text: "And?" }, ...(turn.image ? [image] : [])];
      history.push({ role: "user", content });
    },
  },
};

const PICTURE = { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } };

for (const caller of CALLERS) {
  Deno.test(`${caller}: every request of a conversation is one that its provider accepts`, () => {
    const format = CALLER_FORMATS[caller];
    const client = CLIENTS[caller];
    let requests = 0;
    fc.assert(
      fc.property(CONVERSATION, ({ turns, effort, stream }) => {
        const history: Loose[] = [{ role: "user", content: "Begin" }];
        turns.forEach((turn, nth) => {
          const [target, model] = MODELS[turn.model];
          const body = {
            model: "acme/one",
            stream,
            ...client.first(effort),
            [caller === "responses" ? "input" : "messages"]: structuredClone(history),
          };
          const prompt = format.decodeRequest(body, { unseal, headers: () => ({}) });
          const { body: sent } = encode(prompt, target, model);
          requests++;
          if (target !== caller) checkModelRequest(target, model, sent);
          else checkOwn(target, sent);
          if (requests > 1) assertWords(JSON.stringify(sent), history);
          const parts = answer(turn, nth, nth === turns.length - 1);
          const context = { id: `gen_${nth}`, created: 1, model: () => "acme/one", prompt, seal };
          const answered = JSON.parse(JSON.stringify(format.encodeAnswer(collect(parts), context)));
          const ids = client.keep(history, answered, turn.forgets);
          if (ids.length > 0) client.results(history, ids, turn);
          else client.ask(history, turn);
        });
      }),
      { seed: 15, numRuns: 250 },
    );
    assert(requests > 700);
  });
}

/** A history of the provider's own format went back as it was, so only what the gateway put into it can be wrong. */
function checkOwn(target: FormatName, sent: Loose): void {
  assertEquals(JSON.stringify(sent).includes("svc1."), false, `a sealed proof reaches ${target}`);
}

/** What was said is still there. */
function assertWords(sent: string, history: readonly Loose[]): void {
  for (const [word] of JSON.stringify(history).matchAll(/Words \d/g)) assert(sent.includes(word), word);
}
