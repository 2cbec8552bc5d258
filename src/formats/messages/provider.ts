/** The messages format for providers. */
import type { ProviderFormat } from "../format.ts";
import { decodeAnswer } from "./decode_answer.ts";
import { decodeStream } from "./decode_stream.ts";
import { encodeRequest } from "./encode_request.ts";

export const messagesProvider: ProviderFormat = {
  name: "messages",
  encodeRequest,
  decodeStream,
  decodeAnswer,
};
