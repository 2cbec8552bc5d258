/**
 * Attributes named by OpenTelemetry's semantic conventions (general 1.44, generative AI as of November 2026).
 * They never contain text of a conversation, secrets, or names that callers choose freely.
 */
import type { FinishReason } from "../exchange/part.ts";
import type { Usage } from "../exchange/usage.ts";
import type { Upstream } from "../providers/provider.ts";
import { type AttributeWriter, FixedAttributes } from "./otlp/attributes.ts";

/** Provider names of the conventions, by preset. */
const OF_PRESET: Readonly<Record<string, string>> = {
  anthropic: "anthropic",
  azure: "azure.ai.openai",
  bedrock: "aws.bedrock",
  "bedrock-mantle": "aws.bedrock",
  cohere: "cohere",
  deepseek: "deepseek",
  google: "gcp.gemini",
  groq: "groq",
  mistral: "mistral_ai",
  moonshot: "moonshot_ai",
  openai: "openai",
  perplexity: "perplexity",
  vertex: "gcp.vertex_ai",
  xai: "x_ai",
};
/** Provider names of the conventions by API, for providers without a preset. */
const OF_API: Readonly<Record<string, string>> = {
  "anthropic-messages": "anthropic",
  "bedrock-converse": "aws.bedrock",
  gemini: "gcp.gemini",
  "openai-chat": "openai",
  "openai-responses": "openai",
};

/** The name of a provider in the semantic conventions (`gen_ai.provider.name`). */
export function providerName({ provider, api }: Upstream): string {
  return OF_PRESET[provider.preset ?? ""] ?? provider.preset ?? OF_API[api.name] ?? provider.name;
}

/** Host and port of the provider. Empty: the provider runs in this process. */
export function serverOf({ provider }: Upstream): Record<string, string | number> {
  if (provider.baseUrl === "") return {};
  const { protocol, hostname, port } = new URL(provider.baseUrl);
  const usual = protocol === "http:" ? 80 : 443;
  return {
    "server.address": hostname.replace(/^\[|\]$/g, ""),
    "server.port": port === "" ? usual : Number(port),
  };
}

const REASONS: Readonly<Partial<Record<FinishReason, string>>> = {
  "tool-calls": "tool_calls",
  "stop-sequence": "stop",
  "content-filter": "content_filter",
};

export const reasonName = (reason: FinishReason): string => REASONS[reason] ?? reason;

const REASON_LISTS = new Map<string, FixedAttributes>();

/** @param reasons null: the call failed or was interrupted before there was a reason */
export function writeReasons(to: AttributeWriter, reasons: readonly string[] | null): void {
  if (reasons !== null && reasons.length > 1) return to.texts("gen_ai.response.finish_reasons", reasons);
  const only = reasons === null ? "error" : reasons[0];
  let list = REASON_LISTS.get(only);
  if (list === undefined) {
    list = new FixedAttributes((to) => to.texts("gen_ai.response.finish_reasons", [only]));
    REASON_LISTS.set(only, list);
  }
  to.fixed(list);
}

/** Writes the token counts of a call. Other counts than those of input and output are omitted if zero. */
export function writeUsage(to: AttributeWriter, usage: Usage): void {
  to.int("gen_ai.usage.input_tokens", usage.input);
  to.int("gen_ai.usage.output_tokens", usage.output);
  if (usage.cached > 0) to.int("gen_ai.usage.cache_read.input_tokens", usage.cached);
  if (usage.cacheWrite > 0) to.int("gen_ai.usage.cache_write.input_tokens", usage.cacheWrite);
  if (usage.reasoning > 0) to.int("gen_ai.usage.reasoning.output_tokens", usage.reasoning);
  if (usage.audioInput > 0) to.int("gen_ai.usage.audio.input_tokens", usage.audioInput);
  if (usage.imageInput > 0) to.int("gen_ai.usage.image.input_tokens", usage.imageInput);
  if (usage.audioOutput > 0) to.int("gen_ai.usage.audio.output_tokens", usage.audioOutput);
  if (usage.imageOutput > 0) to.int("gen_ai.usage.image.output_tokens", usage.imageOutput);
}
