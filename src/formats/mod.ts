/** The formats there are, by name. */
import type { CallerFormatName, FormatName } from "../exchange/format_name.ts";
import { LEAVES as CHAT_LEAVES } from "./chat_completions/leaves.ts";
import { chatCompletions } from "./chat_completions/mod.ts";
import type { CallerFormat, ProviderFormat } from "./format.ts";
import { converse } from "./converse/mod.ts";
import { gemini } from "./gemini/mod.ts";
import type { BodyShape } from "./leaves.ts";
import { LEAVES as MESSAGES_LEAVES } from "./messages/leaves.ts";
import { messages } from "./messages/mod.ts";
import { LEAVES as RESPONSES_LEAVES } from "./responses/leaves.ts";
import { responses } from "./responses/mod.ts";

export const CALLER_FORMATS: Readonly<Record<CallerFormatName, CallerFormat>> = {
  chat_completions: chatCompletions,
  messages,
  responses,
};

export const PROVIDER_FORMATS: Readonly<Record<FormatName, ProviderFormat>> = {
  chat_completions: chatCompletions,
  messages,
  responses,
  gemini,
  converse,
};

/** Where the text of a request body is, by format. */
export const LEAVES: Readonly<Record<CallerFormatName, BodyShape>> = {
  chat_completions: CHAT_LEAVES,
  messages: MESSAGES_LEAVES,
  responses: RESPONSES_LEAVES,
};
