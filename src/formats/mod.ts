/** The formats there are, by name. */
import type { FormatName } from "../exchange/prompt.ts";
import { chatCompletions } from "./chat_completions/mod.ts";
import type { CallerFormat, ProviderFormat } from "./format.ts";
import { gemini } from "./gemini/mod.ts";
import { messages } from "./messages/mod.ts";
import { responses } from "./responses/mod.ts";

export const CALLER_FORMATS: Readonly<Record<"chat_completions" | "messages" | "responses", CallerFormat>> = {
  chat_completions: chatCompletions,
  messages,
  responses,
};

export const PROVIDER_FORMATS: Readonly<Record<FormatName, ProviderFormat>> = {
  chat_completions: chatCompletions,
  messages,
  responses,
  gemini,
};
