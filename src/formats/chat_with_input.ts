/**
 * The chat-completions format with `input` in place of `messages`: Cursor sends requests of the responses format
 * to `/v1/chat/completions`, and reads answers of chat-completions.
 */
import { isObject, type Loose, number, object } from "../exchange/json.ts";
import { chatCompletions } from "./chat_completions/mod.ts";
import type { CallerFormat } from "./format.ts";
import { responsesCaller } from "./responses/caller.ts";

export const chatWithInput: CallerFormat = {
  ...chatCompletions,
  leaves: responsesCaller.leaves,
  unsealBody(body, unseal) {
    const request = isObject(body) ? withResponsesFields(body) : body;
    return responsesCaller.unsealBody?.(request, unseal) ?? request;
  },
  decodeRequest: responsesCaller.decodeRequest,
};

/** The body with the fields that only chat-completions has under their names in the responses format. */
function withResponsesFields(body: Loose): Loose {
  const {
    stream_options: _options,
    max_tokens: older,
    max_completion_tokens: newer,
    reasoning_effort: effort,
    response_format: shape,
    verbosity,
    ...request
  } = body;
  const cap = number(newer) ?? number(older);
  if (cap !== undefined) request.max_output_tokens ??= cap;
  if (effort !== undefined && effort !== null) request.reasoning = { effort, ...object(request.reasoning) };
  const text = {
    ...(isObject(shape) && { format: { ...object(shape.json_schema), type: shape.type } }),
    ...(verbosity !== undefined && verbosity !== null && { verbosity }),
  };
  if (Object.keys(text).length > 0) request.text = { ...text, ...object(request.text) };
  return request;
}
