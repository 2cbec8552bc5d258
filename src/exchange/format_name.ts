/** A wire format that callers speak, as records and metrics name it. */
export type CallerFormatName = "chat_completions" | "messages" | "responses";

/** A wire format. `gemini` and `converse` exist on the provider's side only. */
export type FormatName = CallerFormatName | "gemini" | "converse";
