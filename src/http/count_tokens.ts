/**
 * Counts the input tokens of a request: `POST /v1/messages/count_tokens` and `POST
 * /v1/responses/input_tokens`.
 *
 * One public tokenizer is used for all models, so the result is an estimate, within some per cent for most
 * models.
 */
import type { Key } from "../accounts/mod.ts";
import type { CallerFormatName } from "../exchange/format_name.ts";
import { isObject, type Loose } from "../exchange/json.ts";
import { readLeaves } from "../formats/leaves/mod.ts";
import { LAZY_CALLERS } from "../formats/callers.ts";
import { measure, texts } from "../models/limits.ts";
import { refuseModel } from "../pipeline/admission/admit.ts";
import type { Kit } from "../pipeline/kit.ts";
import { searchTool } from "../pipeline/search/prompts.ts";
import { wantsSearch } from "../pipeline/shape.ts";
import type { Step } from "../timing/slices.ts";
import { headersWith } from "./credentials.ts";
import type { IncomingRequest } from "./endpoint.ts";

/** Estimated tokens of an image of usual size (providers document 1,000 to 1,600). */
const ATTACHMENT_TOKENS = 1500;
/** Tokens added by chat templates per message and per tool. */
const FRAME_TOKENS = 4;
/** Default values for fields that a generation requires but a count does not. */
const UNNEEDED: Partial<Record<CallerFormatName, Loose>> = { messages: { max_tokens: 1 } };

/** Counts the tokens of a request's input. Throws the format's failures for an invalid body. */
export async function countTokens(
  formatName: CallerFormatName,
  body: unknown,
  request: IncomingRequest,
  { key, kit, step }: { key: Key; kit: Kit; step: Step },
): Promise<number> {
  const { unseal } = kit.sealer.of(key.account);
  const format = await LAZY_CALLERS[formatName].open();
  const opened = format.unsealBody?.(body, unseal) ?? body;
  const asked = isObject(opened) ? { ...UNNEEDED[formatName], ...opened } : opened;
  const prompt = await step(() =>
    format.decodeRequest(asked, {
      unseal,
      headers: (prefix) => headersWith(request, prefix),
    })
  );
  // The count does not depend on the model, so autorouting may choose any.
  refuseModel(prompt.model, key, { kit, short: formatName === "messages" });
  const reading = await step(() => readLeaves(asked, format.leaves));
  const { attachments } = await step(() => measure(prompt, reading, kit.limits));
  const search = wantsSearch(prompt) ? [JSON.stringify(searchTool(prompt.tools))] : [];
  const frames = 3 + FRAME_TOKENS * (prompt.turns.length + prompt.tools.length + search.length);
  return frames + attachments * ATTACHMENT_TOKENS +
    await kit.tokens.countAll([...texts(reading), ...search], { key: key.id, rest: "estimated" });
}
