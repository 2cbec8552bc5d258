/** Rules for the fields of a messages request, for collecting all of its text. */
import { plugins, TOOL } from "../chat_completions/leaves.ts";
import {
  bytes,
  fixed,
  json,
  link,
  media,
  opaque,
  partText,
  senderName,
  setting,
  signedBy,
  text,
} from "../leaves/rules.ts";
import { list, messageList, objectOf, parts, type Rule, settings, shape } from "../leaves/mod.ts";

/** Results and documents contain nested blocks. */
const blocks: Rule = (walk, holder, key, path) => BLOCKS(walk, holder, key, path);

/** `text` sources contain their text directly. */
const sourceData: Rule = (walk, holder, key, path) =>
  (holder.type === "text" ? text : bytes)(walk, holder, key, path);

/** The data of redacted thinking can be read by its provider only. */
const blockData: Rule = (walk, holder, key, path) =>
  (holder.type === "redacted_thinking" ? opaque : bytes)(walk, holder, key, path);

const SOURCE = objectOf({
  type: setting,
  media_type: setting,
  data: sourceData,
  url: link,
  file_id: media,
  content: blocks,
});

/** In a `search_result`, `source` is a string. */
const source: Rule = (walk, holder, key, path) =>
  (typeof holder[key] === "string" ? text : SOURCE)(walk, holder, key, path);

const DEFINED = objectOf({ ...TOOL, name: fixed, description: text, input_schema: json });

/** A block that declares or removes a tool. */
const CHANGE = { type: setting, tool: objectOf({ type: setting, name: fixed, definition: DEFINED }) };

const BLOCKS = parts(objectOf({
  ...CHANGE,
  tool_changes: list(objectOf(CHANGE)),
  text: partText,
  citations: citations(),
  source,
  title: text,
  context: text,
  url: text,
  content: blocks,
  id: opaque,
  tool_use_id: opaque,
  name: fixed,
  input: json,
  thinking: signedBy("signature"),
  signature: opaque,
  data: blockData,
  file_id: media,
  encrypted_content: opaque,
  cache_control: setting,
  is_error: setting,
}));

/** In a text block: the citations; in a document: whether they are enabled. */
function citations(): Rule {
  const each = list(objectOf({
    ...settings(..."type start_char_index end_char_index start_page_number end_page_number".split(" ")),
    ...settings(..."start_block_index end_block_index document_index search_result_index".split(" ")),
    encrypted_index: opaque,
    cited_text: text,
    document_title: text,
    title: text,
    source: text,
    url: text,
    file_id: opaque,
  }));
  return (walk, holder, key, path) => (Array.isArray(holder[key]) ? each : setting)(walk, holder, key, path);
}

export const LEAVES = shape({
  model: opaque,
  system: BLOCKS,
  messages: messageList({ role: setting, name: senderName, content: BLOCKS }, { named: false }),
  tools: list(DEFINED),
  tool_choice: setting,
  ...settings(
    ..."stream max_tokens temperature top_p top_k thinking service_tier cache_control betas inference_geo speed"
      .split(" "),
  ),
  output_config: json,
  output_format: json,
  stop_sequences: list(text),
  metadata: json,
  plugins,
});
