/** The caller formats, loaded on demand, with the parts that are needed without loading them. */
import type { Failure } from "../exchange/failure.ts";
import type { CallerFormatName } from "../exchange/format_name.ts";
import { isObject, type Loose } from "../exchange/json.ts";
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
  /** The format for a body in another form, if clients send such bodies. Undefined: the usual form. */
  forBody?(body: unknown): Lazy<CallerFormat> | undefined;
}

const CHAT_WITH_INPUT = lazy(async () => (await import("./chat_with_input.ts")).chatWithInput);

function hasInput(body: unknown): boolean {
  return isObject(body) && Array.isArray(body.input) && (body.messages ?? null) === null;
}

export const LAZY_CALLERS: Readonly<Record<CallerFormatName, LazyCallerFormat>> = {
  chat_completions: {
    name: "chat_completions",
    encodeFailure: encodeChatFailure,
    ...present(chatCompletions),
    forBody: (body) => hasInput(body) ? CHAT_WITH_INPUT : undefined,
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
