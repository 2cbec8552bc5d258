/** Rules for the fields of a chat-completions request, for collecting all of its text. */
import { isObject, type Loose } from "../../exchange/json.ts";
import {
  address,
  anything,
  bytes,
  fixed,
  json,
  jsonText,
  link,
  media,
  opaque,
  partText,
  seed,
  senderName,
  setting,
  text,
} from "../leaves/rules.ts";
import { list, messageList, objectOf, parts, type Rule, settings, shape } from "../leaves/mod.ts";

/** `{url}`, or the URL itself. */
function linked(): Rule {
  const inside = objectOf({ url: link, detail: setting, format: setting });
  return (walk, holder, key, path) =>
    (typeof holder[key] === "string" ? link : inside)(walk, holder, key, path);
}

const PART = objectOf({
  type: setting,
  text: partText,
  refusal: text,
  image_url: linked(),
  video_url: linked(),
  document_url: linked(),
  file_url: linked(),
  input_audio: objectOf({ data: bytes, format: setting }),
  file: objectOf({ filename: text, file_name: text, file_data: bytes, file_id: media }),
  cache_control: setting,
});

/** Reasoning counts as signed if any piece of it is: the proof may cover all of it. */
const reasoning: Rule = (walk, holder, key, path) => {
  const details: unknown = holder.reasoning_details;
  const signed = Array.isArray(details) && details.some(isSigned);
  (signed ? fixed : text)(walk, holder, key, path);
};

const reasoningDetails: Rule = (walk, holder, key, path) => {
  const details: unknown = holder[key];
  const rule = Array.isArray(details) && details.some(isSigned) ? fixed : text;
  list(
    objectOf({
      type: setting,
      id: opaque,
      format: setting,
      data: opaque,
      signature: opaque,
      text: rule,
      summary: rule,
    }),
  )(
    walk,
    holder,
    key,
    path,
  );
};

function isSigned(entry: unknown): boolean {
  return isObject(entry) && (filled(entry, "signature") || filled(entry, "data"));
}

function filled(value: Loose, name: string): boolean {
  return typeof value[name] === "string" && value[name] !== "";
}

const CALL = { name: fixed, arguments: jsonText };

const MESSAGE = {
  role: setting,
  name: senderName,
  content: parts(PART),
  refusal: text,
  reasoning_content: reasoning,
  reasoning,
  reasoning_text: reasoning,
  reasoning_details: reasoningDetails,
  thinking_blocks: list(objectOf({ type: setting, thinking: fixed, signature: opaque, data: opaque })),
  tool_calls: list(objectOf({
    id: opaque,
    type: setting,
    index: setting,
    function: objectOf(CALL),
    custom: objectOf({ name: fixed, input: text }),
    extra_content: objectOf({ google: objectOf({ thought_signature: opaque }) }),
  })),
  function_call: objectOf(CALL),
  tool_call_id: opaque,
  audio: objectOf({ id: opaque, data: bytes, transcript: text }),
  extra_content: objectOf({ google: objectOf({ thought_signature: opaque }) }),
  thought_signature: opaque,
  reasoning_opaque: opaque,
  cache_control: setting,
};

const FUNCTION = { name: fixed, description: text, parameters: json, strict: setting };

export const TOOL = {
  type: setting,
  function: objectOf(FUNCTION),
  custom: objectOf({ name: fixed, description: text, format: json }),
  cache_control: setting,
};

/** `plugins.dlp` is for the gateway and not sent to providers. */
export const plugins: Rule = (walk, holder, key, path) => {
  const value = holder[key];
  if (!isObject(value)) return anything(walk, holder, key, path);
  for (const name of Object.keys(value)) if (name !== "dlp") anything(walk, value, name, `${path}.${name}`);
};

export const LEAVES = shape({
  model: opaque,
  messages: messageList(MESSAGE, { named: false }),
  tools: list(objectOf(TOOL)),
  functions: list(objectOf(FUNCTION)),
  tool_choice: setting,
  function_call: setting,
  response_format: json,
  prediction: objectOf({ type: setting, content: parts(PART) }),
  stop: parts(text),
  stream_options: objectOf({ include_usage: setting, include_obfuscation: setting }),
  user: address,
  metadata: json,
  ...settings(
    ..."stream max_tokens max_completion_tokens temperature top_p top_k min_p n stop_token_ids"
      .split(" "),
    ..."presence_penalty frequency_penalty repetition_penalty logit_bias logprobs top_logprobs store".split(
      " ",
    ),
    ..."parallel_tool_calls reasoning reasoning_effort include_reasoning verbosity service_tier modalities cache_control"
      .split(" "),
  ),
  seed,
  random_seed: seed,
  plugins,
});
