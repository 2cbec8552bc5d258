/** A wire format. `gemini` exists on the provider's side only. */
export type FormatName = "chat_completions" | "messages" | "responses" | "gemini";
