/** Amazon Bedrock's Converse, for providers only. */
import type { ProviderFormat } from "../format.ts";
import { decodeAnswer } from "./decode_answer.ts";
import { decodeStream } from "./decode_stream.ts";
import { encodeRequest } from "./encode_request.ts";

export const converse: ProviderFormat = { name: "converse", encodeRequest, decodeStream, decodeAnswer };
