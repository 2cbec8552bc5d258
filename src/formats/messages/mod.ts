/** The messages format (Anthropic Messages), for callers and for providers (`anthropic-messages` in the configuration). */
import type { CallerFormat, ProviderFormat } from "../format.ts";
import { encodeAnswer } from "./answer.ts";
import { encodeFailure } from "./failure.ts";
import { decodeAnswer, decodeStream } from "./provider_stream.ts";
import { encodeRequest } from "./provider_request.ts";
import { decodeRequest } from "./request.ts";
import { encodeStream, KEEP_ALIVE } from "./stream.ts";

export const messages: CallerFormat & ProviderFormat = {
  name: "messages",
  keepAlive: KEEP_ALIVE,
  decodeRequest,
  encodeStream,
  encodeAnswer,
  encodeFailure,
  encodeRequest,
  decodeStream,
  decodeAnswer,
};
