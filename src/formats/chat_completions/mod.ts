/**
 * The chat-completions format, for callers and for providers (`openai-chat` in the configuration): what OpenAI defined and
 * some dozens of providers speak in dialects. Dialects are told apart by what they send, never by who they are.
 */
import type { CallerFormat, ProviderFormat } from "../format.ts";
import { decodeAnswer } from "./decode_answer.ts";
import { encodeAnswer } from "./encode_answer.ts";
import { encodeBreak, encodeStream } from "./encode_stream.ts";
import { encodeHeld } from "./encode_held.ts";
import { encodeFailure } from "./failure.ts";
import { decodeRequest } from "./decode_request.ts";
import { encodeRequest } from "./encode_request.ts";
import { decodeStream } from "./decode_stream.ts";
import { LEAVES } from "./leaves.ts";

export const chatCompletions: CallerFormat & ProviderFormat = {
  name: "chat_completions",
  keepAlive: ": keep-alive\n\n",
  leaves: LEAVES,
  decodeRequest,
  encodeRequest,
  decodeStream,
  encodeStream,
  encodeHeld,
  encodeBreak,
  decodeAnswer,
  encodeAnswer,
  encodeFailure,
};
