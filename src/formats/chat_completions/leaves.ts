/** What each field of a chat-completions request holds, for whoever must read all text that leaves with it. */
import { isObject, type Loose } from "../../exchange/json.ts";
import {
  address,
  anything,
  bytes,
  fields,
  fixed,
  json,
  jsonText,
  link,
  list,
  media,
  messages,
  parts,
  partText,
  type Rule,
  senderName,
  shape,
  skip,
  text,
} from "../leaves.ts";

/** `{url}`, or the URL itself. */
function linked(): Rule {
  const inside = fields({ url: link, detail: skip, format: skip });
  return (walk, holder, key, path) =>
    (typeof holder[key] === "string" ? link : inside)(walk, holder, key, path);
}

const PART = fields({
  type: skip,
  text: partText,
  refusal: text,
  image_url: linked(),
  video_url: linked(),
  document_url: linked(),
  file_url: linked(),
  input_audio: fields({ data: bytes, format: skip }),
  file: fields({ filename: text, file_name: text, file_data: bytes, file_id: media }),
  cache_control: skip,
});

/** Reasoning counts as signed as soon as any piece of it is: the proof may be about all of it. */
const reasoning: Rule = (walk, holder, key, path) => {
  const details: unknown = holder.reasoning_details;
  const signed = Array.isArray(details) && details.some(isSigned);
  (signed ? fixed : text)(walk, holder, key, path);
};

const reasoningDetails: Rule = (walk, holder, key, path) => {
  const details: unknown = holder[key];
  const rule = Array.isArray(details) && details.some(isSigned) ? fixed : text;
  list(
    fields({ type: skip, id: skip, format: skip, data: skip, signature: skip, text: rule, summary: rule }),
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
  role: skip,
  name: senderName,
  content: parts(PART),
  refusal: text,
  reasoning_content: reasoning,
  reasoning,
  reasoning_details: reasoningDetails,
  tool_calls: list(fields({
    id: skip,
    type: skip,
    index: skip,
    function: fields(CALL),
    custom: fields({ name: fixed, input: text }),
    extra_content: skip,
  })),
  function_call: fields(CALL),
  tool_call_id: skip,
  audio: fields({ id: skip, data: bytes, transcript: text }),
  extra_content: skip,
  thought_signature: skip,
  cache_control: skip,
};

const FUNCTION = { name: fixed, description: text, parameters: json, strict: skip };

export const TOOL = {
  type: skip,
  function: fields(FUNCTION),
  custom: fields({ name: fixed, description: text, format: json }),
  cache_control: skip,
};

/** `plugins.dlp` is read by the gateway itself and passed on to nobody. */
export const plugins: Rule = (walk, holder, key, path) => {
  const value = holder[key];
  if (!isObject(value)) return anything(walk, holder, key, path);
  for (const name of Object.keys(value)) if (name !== "dlp") anything(walk, value, name, `${path}.${name}`);
};

export const LEAVES = shape({
  model: skip,
  messages: messages(MESSAGE, { named: false }),
  tools: list(fields(TOOL)),
  functions: list(fields(FUNCTION)),
  tool_choice: skip,
  function_call: skip,
  response_format: json,
  prediction: fields({ type: skip, content: parts(PART) }),
  stop: parts(text),
  user: address,
  metadata: json,
  logit_bias: skip,
  seed: skip,
  random_seed: skip,
  modalities: skip,
  cache_control: skip,
  plugins,
});
