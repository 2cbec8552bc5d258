/**
 * Decodes `usageMetadata` to canonical counts.
 *
 * | canonical   | Gemini                                                                              |
 * |-------------|-------------------------------------------------------------------------------------|
 * | input       | promptTokenCount (includes the cached part) + toolUsePromptTokenCount (input of provider tools) |
 * | cached      | cachedContentTokenCount                                                             |
 * | cacheWrite  | never reported                                                                      |
 * | audioInput, imageInput, videoInput | promptTokensDetails + toolUsePromptTokensDetails, by modality, without cacheTokensDetails: these are billed as cached |
 * | output      | candidatesTokenCount + thoughtsTokenCount (the first does not include the second)   |
 * | reasoning   | thoughtsTokenCount                                                                  |
 * | audioOutput, imageOutput | candidatesTokensDetails, by modality                                   |
 * | searches    | never reported: the queries in `groundingMetadata`, see citations.ts; at most 1 before Gemini 3 |
 *
 * A stream repeats the object in every chunk with cumulative counts, and omits fields in some of them: the
 * last value of each field counts. Some chunks contain only `trafficType`.
 */
import { array, isObject, type Loose, string } from "../../exchange/json.ts";
import { count, normalizeUsage, type Usage } from "../../exchange/usage.ts";

/** Updates the counts field by field with those of a chunk. */
export function mergeUsage(sofar: Loose, chunk: unknown): void {
  if (!isObject(chunk)) return;
  for (const field of COUNTS) {
    if (chunk[field] !== undefined && chunk[field] !== null) sofar[field] = chunk[field];
  }
  for (const field of DETAILS) if (Array.isArray(chunk[field])) sofar[field] = chunk[field];
  for (const field of SERVICE) if (typeof chunk[field] === "string") sofar[field] = chunk[field];
}

/** `flex` and `priority` from Google's names; Vertex uses `ON_DEMAND_FLEX`. */
export function serviceOf(metadata: Loose): string | undefined {
  const said = SERVICE.flatMap((field) => string(metadata[field]) ?? []).filter((name) =>
    !UNSPECIFIED.test(name)
  );
  if (said.length === 0) return undefined;
  const special = said.map((name) => SPECIAL.exec(name)?.[1]).find((name) => name !== undefined);
  return special?.toLowerCase() ?? "standard";
}

const SPECIAL = /(?:^|_)(flex|priority|batch|offpeak)$/i;
const UNSPECIFIED = /^$|unspecified$/i;

/** Null: no counts. */
export function decodeUsage(metadata: Loose): Usage | null {
  if (!COUNTS.some((field) => field in metadata)) return null;
  const thoughts = count(metadata.thoughtsTokenCount);
  const read = [...array(metadata.promptTokensDetails), ...array(metadata.toolUsePromptTokensDetails)];
  const kept = array(metadata.cacheTokensDetails);
  const written = array(metadata.candidatesTokensDetails);
  return normalizeUsage({
    input: count(metadata.promptTokenCount) + count(metadata.toolUsePromptTokenCount),
    cached: count(metadata.cachedContentTokenCount),
    audioInput: ofModality(read, "AUDIO") - ofModality(kept, "AUDIO"),
    imageInput: ofModality(read, "IMAGE") - ofModality(kept, "IMAGE"),
    videoInput: ofModality(read, "VIDEO") - ofModality(kept, "VIDEO"),
    output: count(metadata.candidatesTokenCount) + thoughts,
    reasoning: thoughts,
    audioOutput: ofModality(written, "AUDIO"),
    imageOutput: ofModality(written, "IMAGE"),
  });
}

/** The fields that make up input and output. */
export const TOTALS = [
  "promptTokenCount",
  "candidatesTokenCount",
  "thoughtsTokenCount",
  "toolUsePromptTokenCount",
];
const COUNTS = [...TOTALS, "cachedContentTokenCount"];
const SERVICE = ["serviceTier", "trafficType"];
const DETAILS = [
  "promptTokensDetails",
  "toolUsePromptTokensDetails",
  "cacheTokensDetails",
  "candidatesTokensDetails",
];

/** gRPC gateways send the enum's numbers. */
const MODALITY_NUMBERS: Readonly<Record<string, number>> = { IMAGE: 2, VIDEO: 3, AUDIO: 4 };

function ofModality(details: readonly unknown[], modality: string): number {
  let sum = 0;
  for (const d of details) {
    if (isObject(d) && (d.modality === modality || d.modality === MODALITY_NUMBERS[modality])) {
      sum += count(d.tokenCount);
    }
  }
  return sum;
}
