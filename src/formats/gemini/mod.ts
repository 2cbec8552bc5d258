/** Google's `generateContent`, the provider's side: callers do not speak it here. */
import type { ProviderFormat } from "../format.ts";
import { decodeAnswer } from "./answer.ts";
import { encodeRequest } from "./request.ts";
import { decodeStream } from "./stream.ts";

export const gemini: ProviderFormat = { name: "gemini", encodeRequest, decodeStream, decodeAnswer };
