/** A wire format for callers, by its name in records and metrics. */
export type CallerFormatName = "chat_completions" | "messages" | "responses";

const NAMES: ReadonlyMap<string, CallerFormatName> = new Map([
  ["chat_completions", "chat_completions"],
  ["chat-completions", "chat_completions"],
  ["chat", "chat_completions"],
  ["messages", "messages"],
  ["responses", "responses"],
]);

/** The format that somebody names, also as its documentation writes it (`chat-completions`). */
export function callerFormatOf(named: unknown): CallerFormatName | undefined {
  return typeof named === "string" ? NAMES.get(named) : undefined;
}

/** A wire format. `gemini` and `converse` are used for providers only. */
export type FormatName = CallerFormatName | "gemini" | "converse";
