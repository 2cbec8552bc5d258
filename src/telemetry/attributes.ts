/**
 * Attributes in the names of OpenTelemetry's conventions (general 1.44, generative AI as of November 2026). None is text of a
 * conversation, a secret, or a name that callers choose freely.
 */
import type { Attributes } from "@opentelemetry/api";
import type { FinishReason } from "../exchange/part.ts";
import type { Usage } from "../exchange/usage.ts";
import type { Door } from "../providers/provider.ts";

/** A whole number. Deno exports a number as a double. */
export const int = (value: number): number => BigInt(Math.round(value)) as unknown as number;

/** By preset: the conventions' names of providers. */
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
/** Of other providers: whose API it is. */
const OF_API: Readonly<Record<string, string>> = {
  "anthropic-messages": "anthropic",
  "bedrock-converse": "aws.bedrock",
  gemini: "gcp.gemini",
  "openai-chat": "openai",
  "openai-responses": "openai",
};

export function providerName({ provider, api }: Door): string {
  return OF_PRESET[provider.preset ?? ""] ?? provider.preset ?? OF_API[api.name] ?? provider.name;
}

/** Where the provider is called. Empty: nowhere outside of this process. */
export function serverOf({ provider }: Door): Attributes {
  if (provider.baseUrl === "") return {};
  const { protocol, hostname, port } = new URL(provider.baseUrl);
  const usual = protocol === "http:" ? 80 : 443;
  return {
    "server.address": hostname.replace(/^\[|\]$/g, ""),
    "server.port": int(port === "" ? usual : Number(port)),
  };
}

const REASONS: Readonly<Partial<Record<FinishReason, string>>> = {
  "tool-calls": "tool_calls",
  "stop-sequence": "stop",
  "content-filter": "content_filter",
};

export const reasonName = (reason: FinishReason): string => REASONS[reason] ?? reason;

export function usageAttributes(usage: Usage): Attributes {
  const attributes: Attributes = {
    "gen_ai.usage.input_tokens": int(usage.input),
    "gen_ai.usage.output_tokens": int(usage.output),
  };
  if (usage.cached > 0) attributes["gen_ai.usage.cache_read.input_tokens"] = int(usage.cached);
  if (usage.cacheWrite > 0) attributes["gen_ai.usage.cache_write.input_tokens"] = int(usage.cacheWrite);
  if (usage.reasoning > 0) attributes["gen_ai.usage.reasoning.output_tokens"] = int(usage.reasoning);
  return attributes;
}
