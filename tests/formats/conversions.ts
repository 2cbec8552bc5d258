/** A caller's request as the body that a provider gets, without a gateway between. */
import type { FormatName } from "../../src/exchange/format_name.ts";
import type { Loose } from "../../src/exchange/json.ts";
import type { Prompt } from "../../src/exchange/prompt.ts";
import { flattenTools } from "../../src/exchange/tools.ts";
import type { EncodeRequest } from "../../src/formats/format.ts";
import { CALLER_FORMATS, PROVIDER_FORMATS } from "../../src/formats/mod.ts";
import { API_OF } from "../support/apis.ts";

export type Caller = "chat_completions" | "messages" | "responses";

export const CALLERS: readonly Caller[] = ["chat_completions", "responses", "messages"];

export interface Converted {
  body: Loose;
  dropped: string[];
  headers?: Record<string, string>;
}

export function decode(caller: Caller, body: Loose, headers: Record<string, string> = {}): Prompt {
  return CALLER_FORMATS[caller].decodeRequest(body, { unseal: () => null, headers: () => ({ ...headers }) });
}

/** What is sent is compared as the provider reads it: after a trip through JSON. */
export function encode(
  prompt: Prompt,
  target: FormatName,
  model: string,
  more: Partial<EncodeRequest> = {},
): Converted {
  const { body, dropped, headers } = PROVIDER_FORMATS[target].encodeRequest(
    flattenTools(prompt, API_OF[target].toolForms(prompt.format)).prompt,
    { model, stream: prompt.stream, maxOutput: null, features: null, efforts: null, ...more },
  );
  return { body: JSON.parse(JSON.stringify(body)), dropped, ...(headers && { headers }) };
}

export function convert(
  caller: Caller,
  body: Loose,
  target: FormatName,
  model: string,
  more?: Partial<EncodeRequest>,
): Converted {
  return encode(decode(caller, { model: "acme/one", ...body }), target, model, more);
}
