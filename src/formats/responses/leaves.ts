/** What each field of a responses request holds, for whoever must read all text that leaves with it. */
import { plugins } from "../chat_completions/leaves.ts";
import {
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

const PART = fields({
  type: skip,
  text: partText,
  refusal: text,
  logprobs: skip,
  image_url: link,
  file_url: link,
  file_data: bytes,
  filename: text,
  file_id: media,
  input_audio: fields({ data: bytes, format: skip }),
  detail: skip,
});
const PARTS = parts(PART);
const SIGNED_PARTS = parts(fields({ type: skip, text: fixed }));

/** The texts of a reasoning item are fixed where the item carries its encrypted form. */
const reasoned: Rule = (walk, holder, key, path) => {
  const signed = typeof holder.encrypted_content === "string" && holder.encrypted_content !== "";
  (signed ? SIGNED_PARTS : PARTS)(walk, holder, key, path);
};

/** A message's name is text; an item without a role is named after a tool. */
const itemName: Rule = (walk, holder, key, path) =>
  (typeof holder.role === "string" ? senderName : fixed)(walk, holder, key, path);

const ITEM = {
  type: skip,
  role: skip,
  status: skip,
  phase: skip,
  id: skip,
  call_id: skip,
  name: itemName,
  namespace: fixed,
  content: reasoned,
  summary: reasoned,
  encrypted_content: skip,
  arguments: jsonText,
  input: text,
  output: PARTS,
};

export const LEAVES = shape({
  model: skip,
  instructions: text,
  input: messages(ITEM, { named: true }),
  tools: list(fields({ type: skip, name: fixed, description: text, parameters: json, format: json })),
  tool_choice: skip,
  text: fields({ format: json, verbosity: skip }),
  reasoning: skip,
  include: skip,
  metadata: json,
  user: text,
  seed: skip,
  plugins,
});
