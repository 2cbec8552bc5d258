/** The formats of callers, as far as they are known before the first call in them. */
import type { Failure } from "../exchange/failure.ts";
import type { CallerFormatName } from "../exchange/format_name.ts";
import type { Loose } from "../exchange/json.ts";
import { chatCompletions } from "./chat_completions/mod.ts";
import { encodeFailure as encodeChatFailure } from "./chat_completions/failure.ts";
import type { CallerFormat } from "./format.ts";
import { type Late, late, present } from "./late.ts";
import { encodeFailure as encodeMessagesFailure } from "./messages/failure.ts";
import { encodeFailure as encodeResponsesFailure } from "./responses/failure.ts";

export interface LateCallerFormat extends Late<CallerFormat> {
  readonly name: CallerFormatName;
  /** Requests are refused that nobody has read. */
  encodeFailure(failure: Failure, requestId: string): Loose;
}

export const LATE_CALLERS: Readonly<Record<CallerFormatName, LateCallerFormat>> = {
  chat_completions: {
    name: "chat_completions",
    encodeFailure: encodeChatFailure,
    ...present(chatCompletions),
  },
  messages: {
    name: "messages",
    encodeFailure: encodeMessagesFailure,
    ...late(async () => (await import("./messages/caller.ts")).messagesCaller),
  },
  responses: {
    name: "responses",
    encodeFailure: encodeResponsesFailure,
    ...late(async () => (await import("./responses/caller.ts")).responsesCaller),
  },
};
