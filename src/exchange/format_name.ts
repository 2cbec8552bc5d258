/** A wire format for callers, by its name in records and metrics. */
export type CallerFormatName = "chat_completions" | "messages" | "responses";

/** A wire format. `gemini` and `converse` are used for providers only. */
export type FormatName = CallerFormatName | "gemini" | "converse";
