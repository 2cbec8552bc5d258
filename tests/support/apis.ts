/** A provider API for each format that providers speak. */
import type { FormatName } from "../../src/exchange/prompt.ts";
import { apiNamed, type ProviderApi } from "../../src/providers/apis/mod.ts";

export const API_OF: Readonly<Record<FormatName, ProviderApi>> = {
  chat_completions: apiNamed("openai-chat"),
  messages: apiNamed("anthropic-messages"),
  responses: apiNamed("openai-responses"),
  gemini: apiNamed("gemini"),
  converse: apiNamed("bedrock-converse"),
};
