/** What each field of a messages request holds, for whoever must read all text that leaves with it. */
import { plugins, TOOL } from "../chat_completions/leaves.ts";
import {
  bytes,
  fields,
  fixed,
  json,
  link,
  list,
  media,
  messages,
  parts,
  partText,
  type Rule,
  senderName,
  shape,
  signedBy,
  skip,
  text,
} from "../leaves.ts";

/** Blocks hold blocks: results and documents have content of their own. */
const blocks: Rule = (walk, holder, key, path) => BLOCKS(walk, holder, key, path);

/** `text` sources hold their text as it is. */
const sourceData: Rule = (walk, holder, key, path) =>
  (holder.type === "text" ? text : bytes)(walk, holder, key, path);

/** The data of redacted thinking is readable by its provider alone. */
const blockData: Rule = (walk, holder, key, path) =>
  (holder.type === "redacted_thinking" ? skip : bytes)(walk, holder, key, path);

const SOURCE = fields({
  type: skip,
  media_type: skip,
  data: sourceData,
  url: link,
  file_id: media,
  content: blocks,
});

/** A `search_result` names its source with a string. */
const source: Rule = (walk, holder, key, path) =>
  (typeof holder[key] === "string" ? text : SOURCE)(walk, holder, key, path);

const BLOCKS = parts(fields({
  type: skip,
  text: partText,
  citations: citations(),
  source,
  title: text,
  context: text,
  url: text,
  content: blocks,
  id: skip,
  tool_use_id: skip,
  name: fixed,
  input: json,
  thinking: signedBy("signature"),
  signature: skip,
  data: blockData,
  file_id: media,
  encrypted_content: skip,
  cache_control: skip,
  is_error: skip,
}));

/** Of a text block: sources, or in a document: whether they are wanted. */
function citations(): Rule {
  const each = list(fields({ type: skip, encrypted_index: skip, cited_text: text, file_id: skip }));
  return (walk, holder, key, path) => {
    if (Array.isArray(holder[key])) each(walk, holder, key, path);
  };
}

export const LEAVES = shape({
  model: skip,
  system: BLOCKS,
  messages: messages({ role: skip, name: senderName, content: BLOCKS }, { named: false }),
  tools: list(fields({ ...TOOL, name: fixed, description: text, input_schema: json })),
  tool_choice: skip,
  thinking: skip,
  output_config: json,
  output_format: json,
  stop_sequences: list(text),
  metadata: json,
  cache_control: skip,
  betas: skip,
  plugins,
});
