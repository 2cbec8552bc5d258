/** The messages format (Anthropic Messages), for callers and for providers (`anthropic-messages` in the configuration). */
import type { CallerFormat, ProviderFormat } from "../format.ts";
import { encodeAnswer } from "./encode_answer.ts";
import { encodeFailure } from "./failure.ts";
import { decodeAnswer } from "./decode_answer.ts";
import { decodeStream } from "./decode_stream.ts";
import { encodeRequest } from "./encode_request.ts";
import { decodeRequest } from "./decode_request.ts";
import { encodeBreak, encodeStream, KEEP_ALIVE } from "./encode_stream.ts";

export const messages: CallerFormat & ProviderFormat = {
  name: "messages",
  keepAlive: KEEP_ALIVE,
  decodeRequest,
  encodeStream,
  encodeBreak,
  encodeAnswer,
  encodeFailure,
  encodeRequest,
  decodeStream,
  decodeAnswer,
};
