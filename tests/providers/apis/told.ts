/** What servers of chat-completions get of callers' requests. */
import { flattenTools } from "../../../src/exchange/tools.ts";
import { PROVIDER_FORMATS } from "../../../src/formats/mod.ts";
import { inDialect } from "../../../src/providers/apis/chat_dialects.ts";
import { apiNamed } from "../../../src/providers/apis/mod.ts";
import { type Caller, decode } from "../../formats/conversions.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const CHAT = apiNamed("openai-chat");

/** A caller's request as the server gets it, and what it was not told. */
export function told(
  preset: string,
  caller: Caller,
  body: Any,
  model = "m",
): { body: Any; dropped: string[] } {
  const api = inDialect(CHAT, preset, "https://up.example/v1");
  const prompt = decode(caller, { model: "acme/one", ...body });
  const flat = flattenTools(prompt, api.toolForms(prompt.format)).prompt;
  // Of several answers each is a call of its own.
  const one = api.severalAnswers(flat.stream, flat.n ?? 1) ? flat : { ...flat, n: undefined };
  const encoded = PROVIDER_FORMATS.chat_completions.encodeRequest(one, {
    model,
    stream: flat.stream,
    maxOutput: null,
    features: new Set(["tools", "reasoning", "structured_outputs", "response_format"]),
    efforts: null,
  });
  const request = api.finish ? api.finish(encoded, model, one) : encoded;
  return { body: JSON.parse(JSON.stringify(request.body)), dropped: request.dropped };
}
