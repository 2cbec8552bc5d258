/** The messages format for callers. */
import type { CallerFormat } from "../format.ts";
import { decodeRequest } from "./decode_request.ts";
import { encodeAnswer } from "./encode_answer.ts";
import { encodeStream, KEEP_ALIVE } from "./encode_stream.ts";
import { encodeBreak, encodeFailure } from "./failure.ts";
import { LEAVES } from "./leaves.ts";
import { writeAnswer } from "./write_answer.ts";

export const messagesCaller: CallerFormat = {
  name: "messages",
  keepAlive: KEEP_ALIVE,
  leaves: LEAVES,
  decodeRequest,
  encodeStream,
  encodeBreak,
  encodeAnswer,
  writeAnswer,
  encodeFailure,
};
