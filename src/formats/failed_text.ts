/**
 * The text of a failed tool result for an API that has no field for failures. Many tools begin their message with
 * the word themselves.
 */
export function failedText(text: string): string {
  if (text.trim() === "") return "Error: the tool failed and gave no message.";
  return saysFailed(text) ? text : `Error: ${text}`;
}

/** Whether a text begins by saying that it is an error, perhaps behind a sign such as `[` or `<`. */
export function saysFailed(text: string): boolean {
  return /^\s*\W?error\b/i.test(text);
}
