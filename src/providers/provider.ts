/** Providers as the configuration names them, and the address of each API's generation call. */
import type { FormatName } from "../exchange/prompt.ts";
import type { BreakerSettings } from "./breaker.ts";

/** `demo` is the provider inside the process; it speaks chat-completions. */
export type ProviderApi = "openai-chat" | "openai-responses" | "anthropic-messages" | "gemini" | "demo";

export interface Provider {
  name: string;
  api: ProviderApi;
  /** With the version, without a slash at the end. */
  baseUrl: string;
  apiKey: string;
  /** Added to every request. */
  headers: Readonly<Record<string, string>>;
  /** Longest wait for the first byte of an answer. */
  firstByteMs: number;
  /** Longest silence within an answer. */
  idleMs: number;
  /** Further tries of one route, before its first byte only. */
  retries: number;
  breaker: BreakerSettings;
  /** Calls under way at once; null: as many as come. */
  maxConcurrent: number | null;
}

/** Where a model can be had. `model` is the provider's own name for it. */
export interface Route {
  provider: string;
  model: string;
  /** Null: tried strictly in order. Neighbours with a weight share the load by it. */
  weight: number | null;
}

export const FORMAT_OF_API: Readonly<Record<ProviderApi, FormatName>> = {
  "openai-chat": "chat_completions",
  "openai-responses": "responses",
  "anthropic-messages": "messages",
  "gemini": "gemini",
  "demo": "chat_completions",
};

/** The version of the messages API that this gateway speaks; sent when the caller named none. */
const ANTHROPIC_VERSION = "2023-06-01";

/** Address of one generation call. */
export function address(provider: Provider, model: string, stream: boolean): string {
  switch (provider.api) {
    case "openai-chat":
    case "demo":
      return `${provider.baseUrl}/chat/completions`;
    case "openai-responses":
      return `${provider.baseUrl}/responses`;
    case "anthropic-messages":
      return `${provider.baseUrl}/messages`;
    case "gemini": {
      const name = model.startsWith("models/") || model.startsWith("tunedModels/")
        ? model
        : `models/${model}`;
      return `${provider.baseUrl}/${name}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`;
    }
  }
}

/** Headers of every call: content type, credentials in the API's own place, and what the operator added. */
export function standingHeaders(provider: Provider): Record<string, string> {
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (provider.apiKey !== "") {
    if (provider.api === "anthropic-messages") headers["x-api-key"] = provider.apiKey;
    else if (provider.api === "gemini") headers["x-goog-api-key"] = provider.apiKey;
    else headers["authorization"] = `Bearer ${provider.apiKey}`;
  }
  if (provider.api === "anthropic-messages") headers["anthropic-version"] = ANTHROPIC_VERSION;
  for (const [name, value] of Object.entries(provider.headers)) headers[name.toLowerCase()] = value;
  return headers;
}
