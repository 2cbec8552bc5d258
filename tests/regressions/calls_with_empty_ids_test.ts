/**
 * Calls whose ids are empty, as some servers of chat-completions give them, and results that name no other id. The calls
 * got ids and the results kept none, so every provider refused the conversation or took the results for those of no call.
 */
import { assertEquals } from "@std/assert";
import { array, type Loose, object } from "../../src/exchange/json.ts";
import { CALLER_FORMATS, PROVIDER_FORMATS } from "../../src/formats/mod.ts";

const CONTEXT = { model: "m", stream: false, maxOutput: null, features: null, efforts: null };
const call = (name: string) => ({ id: "", type: "function", function: { name, arguments: "{}" } });
const result = (content: string) => ({ role: "tool", tool_call_id: "", content });
const body = {
  model: "a/b",
  messages: [
    { role: "user", content: "Hi" },
    { role: "assistant", content: null, tool_calls: [call("f"), call("f")] },
    result("first"),
    result("second"),
    { role: "assistant", content: null, tool_calls: [call("g")] },
    result("third"),
  ],
};
const prompt = () =>
  CALLER_FORMATS.chat_completions.decodeRequest(body, { unseal: () => null, headers: () => ({}) });
const sent = (format: keyof typeof PROVIDER_FORMATS) =>
  PROVIDER_FORMATS[format].encodeRequest(prompt(), CONTEXT).body;

Deno.test("chat_completions: results of calls with empty ids go to their calls", () => {
  const messages = array(sent("chat_completions").messages).map(object);
  const ids = messages.flatMap((m) => array(m.tool_calls).map((c) => object(c).id));
  assertEquals(new Set(ids).size, 3);
  assertEquals(messages.flatMap((m) => m.role === "tool" ? [[m.tool_call_id, m.content]] : []), [
    [ids[0], "first"],
    [ids[1], "second"],
    [ids[2], "third"],
  ]);
});

Deno.test("messages: results of calls with empty ids go to their calls", () => {
  const blocks = array(sent("messages").messages).flatMap((m) => array(object(m).content)) as Loose[];
  const ids = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id);
  const results = blocks.filter(({ type }) => type === "tool_result");
  assertEquals(results.map((b) => [b.tool_use_id, b.content]), [
    [ids[0], "first"],
    [ids[1], "second"],
    [ids[2], "third"],
  ]);
});
