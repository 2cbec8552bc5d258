/**
 * Models whose vendors reject a conversation with tool calls if a message of the assistant has no reasoning
 * while thinking is on, which is their default.
 *
 * Sources: the errors of their APIs ("thinking is enabled but reasoning_content is missing in assistant tool
 * call message", "The `reasoning_content` in the thinking mode must be passed back to the API", "The
 * `content[].thinking` in the thinking mode must be passed back to the API") and the vendors' guides to
 * thinking with tools.
 */
const MODELS =
  /kimi.*(?:k2[.p-]?[5-9]|k[3-9]|thinking|for-coding|latest)|deepseek.*(?:v[4-9]|v3[.p][2-9]|reasoner)|mimo-v[2-9]/i;

export function needsReasoning(model: string): boolean {
  return MODELS.test(model);
}
