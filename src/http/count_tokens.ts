/**
 * `POST /v1/messages/count_tokens`: how many input tokens a messages request would be.
 *
 * Counted with a public tokenizer (o200k), whatever the model: an estimate, within some percent for most models. It is
 * loaded on first use, because it is larger than the rest of the program.
 */
import type { Key } from "../accounts/mod.ts";
import { isObject } from "../exchange/json.ts";
import type { Content, Prompt } from "../exchange/prompt.ts";
import { CALLER_FORMATS } from "../formats/mod.ts";
import { measure } from "../models/limits.ts";
import type { Kit } from "../pipeline/kit.ts";
import { headersWith } from "./credentials.ts";

/** Tokens that an image of usual size costs (providers document 1,000 to 1,600). */
const ATTACHMENT_TOKENS = 1500;
/** Tokens of framing per message and per tool, as chat templates add them. */
const FRAME_TOKENS = 4;

export async function countTokens(
  body: unknown,
  request: Request,
  key: Key,
  kit: Kit,
): Promise<{ input_tokens: number }> {
  // The format requires an output cap of a generation; counting needs none.
  const asked = isObject(body) && body.max_tokens === undefined ? { ...body, max_tokens: 1 } : body;
  const prompt = CALLER_FORMATS.messages.decodeRequest(asked, {
    unseal: kit.sealer.unseal,
    headers: (prefix) => headersWith(request, prefix),
  });
  kit.catalog.resolve(prompt.model, key, { short: true });
  measure(prompt, kit.limits);
  const { countTokens: count } = await import("gpt-tokenizer/encoding/o200k_base");
  return { input_tokens: tokensOf(prompt, (text) => count(text)) };
}

function tokensOf(prompt: Prompt, count: (text: string) => number): number {
  let tokens = 3;
  const add = (content: readonly Content[]) => {
    for (const c of content) {
      if (c.type === "text" || c.type === "refusal") tokens += count(c.text);
      else if (c.type === "reasoning") tokens += count(c.sections.join("\n"));
      else if (c.type === "call") tokens += count(c.name) + count(c.arguments);
      else if (c.type === "result") add(c.content);
      else if (c.type === "search-result") tokens += count(`${c.title}\n${c.texts.join("\n")}`);
      else if (c.type === "opaque") tokens += count(JSON.stringify(c.value));
      else if (c.source.kind === "text") tokens += count(c.source.text);
      else tokens += ATTACHMENT_TOKENS;
    }
  };
  for (const turn of prompt.turns) {
    tokens += FRAME_TOKENS;
    add(turn.content);
  }
  for (const tool of prompt.tools) tokens += FRAME_TOKENS + count(JSON.stringify(tool));
  return tokens;
}
