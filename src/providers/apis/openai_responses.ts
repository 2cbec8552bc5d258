/** OpenAI's Responses API. */
import type { ToolForms } from "../../exchange/tools.ts";
import { lazy } from "../../exchange/lazy.ts";
import type { ProviderApi } from "./api.ts";
import { SERVER_SENT_EVENTS } from "./framing.ts";
import { bearer, OPENAI_MODELS } from "./openai.ts";

const OWN: ToolForms = { custom: true, namespaces: true, history: true, typed: true };
const FOREIGN: ToolForms = { custom: true, namespaces: false };

export const openaiResponsesApi: ProviderApi = {
  name: "openai-responses",
  formatName: "responses",
  format: lazy(async () => (await import("../../formats/responses/provider.ts")).responsesProvider),
  framing: SERVER_SENT_EVENTS,
  headers: {},
  needsBaseUrl: true,
  modelsList: OPENAI_MODELS,
  keyHeaders: bearer,
  address: (baseUrl) => `${baseUrl}/responses`,
  toolForms: (from) => from === "responses" ? OWN : FOREIGN,
  severalAnswers: () => false,
  compaction: lazy(async () => (await import("../../formats/responses/compaction.ts")).compaction),
};
