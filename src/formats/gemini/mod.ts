/** Google's `generateContent`, for providers only. */
import type { ProviderFormat } from "../format.ts";
import { decodeAnswer } from "./decode_answer.ts";
import { encodeRequest } from "./encode_request.ts";
import { decodeStream } from "./decode_stream.ts";

export const gemini: ProviderFormat = { name: "gemini", encodeRequest, decodeStream, decodeAnswer };
