/**
 * `POST /v1/messages/count_tokens`: how many input tokens a messages request would be.
 *
 * Counted with one public tokenizer whatever the model: an estimate, within some percent for most models.
 */
import type { Key } from "../accounts/mod.ts";
import { isObject } from "../exchange/json.ts";
import { CALLER_FORMATS } from "../formats/mod.ts";
import { countAll } from "../formats/tokens.ts";
import { measure, texts } from "../models/limits.ts";
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
  const { attachments } = measure(prompt, kit.limits);
  const frames = 3 + FRAME_TOKENS * (prompt.turns.length + prompt.tools.length);
  return { input_tokens: frames + attachments * ATTACHMENT_TOKENS + await countAll(texts(prompt)) };
}
