/** The responses format (OpenAI Responses), for callers and for providers. */
import type { CallerFormat, ProviderFormat } from "../format.ts";
import { decodeAnswer } from "./decode_answer.ts";
import { encodeAnswer } from "./encode_answer.ts";
import { encodeBreak, encodeStream } from "./encode_stream.ts";
import { encodeFailure } from "./failure.ts";
import { encodeRequest } from "./encode_request.ts";
import { decodeRequest } from "./decode_request.ts";
import { decodeStream } from "./decode_stream.ts";

export const responses: CallerFormat & ProviderFormat = {
  name: "responses",
  keepAlive: ": keep-alive\n\n",
  decodeRequest,
  encodeRequest,
  decodeStream,
  encodeStream,
  encodeBreak,
  decodeAnswer,
  encodeAnswer,
  encodeFailure,
};
