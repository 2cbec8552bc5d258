/** The request that a chat-completions server receives for a caller's request. */
import { flattenTools } from "../../../src/exchange/tools.ts";
import { PROVIDER_FORMATS } from "../../../src/formats/mod.ts";
import { inDialect } from "../../../src/providers/apis/chat_dialects.ts";
import { apiNamed } from "../../../src/providers/apis/mod.ts";
import { type Caller, decode } from "../../formats/conversions.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const CHAT = apiNamed("openai-chat");

/** The body that the server receives, and the dropped fields. */
export function sentRequest(
  preset: string,
  caller: Caller,
  body: Any,
  model = "m",
): { body: Any; dropped: string[] } {
  const api = inDialect(CHAT, preset, "https://up.example/v1");
  const prompt = decode(caller, { model: "acme/one", ...body });
  const flat = flattenTools(prompt, api.toolForms(prompt.format)).prompt;
  // Several answers are requested by separate calls.
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
