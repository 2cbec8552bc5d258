/** Google's Gemini API: model and streaming mode are part of the URL. */
import { array, number, object, string } from "../../exchange/json.ts";
import type { ToolForms } from "../../exchange/tools.ts";
import { lazy } from "../../exchange/lazy.ts";
import { MOST_CANDIDATES } from "../../formats/restrictions/ranges.ts";
import type { ListedModel, ModelsList, ProviderApi } from "./api.ts";
import { SERVER_SENT_EVENTS } from "./framing.ts";

const FUNCTIONS: ToolForms = { custom: false, namespaces: false, letterFirst: true };

/**
 * Pages of at most 1,000 entries. The list includes embedding models, distinguished by their methods. Names
 * start with `models/`.
 */
const MODELS: ModelsList = {
  path: (page) => `/models?pageSize=1000${page === null ? "" : `&pageToken=${encodeURIComponent(page)}`}`,
  read(body) {
    const { models: data, nextPageToken } = object(body);
    // An empty last page is an empty object.
    if (!Array.isArray(data) && JSON.stringify(body) !== "{}") return null;
    const models = array(data).map(object).flatMap((m) => {
      const id = string(m.name)?.replace(/^models\//, "");
      const methods = m.supportedGenerationMethods;
      const generates = !Array.isArray(methods) || methods.includes("generateContent");
      if (id === undefined || id === "" || !generates) return [];
      const contextLength = number(m.inputTokenLimit);
      const maxCompletion = number(m.outputTokenLimit);
      const listed: ListedModel = {
        id,
        ...(contextLength !== undefined && { contextLength }),
        ...(maxCompletion !== undefined && { maxCompletion }),
      };
      return [listed];
    });
    return { models, next: string(nextPageToken) || null };
  },
};

export const geminiApi: ProviderApi = {
  name: "gemini",
  formatName: "gemini",
  format: lazy(async () => (await import("../../formats/gemini/mod.ts")).gemini),
  framing: SERVER_SENT_EVENTS,
  headers: {},
  needsBaseUrl: true,
  modelsList: MODELS,
  keyHeaders: (key) => ({ "x-goog-api-key": key }),
  address(baseUrl, model, stream) {
    const name = model.startsWith("models/") || model.startsWith("tunedModels/") ? model : `models/${model}`;
    return `${baseUrl}/${name}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`;
  },
  toolForms: () => FUNCTIONS,
  // `candidateCount` above one is rejected for streams.
  severalAnswers: (stream, n) => !stream && n <= MOST_CANDIDATES,
};
