/**
 * An image that a model made, sent back with the next request: a responses provider refused the whole conversation, a chat
 * provider lost it, and two callers' own forms of it were not read at all.
 */
import { assertEquals } from "@std/assert";
import { collect } from "../../src/exchange/answer.ts";
import type { FormatName } from "../../src/exchange/prompt.ts";
import type { Loose } from "../../src/exchange/json.ts";
import { CALLER_FORMATS, PROVIDER_FORMATS } from "../../src/formats/mod.ts";

const CONTEXT = { model: "m", stream: false, maxOutput: null, features: null, efforts: null };
const PNG = "iVBORw0KGgo=";
const ANSWER = collect([
  { type: "start" },
  { type: "text-start", block: 0, choice: 0 },
  { type: "text-delta", block: 0, text: "Here:" },
  { type: "text-end", block: 0 },
  { type: "media", block: 1, choice: 0, mediaType: "image/png", data: PNG },
  { type: "finish", choice: 0, reason: "stop" },
]);

type Caller = keyof typeof CALLER_FORMATS;

/** The request that a caller makes of that answer. */
function nextRequest(caller: Caller): Loose {
  const format = CALLER_FORMATS[caller];
  const ask = { role: "user", content: "draw" };
  const go = { role: "user", content: "redder" };
  const first = caller === "responses" ? { input: [ask] } : { messages: [ask], max_tokens: 9 };
  const context = { unseal: () => null, headers: () => ({}) };
  const prompt = format.decodeRequest({ model: "a/b", ...first }, context);
  const said = JSON.parse(JSON.stringify(
    format.encodeAnswer(ANSWER, { id: "gen_1", created: 1, model: () => "a/b", prompt, seal: () => "" }),
  ));
  if (caller === "responses") return { input: [ask, ...said.output, go] };
  const message = caller === "messages"
    ? { role: "assistant", content: said.content }
    : said.choices[0].message;
  return { messages: [ask, message, go], max_tokens: 9 };
}

function sent(caller: Caller, target: FormatName): Loose {
  const context = { unseal: () => null, headers: () => ({}) };
  const prompt = CALLER_FORMATS[caller].decodeRequest({ model: "a/b", ...nextRequest(caller) }, context);
  return JSON.parse(JSON.stringify(PROVIDER_FORMATS[target].encodeRequest(prompt, CONTEXT).body));
}

for (const caller of Object.keys(CALLER_FORMATS) as Caller[]) {
  for (const target of Object.keys(PROVIDER_FORMATS) as FormatName[]) {
    Deno.test(`${target}.encodeRequest() an image that a model made, sent back by a ${caller} caller`, () => {
      const body = sent(caller, target);
      assertEquals(JSON.stringify(body).split(PNG).length, 2, "once");
      if (caller === target && target !== "messages") return;
      const last = ((body.messages ?? body.input ?? body.contents) as Loose[]).at(-1)!;
      // Gemini takes an image from the model itself; the others from the user only.
      assertEquals(JSON.stringify(last).includes(PNG), target !== "gemini");
    });
  }
}

Deno.test("an image that a model made goes back to a provider of the caller's format where it was", () => {
  const chat = (sent("chat_completions", "chat_completions").messages as Loose[])[1];
  assertEquals(chat.images, [{ type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } }]);
  const items = sent("responses", "responses").input as Loose[];
  assertEquals(items.find((item) => item.type === "image_generation_call")?.result, PNG);
});
