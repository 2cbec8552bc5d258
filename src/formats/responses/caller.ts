/** The responses format for callers. */
import type { CallerFormat } from "../format.ts";
import { decodeRequest } from "./decode_request.ts";
import { encodeAnswer } from "./encode_answer.ts";
import { encodeBreak, encodeStream } from "./encode_stream.ts";
import { encodeFailure } from "./failure.ts";
import { LEAVES } from "./leaves.ts";
import { withSummaries } from "./summaries.ts";

export const responsesCaller: CallerFormat = {
  name: "responses",
  keepAlive: ": keep-alive\n\n",
  leaves: LEAVES,
  unsealBody: withSummaries,
  decodeRequest,
  encodeStream,
  encodeBreak,
  encodeAnswer,
  encodeFailure,
};
