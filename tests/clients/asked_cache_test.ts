/** Agents that ask for a cached prompt with `prompt_cache_key`, and Claude, which caches what is marked. */
import { assertEquals } from "@std/assert";
import { testGateway } from "../support/gateway.ts";
import { type ScriptedApi, scriptedProvider } from "../support/script/mod.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const MODELS: Partial<Record<ScriptedApi, string>> = {
  "anthropic-messages": "claude-sonnet-4-6",
  "bedrock-converse": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
};

/** Texts after which the prompt is cached. */
function marked(api: ScriptedApi, { system, messages }: Any): string[] {
  const lists = [system ?? [], ...messages.map(({ content }: Any) => content)].filter(Array.isArray);
  const told = (block: Any) =>
    block.text ?? block.content?.[0]?.text ?? block.content ?? block.toolResult?.content[0].text;
  return lists.flatMap((list: Any[]) =>
    list.flatMap((block, i) => {
      if (api === "bedrock-converse") return block.cachePoint === undefined ? [] : [told(list[i - 1])];
      return block.cache_control === undefined ? [] : [told(block)];
    })
  );
}

const text = (role: string, words: string) => ({
  type: "message",
  role,
  content: [{ type: role === "assistant" ? "output_text" : "input_text", text: words }],
});
const call = (id: string) => ({ type: "function_call", call_id: id, name: "read", arguments: "{}" });
const result = (id: string, output: string) => ({ type: "function_call_output", call_id: id, output });
const TOOLS = [{ type: "function", name: "read", parameters: { type: "object", properties: {} } }];
const START = [text("developer", "You are Codex."), text("developer", "Skills."), text("user", "Read it.")];
const TURNS = [
  START,
  [...START, call("c1"), call("c2"), result("c1", "one"), result("c2", "two")],
  [
    ...START,
    call("c1"),
    call("c2"),
    result("c1", "one"),
    result("c2", "two"),
    text("assistant", "Done."),
    text("user", "Go on."),
  ],
];

for (const [api, model] of Object.entries(MODELS) as [ScriptedApi, string][]) {
  Deno.test(`a prompt_cache_key marks what the next request shares: ${api}`, async () => {
    const provider = scriptedProvider(api, Array.from({ length: 9 }, () => ({ text: "Hi" })));
    const gateway = await testGateway({
      p: { api, url: provider.url, model: { routes: [{ provider: "p", model }] } },
    });
    const ask = async (path: string, body: unknown) => {
      const response = await gateway.post(path, body);
      assertEquals(response.status, 200, await response.text());
      return {
        marks: marked(api, provider.seen.at(-1)!.body),
        dropped: response.headers.get("x-svc-dropped") ?? "",
      };
    };
    const seen: string[][] = [];
    for (const input of TURNS) {
      const { marks } = await ask("/v1/responses", {
        model: "p/model",
        input,
        tools: TOOLS,
        prompt_cache_key: "session",
      });
      seen.push(marks);
    }
    assertEquals(seen, [["Skills.", "Read it."], ["Skills.", "Read it.", "two"], [
      "Skills.",
      "two",
      "Go on.",
    ]]);
    // Nobody asked, or the caller marks by itself.
    const without = await ask("/v1/responses", { model: "p/model", input: TURNS[1], tools: TOOLS });
    assertEquals(without.marks, []);
    const own = await ask("/v1/chat/completions", {
      model: "p/model",
      prompt_cache_key: "session",
      messages: [
        { role: "system", content: [{ type: "text", text: "S", cache_control: { type: "ephemeral" } }] },
        { role: "user", content: "Hello" },
      ],
    });
    assertEquals([own.marks, own.dropped], [["S"], "prompt_cache_key"]);
    const chat = await ask("/v1/chat/completions", {
      model: "p/model",
      prompt_cache_key: "session",
      messages: [{ role: "system", content: "S" }, { role: "user", content: "Hello" }],
    });
    assertEquals(chat.marks, ["S", "Hello"]);
    await gateway.close();
    await provider.close();
  });
}
