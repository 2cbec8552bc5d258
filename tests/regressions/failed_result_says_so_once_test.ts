/**
 * Results of failed tools for APIs that have no field for failures begin with "Error:". Agents such as Droid and LangChain
 * begin the message with the word themselves, so that models read "Error: Error: …".
 */
import { assertEquals } from "@std/assert";
import type { Loose } from "../../src/exchange/json.ts";
import { CALLER_FORMATS, PROVIDER_FORMATS } from "../../src/formats/mod.ts";

type Api = "chat_completions" | "responses" | "converse";
/** A model whose results have no status. */
const MODEL = "meta.llama3-1-70b-instruct-v1:0";
const CONTEXT = { model: MODEL, stream: false, maxOutput: null, features: null, efforts: null };

/** What the API gets as the result of a tool that failed with this content. */
function sent(api: Api, content: unknown): unknown {
  const messages = [
    { role: "user", content: "Hi" },
    { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "f", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", is_error: true, content }] },
  ];
  const body = {
    model: "a/b",
    max_tokens: 100,
    messages,
    tools: [{ name: "f", input_schema: { type: "object" } }],
  };
  const prompt = CALLER_FORMATS.messages.decodeRequest(body, { unseal: () => null, headers: () => ({}) });
  const encoded = PROVIDER_FORMATS[api].encodeRequest(prompt, CONTEXT).body;
  const last = ((encoded.messages ?? encoded.input) as Loose[]).at(-1)!;
  if (api === "converse") {
    const [{ toolResult }] = last.content as { toolResult: Loose }[];
    return toolResult.content;
  }
  return api === "responses" ? last.output : last.content;
}

const IMAGE = { type: "image", source: { type: "url", url: "https://a.test/b.png" } };
const text = (text: string) => ({ type: "text", text });

for (const said of ["Error: no file", "error reading it", "[ERROR] no file", "<error>no file</error>"]) {
  Deno.test(`a failed result that begins with ${JSON.stringify(said.slice(0, 7))} is sent as it is`, () => {
    assertEquals(sent("chat_completions", said), said);
    assertEquals(sent("responses", said), said);
    assertEquals(sent("converse", said), [{ text: said }]);
    const [first, ...others] = sent("responses", [text(said), IMAGE]) as Loose[];
    assertEquals([first.text, others.length], [said, 1]);
  });
}

Deno.test("any other failed result begins with the word", () => {
  for (const said of ["no file", "Terror: no", "Errored twice"]) {
    for (const api of ["chat_completions", "responses"] as const) {
      assertEquals(sent(api, said), `Error: ${said}`);
    }
    assertEquals(sent("converse", said), [{ text: `Error: ${said}` }]);
  }
  const parts = sent("responses", [text("no file"), IMAGE]) as Loose[];
  assertEquals(parts.map(({ type, text }) => [type, text]), [
    ["input_text", "Error:"],
    ["input_text", "no file"],
    ["input_image", undefined],
  ]);
  const alone = sent("responses", [IMAGE]) as Loose[];
  assertEquals(alone.map(({ type }) => type), ["input_text", "input_image"]);
});
