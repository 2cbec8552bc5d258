/** The responses format for providers. */
import type { ProviderFormat } from "../format.ts";
import { decodeAnswer } from "./decode_answer.ts";
import { decodeStream } from "./decode_stream.ts";
import { encodeRequest } from "./encode_request.ts";

export const responsesProvider: ProviderFormat = {
  name: "responses",
  encodeRequest,
  decodeStream,
  decodeAnswer,
};
