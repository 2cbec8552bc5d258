/** Anthropic's Messages API. */
import { number, object, string } from "../../exchange/json.ts";
import type { ToolForms } from "../../exchange/tools.ts";
import { hasPlainArguments } from "../../formats/schemas/object_schema.ts";
import { lazy } from "../../exchange/lazy.ts";
import type { ListedModel, ModelsList, ProviderApi } from "./api.ts";
import { SERVER_SENT_EVENTS } from "./framing.ts";

const OWN: ToolForms = { custom: false, namespaces: false, history: true, typed: true };
const FUNCTIONS: ToolForms = { custom: false, namespaces: false, accepts: hasPlainArguments };

/**
 * Pages of at most 1,000 entries; `after_id` is the last id of the previous page. `max_tokens` is the output
 * limit.
 */
const MODELS: ModelsList = {
  path: (page) => `/models?limit=1000${page === null ? "" : `&after_id=${encodeURIComponent(page)}`}`,
  read(body) {
    const { data, has_more, last_id } = object(body);
    if (!Array.isArray(data)) return null;
    const models = data.map(object).flatMap((m) => {
      const id = string(m.id);
      if (id === undefined || id === "") return [];
      const contextLength = number(m.max_input_tokens);
      const maxCompletion = number(m.max_tokens);
      const listed: ListedModel = {
        id,
        ...(contextLength !== undefined && { contextLength }),
        ...(maxCompletion !== undefined && { maxCompletion }),
      };
      return [listed];
    });
    return { models, next: has_more === true ? string(last_id) ?? null : null };
  },
};

export const anthropicMessagesApi: ProviderApi = {
  name: "anthropic-messages",
  formatName: "messages",
  format: lazy(async () => (await import("../../formats/messages/provider.ts")).messagesProvider),
  framing: SERVER_SENT_EVENTS,
  // Required by the API on every request.
  headers: { "anthropic-version": "2023-06-01" },
  versionHeader: "anthropic-version",
  readsBillingNote: true,
  needsBaseUrl: true,
  modelsList: MODELS,
  keyHeaders: (key) => ({ "x-api-key": key }),
  address: (baseUrl) => `${baseUrl}/messages`,
  toolForms: (from) => from === "messages" ? OWN : FUNCTIONS,
  severalAnswers: () => false,
};
