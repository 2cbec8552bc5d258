/** The responses format (OpenAI Responses), for callers and for providers. */
import type { CallerFormat, ProviderFormat } from "../format.ts";
import { decodeAnswer, encodeAnswer } from "./answer.ts";
import { encodeStream } from "./encode_stream.ts";
import { encodeFailure } from "./failure.ts";
import { encodeRequest } from "./provider_request.ts";
import { decodeRequest } from "./request.ts";
import { decodeStream } from "./stream.ts";

export const responses: CallerFormat & ProviderFormat = {
  name: "responses",
  keepAlive: ": keep-alive\n\n",
  decodeRequest,
  encodeRequest,
  decodeStream,
  encodeStream,
  decodeAnswer,
  encodeAnswer,
  encodeFailure,
};
