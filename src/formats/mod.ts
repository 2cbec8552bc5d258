/** All formats by name, loaded eagerly. Calls load only those that they need: callers.ts, and the provider APIs. */
import type { FormatName } from "../exchange/format_name.ts";
import { chatCompletions } from "./chat_completions/mod.ts";
import { converse } from "./converse/mod.ts";
import type { ProviderFormat } from "./format.ts";
import { gemini } from "./gemini/mod.ts";
import { messagesProvider } from "./messages/provider.ts";
import { responsesProvider } from "./responses/provider.ts";

export { CALLER_FORMATS, LEAVES } from "./caller_formats.ts";

export const PROVIDER_FORMATS: Readonly<Record<FormatName, ProviderFormat>> = {
  chat_completions: chatCompletions,
  messages: messagesProvider,
  responses: responsesProvider,
  gemini,
  converse,
};
