/**
 * The chat-completions format, for callers and providers (`openai-chat` in the configuration): defined by
 * OpenAI, with dialects of many other providers. Dialects are recognised by the data they send, not by
 * provider.
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

/** Shared by all providers of the format. */
const known = new KnownAnswers();
/** The first answer is not remembered: remembering it would delay the first call after a start. */
let isFirst = true;

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
  learnAnswer(text, value, parts) {
    if (isFirst) isFirst = false;
    else known.learn(text, value, parts);
  },
  encodeAnswer,
  writeAnswer,
  encodeFailure,
};
