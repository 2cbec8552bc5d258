/**
 * The list of provider APIs. The configuration's values of `api`, and everything else per API, are derived
 * from it.
 */
import { anthropicMessagesApi } from "./anthropic_messages.ts";
import type { ProviderApi } from "./api.ts";
import { bedrockConverseApi } from "./bedrock_converse.ts";
import { demoApi } from "./demo.ts";
import { geminiApi } from "./gemini.ts";
import { openaiChatApi } from "./openai_chat.ts";
import { openaiResponsesApi } from "./openai_responses.ts";

export type { ListedModel, ModelsList, ProviderApi } from "./api.ts";

export const PROVIDER_APIS: readonly ProviderApi[] = [
  openaiChatApi,
  openaiResponsesApi,
  anthropicMessagesApi,
  geminiApi,
  bedrockConverseApi,
  demoApi,
];

const byName = new Map(PROVIDER_APIS.map((api) => [api.name, api]));

/** Names in the order of the list. */
export const API_NAMES: readonly string[] = [...byName.keys()];

/** Throws for an unknown name: the configuration has been validated before. */
export function apiNamed(name: string): ProviderApi {
  const api = byName.get(name);
  if (api === undefined) {
    throw new Error(`no provider API has the name ${name}; there are ${API_NAMES.join(", ")}`);
  }
  return api;
}
