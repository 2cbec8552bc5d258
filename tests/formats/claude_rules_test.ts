/** What the newest Claudes refuse about thinking and forced tools, from callers of other formats, at both APIs that have them. */
import { assertEquals, assertMatch } from "@std/assert";
import type { FormatName } from "../../src/exchange/format_name.ts";
import type { Loose } from "../../src/exchange/json.ts";
import { sealer } from "../../src/pipeline/seal.ts";
import { CALLER_FORMATS } from "../../src/formats/mod.ts";
import { type Caller, convert, encode } from "./conversions.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

interface Rule {
  model: string;
  quiet: unknown;
  forced: boolean;
  binds: boolean;
}

const DISABLED = { type: "disabled" };
const MODELS: readonly Rule[] = [
  { model: "claude-opus-4-7", quiet: DISABLED, forced: true, binds: false },
  { model: "claude-sonnet-5", quiet: DISABLED, forced: true, binds: false },
  { model: "claude-opus-5", quiet: DISABLED, forced: true, binds: false },
  { model: "claude-opus-5-5", quiet: undefined, forced: false, binds: true },
  { model: "claude-opus-latest", quiet: undefined, forced: false, binds: true },
  { model: "claude-sonnet-5-5", quiet: { type: "between_tools" }, forced: false, binds: true },
  { model: "claude-haiku-5-5", quiet: DISABLED, forced: true, binds: true },
  { model: "claude-fable-5", quiet: undefined, forced: true, binds: false },
  { model: "claude-fable-5-1", quiet: undefined, forced: false, binds: true },
  { model: "claude-mythos-5-2", quiet: undefined, forced: false, binds: true },
];
const APIS: readonly [FormatName, (model: string) => string][] = [
  ["messages", (model) => model],
  ["converse", (model) => `us.anthropic.${model}-v1:0`],
];

/** The body as the messages API has it, for both. */
function read(api: FormatName, body: Any): Any {
  if (api === "messages") return body;
  const { any, tool } = body.toolConfig?.toolChoice ?? {};
  return {
    thinking: body.additionalModelRequestFields?.thinking,
    output_config: body.outputConfig,
    tool_choice: any ? { type: "any" } : tool ? { type: "tool" } : { type: "auto" },
    system: body.system,
  };
}

function each(check: (rule: Rule, api: FormatName, model: string) => void): void {
  for (const rule of MODELS) for (const [api, name] of APIS) check(rule, api, name(rule.model));
}

const CALLERS: readonly [Caller, Loose][] = [
  ["chat_completions", {
    messages: [{ role: "user", content: "Hi" }],
    tools: [{ type: "function", function: { name: "look" } }],
  }],
  ["responses", { input: "Hi", tools: [{ type: "function", name: "look" }] }],
];

Deno.test("reasoning that is switched off is said as the model takes it, or is the least", () => {
  each(({ quiet }, api, model) => {
    for (const [caller, request] of CALLERS) {
      const wish = caller === "responses" ? { reasoning: { effort: "none" } } : { reasoning_effort: "none" };
      const body = read(api, convert(caller, { ...request, ...wish }, api, model).body);
      assertEquals(body.thinking, quiet, `${api} ${model}`);
      assertEquals(body.output_config?.effort, quiet === undefined ? "low" : undefined, `${api} ${model}`);
    }
  });
});

Deno.test("a demand for a call becomes words where the model refuses it, and is listed", () => {
  each(({ forced }, api, model) => {
    for (const [caller, request] of CALLERS) {
      const named = caller === "responses"
        ? { type: "function", name: "look" }
        : { type: "function", function: { name: "look" } };
      for (
        const [tool_choice, type, words] of [["required", "any", /one of the tools/], [
          named,
          "tool",
          /tool look/,
        ]]
      ) {
        const { body, dropped } = convert(caller, { ...request, tool_choice }, api, model);
        const sent = read(api, body);
        assertEquals(sent.tool_choice.type, forced ? type : "auto", `${api} ${model}`);
        assertEquals(dropped.includes("tool_choice"), !forced);
        if (!forced) assertMatch(JSON.stringify(sent.system), words as RegExp);
      }
    }
  });
});

Deno.test("beside a forced call, which forbids thinking, no effort is asked for that needs thinking", () => {
  each(({ forced }, api, model) => {
    const [caller, request] = CALLERS[0];
    const wishes = { ...request, tool_choice: "required", reasoning_effort: "xhigh" };
    const sent = read(api, convert(caller, wishes, api, model).body);
    assertEquals(sent.output_config.effort, forced ? "high" : "xhigh", `${api} ${model}`);
    assertEquals(sent.thinking?.type, forced ? undefined : "adaptive", `${api} ${model}`);
  });
});

Deno.test("thinking that goes back in a conversation of another format may be left out by the model's API", () => {
  const { seal, unseal } = sealer(new Uint8Array(32).fill(5)).of("default");
  each(({ binds }, api, model) => {
    const proof = { api, kind: "signature", data: "sig" } as const;
    const history = {
      model: "a/b",
      input: [
        { role: "user", content: "Hi" },
        {
          type: "reasoning",
          id: "rs_1",
          summary: [{ type: "summary_text", text: "T" }],
          encrypted_content: seal(proof),
        },
        { role: "assistant", content: "Ho" },
        { role: "user", content: "And?" },
      ],
    };
    const prompt = CALLER_FORMATS.responses.decodeRequest(history, { unseal, headers: () => ({}) });
    const { body, headers } = encode(prompt, api, model);
    const lenient = { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } };
    assertEquals(read(api, body).thinking, binds ? lenient : undefined, `${api} ${model}`);
    const betas = api === "messages"
      ? headers?.["anthropic-beta"]
      : (body as Any).additionalModelRequestFields?.anthropic_beta?.[0];
    assertEquals(betas, binds ? "thinking-binding-controls-2026-08-01" : undefined);
    // Without thinking in the history there is nothing to leave out.
    const first = convert("responses", { input: "Hi" }, api, model);
    assertEquals([read(api, first.body).thinking, first.headers], [undefined, undefined]);
  });
});

Deno.test("searches that the gateway leaves out of a messages caller's history do not make its thinking refused", () => {
  const query = { query: "q" };
  const found = { type: "web_search_tool_result", tool_use_id: "s1", content: [] };
  const thought = { type: "thinking", thinking: "T", signature: "sig" };
  const answer = (searched: boolean) => [
    thought,
    ...(searched
      ? [{ type: "server_tool_use", id: "s1", name: "web_search", input: query }, found, thought]
      : []),
    { type: "text", text: "Ho" },
  ];
  const history = (searched: boolean, thinking?: Loose) => ({
    model: "a/b",
    max_tokens: 100,
    ...(thinking && { thinking }),
    messages: [
      { role: "user", content: "Hi" },
      { role: "assistant", content: answer(searched) },
      { role: "user", content: "And?" },
    ],
  });
  const ask = (model: string, body: Loose) => {
    const headers = { "anthropic-beta": "one-2026-01-01" };
    const prompt = CALLER_FORMATS.messages.decodeRequest(body, {
      unseal: () => null,
      headers: () => headers,
    });
    const sent = encode(prompt, "messages", model);
    return [sent.body.thinking, sent.headers?.["anthropic-beta"]];
  };
  const block_binding = { prefix_mismatch_behavior: "drop_block" };
  const both = "one-2026-01-01,thinking-binding-controls-2026-08-01";
  assertEquals(ask("claude-opus-5-5", history(true)), [{ type: "adaptive", block_binding }, both]);
  const shown = { type: "adaptive", display: "summarized" };
  assertEquals(ask("claude-opus-5-5", history(true, shown)), [{ ...shown, block_binding }, both]);
  const strict = { type: "adaptive", block_binding: { prefix_mismatch_behavior: "error" } };
  assertEquals(ask("claude-opus-5-5", history(true, strict)), [strict, "one-2026-01-01"]);
  assertEquals(ask("claude-opus-5-5", history(false)), [undefined, "one-2026-01-01"]);
  assertEquals(ask("claude-opus-4-7", history(true)), [undefined, "one-2026-01-01"]);
});
