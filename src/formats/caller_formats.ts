/** All caller formats by name, loaded eagerly; for code that is not time-critical. */
import type { CallerFormatName } from "../exchange/format_name.ts";
import { chatCompletions } from "./chat_completions/mod.ts";
import type { CallerFormat } from "./format.ts";
import type { BodyShape } from "./leaves/mod.ts";
import { messagesCaller } from "./messages/caller.ts";
import { responsesCaller } from "./responses/caller.ts";

export const CALLER_FORMATS: Readonly<Record<CallerFormatName, CallerFormat>> = {
  chat_completions: chatCompletions,
  messages: messagesCaller,
  responses: responsesCaller,
};

/** Rules for the text in a request body, by format. */
export const LEAVES: Readonly<Record<CallerFormatName, BodyShape>> = {
  chat_completions: chatCompletions.leaves,
  messages: messagesCaller.leaves,
  responses: responsesCaller.leaves,
};
