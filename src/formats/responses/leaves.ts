/** Rules for the fields of a responses request, for collecting all of its text. */
import { plugins } from "../chat_completions/leaves.ts";
import {
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

const PART = objectOf({
  type: setting,
  text: partText,
  refusal: text,
  logprobs: setting,
  annotations: anything,
  image_url: link,
  file_url: link,
  video_url: link,
  file_data: bytes,
  filename: text,
  file_id: media,
  input_audio: objectOf({ data: bytes, format: setting }),
  detail: setting,
});
const PARTS = parts(PART);
const SIGNED_PARTS = parts(objectOf({ type: setting, text: fixed }));

/** The texts of a reasoning item must not be changed if it has encrypted content. */
const reasoned: Rule = (walk, holder, key, path) => {
  const signed = typeof holder.encrypted_content === "string" && holder.encrypted_content !== "";
  (signed ? SIGNED_PARTS : PARTS)(walk, holder, key, path);
};

/** The name in a message is text; in an item without a role it is a tool's name. */
const itemName: Rule = (walk, holder, key, path) =>
  (typeof holder.role === "string" ? senderName : fixed)(walk, holder, key, path);

const TOOLS = list(
  objectOf({ type: setting, name: fixed, description: text, parameters: json, format: json }),
);

const ITEM = {
  type: setting,
  role: setting,
  status: setting,
  phase: setting,
  id: opaque,
  call_id: opaque,
  name: itemName,
  namespace: fixed,
  content: reasoned,
  summary: reasoned,
  encrypted_content: opaque,
  arguments: jsonText,
  input: text,
  output: PARTS,
  tools: TOOLS,
};

export const LEAVES = shape({
  model: opaque,
  instructions: text,
  input: messageList(ITEM, { named: true }),
  tools: TOOLS,
  tool_choice: setting,
  text: objectOf({ format: json, verbosity: setting }),
  stream_options: objectOf({ include_usage: setting, include_obfuscation: setting }),
  ...settings(
    ..."stream max_output_tokens max_tool_calls temperature top_p top_logprobs store background"
      .split(" "),
    ..."parallel_tool_calls truncation service_tier reasoning include".split(" "),
  ),
  metadata: json,
  user: text,
  seed,
  plugins,
});
