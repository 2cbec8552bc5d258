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
import { KnownAnswers } from "./read_answer.ts";
import { writeAnswer } from "./write_answer.ts";

/** Of all providers of the format. */
const known = new KnownAnswers();

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
  readAnswer: (text) => known.read(text),
  learnAnswer: (text, value, parts) => known.learn(text, value, parts),
  encodeAnswer,
  writeAnswer,
  encodeFailure,
};
