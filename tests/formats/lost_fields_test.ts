/**
 * Fields inside of messages, parts, tools and options: a request with one and the same without it differ in what a provider is
 * told, or in what the caller is told was left out.
 */
import { assert, assertEquals } from "@std/assert";
import { array, type Loose, object } from "../../src/exchange/json.ts";
import { Failure } from "../../src/exchange/failure.ts";
import { checkModelRequest, TARGETS } from "./check_model_request.ts";
import { CALLERS, decode, encode } from "./conversions.ts";
import {
  block,
  call,
  CASES,
  chat,
  chatCall,
  chatResult,
  MARK,
  messages,
  messagesTool,
  output,
  responses,
  result,
  use,
} from "./inner_fields.ts";
import { testGateway } from "../support/gateway.ts";
import { leastAnswer } from "../support/answers.ts";
import { searchTool } from "../../src/pipeline/search/prompts.ts";
import { loopbackProvider } from "../support/provider.ts";
import { REQUESTS } from "./random_requests.ts";
import fc from "fast-check";

for (const caller of CALLERS) {
  Deno.test(`${caller}: a field inside reaches every provider, or is named`, () => {
    const wrong: string[] = [];
    for (const { name, field, around } of CASES[caller]) {
      for (const [target, model] of TARGETS) {
        const told = encode(decode(caller, { model: "acme/one", ...around(field) }), target, model);
        const not = encode(decode(caller, { model: "acme/one", ...around({}) }), target, model);
        const differs = JSON.stringify(told.body) !== JSON.stringify(not.body);
        const named = told.dropped.filter((other) => !not.dropped.includes(other));
        const what = `${Object.keys(field)[0]} at ${model}`;
        if (differs === named.length > 0) wrong.push(`${what}: ${differs}, ${named}`);
        if (!differs && named.length > 0) assertEquals(named, [name], what);
        if (target === caller) assert(differs, what);
        else {
          try {
            checkModelRequest(target, model, told.body);
          } catch (thrown) {
            wrong.push(`${what}: ${(thrown as Error).message}`);
          }
        }
      }
    }
    assertEquals(wrong, []);
  });
}

Deno.test("nothing is named where nothing is left out", () => {
  const said = [
    [
      "chat_completions",
      chat({ role: "assistant", content: "So", refusal: null, annotations: [], index: 0 }),
    ],
    [
      "chat_completions",
      chat({ role: "assistant", content: null, tool_calls: [{ ...chatCall, index: 0 }] }, {
        ...chatResult,
        name: "f",
      }),
    ],
    [
      "messages",
      messages({
        id: "msg_1",
        type: "message",
        role: "assistant",
        content: [{ type: "text", text: "So", citations: null }],
      }),
    ],
    [
      "messages",
      messages({ role: "assistant", content: [{ ...use, caller: { type: "direct" } }] }, {
        role: "user",
        content: [result],
      }),
    ],
    [
      "responses",
      responses(
        {
          type: "message",
          id: "msg_1",
          status: "completed",
          role: "assistant",
          content: [{ type: "output_text", text: "So", annotations: [], logprobs: [] }],
        },
        { ...call, id: "fc_1", status: "completed" },
        { ...output, status: "completed" },
      ),
    ],
    ["responses", {
      ...responses(),
      reasoning: { effort: "low", summary: "auto", context: "auto" },
      text: { verbosity: "medium" },
    }],
    // As OpenAI's Agents SDK asks, and the AI SDK with each tool of its package for Claude.
    ["chat_completions", { ...chat(), store: false }],
    ["messages", messagesTool({ eager_input_streaming: true })],
  ] as const;
  for (const [caller, body] of said) {
    for (const [target, model] of TARGETS) {
      const prompt = decode(caller, { model: "acme/one", ...body });
      const { dropped } = encode(prompt, target, model);
      assertEquals(dropped.filter((name) => name.includes(".") || name === "store"), [], model);
    }
  }
});

Deno.test("the caller's own format is told of nothing inside", () => {
  for (const caller of CALLERS) {
    for (const body of fc.sample(REQUESTS[caller], { numRuns: 100, seed: 9 })) {
      let dropped: string[];
      try {
        const prompt = decode(caller, { model: "acme/one", ...structuredClone(body) });
        dropped = encode(prompt, caller, caller === "messages" ? "claude-opus-4-8" : "gpt-5-mini").dropped;
      } catch (thrown) {
        assert(thrown instanceof Failure);
        continue;
      }
      assertEquals(dropped.filter((name) => /^(?:messages|input|tools)\./.test(name)), []);
    }
  }
});

Deno.test("marks inside of search results go back to a provider of their format, unless the text was changed", () => {
  const content = [{ type: "text", text: "one", ...MARK }, { type: "text", text: "two" }];
  const body = block({ type: "search_result", source: "https://x.test", title: "X" })({ content });
  const prompt = decode("messages", { model: "acme/one", ...body });
  const sent = () => {
    const { body } = encode(prompt, "messages", "claude-opus-4-8");
    const [block] = array(object(array(body.messages)[1]).content);
    return object(block).content;
  };
  assertEquals(sent(), content);
  const [found] = prompt.turns[1].content;
  if (found.type === "search-result") found.texts[0] = "<NAME_1>";
  assertEquals(sent(), [{ type: "text", text: "<NAME_1>" }, { type: "text", text: "two" }]);
});

Deno.test("what the gateway's own search has no word for is named to callers of every format", async () => {
  const provider = loopbackProvider(leastAnswer);
  const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } });
  const ask = [{ role: "user", content: "Hi" }];
  const sent = [
    ["/v1/chat/completions", { messages: ask, web_search_options: { depth: 3 } }, "web_search_options.depth"],
    ["/v1/chat/completions", { messages: ask, web_search_options: { search_context_size: "low" } }, null],
    [
      "/v1/responses",
      { input: "Hi", tools: [{ type: "web_search", external_web_access: false }] },
      "tools.external_web_access",
    ],
    ["/v1/responses", { input: "Hi", tools: [{ type: "web_search", external_web_access: true }] }, null],
    [
      "/v1/responses",
      { input: "Hi", tools: [{ type: "web_search_preview", search_content_types: ["text", "image"] }] },
      "tools.search_content_types",
    ],
    [
      "/v1/messages",
      {
        max_tokens: 9,
        messages: ask,
        tools: [{ type: "web_search_20260318", name: "web_search", response_inclusion: "full", ...MARK }],
      },
      "cache_control, tools.response_inclusion",
    ],
    [
      "/v1/messages",
      {
        max_tokens: 9,
        messages: ask,
        tools: [{
          type: "web_search_20260209",
          name: "web_search",
          allowed_callers: ["direct"],
          strict: false,
        }],
      },
      null,
    ],
  ] as const;
  for (const [path, body, named] of sent) {
    const response = await gateway.post(path, { model: "p/model", ...body });
    assertEquals([response.status, response.headers.get("x-svc-dropped")], [200, named]);
    await response.body?.cancel();
  }
  await gateway.close();
  await provider.close();
});

Deno.test("a cache mark on the search is one on the tool that a model of Anthropic's is given", () => {
  const { search } = decode("messages", {
    model: "acme/one",
    ...messages(),
    tools: [{
      type: "web_search_20260209",
      name: "web_search",
      cache_control: { type: "ephemeral", ttl: "1h" },
    }],
  });
  const prompt = decode("messages", { model: "acme/one", ...messages() });
  const { body } = encode(
    { ...prompt, tools: [searchTool([], search?.cache)] },
    "messages",
    "claude-opus-4-8",
  );
  assertEquals((body.tools as Loose[])[0].cache_control, { type: "ephemeral", ttl: "1h" });
});

Deno.test("the field that a provider has no form for is named as the caller's format has it", async () => {
  const provider = loopbackProvider(leastAnswer);
  const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } });
  const file = { type: "input_image", file_id: "file-1" };
  const response = await gateway.post("/v1/responses", {
    model: "p/model",
    input: [{ role: "user", content: [file] }],
  });
  const { error } = await response.json();
  assertEquals([response.status, error.code, error.param], [400, "feature_not_supported", "input"]);
  await gateway.close();
  await provider.close();
});

Deno.test("only fields that were sent are named, and not the truncation that no API does", () => {
  const dropped = (body: Loose, model: string) =>
    encode(decode("responses", { model: "acme/one", input: "Hi", ...body }), "chat_completions", model)
      .dropped;
  assertEquals(dropped({ top_logprobs: 2 }, "gpt-5"), ["top_logprobs"]);
  assertEquals(dropped({ include: ["message.output_text.logprobs"] }, "gpt-5"), ["include"]);
  assertEquals(dropped({ truncation: "disabled" }, "gpt-5"), []);
  assertEquals(dropped({ truncation: "auto" }, "gpt-5"), ["truncation"]);
});
