/**
 * Enumeration values of the formats. Such a string contains no user data and is not screened; any other
 * string in the same field is screened.
 */

const ENUMERATED: ReadonlySet<string> = new Set(
  // Roles and authors of messages.
  ("user assistant system developer tool function critic discriminator unknown " +
    // Types of parts, blocks, items, sources, formats and tools.
    "text refusal image_url video_url document_url file_url input_audio input_image input_file input_video " +
    "input_text output_text file image document base64 url content message custom grammar lark regex json_object json_schema ephemeral " +
    "tool_use tool_result server_tool_use thinking redacted_thinking search_result web_search web_search_call " +
    "web_search_tool_result web_search_result function_call function_call_output custom_tool_call " +
    "custom_tool_call_output reasoning summary_text reasoning_text item_reference file_search file_search_call " +
    "code_interpreter code_interpreter_call computer_call computer_call_output local_shell_call mcp mcp_call " +
    "image_generation image_generation_call allowed_tools char_location page_location content_block_location " +
    "search_result_location web_search_result_location url_citation file_citation container_upload compaction " +
    "reasoning.text reasoning.summary reasoning.encrypted approximate exact tool_reference tool_search " +
    // Choices, efforts, states and phases.
    "auto none any required enabled disabled adaptive low medium high minimal xhigh max default flex priority scale " +
    "standard standard_only fast concise detailed summarized omitted in_progress completed incomplete failed " +
    "searching final_answer commentary true false in-memory 24h 5m 1h off on full " +
    // Media types and formats.
    "audio wav mp3 flac opus aac pcm16 png jpeg webp gif pdf text/plain text/markdown text/csv text/html " +
    "application/json application/pdf application/xml image/png image/jpeg image/webp image/gif audio/wav audio/mpeg " +
    // Formats of opaque reasoning.
    "anthropic-claude-v1 openai-responses-v1 google-gemini-v1 xai-responses-v1 " +
    // Values of `include`.
    "reasoning.encrypted_content message.output_text.logprobs message.input_image.image_url " +
    "web_search_call.action.sources file_search_call.results code_interpreter_call.outputs").split(" "),
);

/** Field names in settings. */
const SETTING_NAMES: ReadonlySet<string> = new Set(
  ("type ttl effort summary generate_summary budget_tokens display enabled exclude max_tokens name mode tools function " +
    "custom verbosity detail format include max_uses strict value disable_parallel_tool_use").split(" "),
);

/** Maximum nesting of settings. */
const DEEPEST_SETTING = 4;

/** Whether a value consists only of such words, booleans and small numbers. */
export function isSetting(value: unknown, depth = 0): boolean {
  if (typeof value === "string") return value === "" || ENUMERATED.has(value);
  if (typeof value === "number") return Math.abs(value) < 1e6;
  if (typeof value !== "object" || value === null) return true;
  if (depth === DEEPEST_SETTING) return false;
  if (Array.isArray(value)) return value.every((item) => isSetting(item, depth + 1));
  return Object.entries(value).every(([name, inner]) =>
    SETTING_NAMES.has(name) && isSetting(inner, depth + 1)
  );
}
