/** The caller formats, loaded on demand, with the parts that are needed without loading them. */
import type { Failure } from "../exchange/failure.ts";
import type { CallerFormatName } from "../exchange/format_name.ts";
import type { Loose } from "../exchange/json.ts";
import { chatCompletions } from "./chat_completions/mod.ts";
import { encodeFailure as encodeChatFailure } from "./chat_completions/failure.ts";
import type { CallerFormat } from "./format.ts";
import { type Lazy, lazy, present } from "../exchange/lazy.ts";
import { encodeFailure as encodeMessagesFailure } from "./messages/failure.ts";
import { encodeFailure as encodeResponsesFailure } from "./responses/failure.ts";

export interface LazyCallerFormat extends Lazy<CallerFormat> {
  readonly name: CallerFormatName;
  /** Needed for requests that are refused before they are decoded. */
  encodeFailure(failure: Failure, requestId: string): Loose;
}

export const LAZY_CALLERS: Readonly<Record<CallerFormatName, LazyCallerFormat>> = {
  chat_completions: {
    name: "chat_completions",
    encodeFailure: encodeChatFailure,
    ...present(chatCompletions),
  },
  messages: {
    name: "messages",
    encodeFailure: encodeMessagesFailure,
    ...lazy(async () => (await import("./messages/caller.ts")).messagesCaller),
  },
  responses: {
    name: "responses",
    encodeFailure: encodeResponsesFailure,
    ...lazy(async () => (await import("./responses/caller.ts")).responsesCaller),
  },
};
