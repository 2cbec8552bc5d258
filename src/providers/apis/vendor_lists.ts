/** Model lists of vendors with an OpenAI-compatible API and a list at another URL. */
import { array, number, object, string } from "../../exchange/json.ts";
import type { ModelsList } from "./api.ts";
import { OPENAI_MODELS } from "./openai.ts";

/** GitHub's catalog has another path than the calls, and its sizes are in a nested object. */
export const GITHUB_LIST: ModelsList = {
  origin: (baseUrl) => baseUrl.replace(/\/(?:orgs\/[^/]+\/)?inference$/, ""),
  path: () => "/catalog/models",
  read(body) {
    if (!Array.isArray(body)) return null;
    return OPENAI_MODELS.read(
      body.map(object).map(({ limits, ...model }) => {
        const { max_input_tokens, max_output_tokens } = object(limits);
        return { ...model, context_length: max_input_tokens, max_completion_tokens: max_output_tokens };
      }),
    );
  },
};

/** Cohere's own list, beside its OpenAI-compatible API. */
export const COHERE_LIST: ModelsList = {
  origin: (baseUrl) => baseUrl.replace(/\/compatibility(?=\/v1$)/, ""),
  path: (page) =>
    `/models?endpoint=chat&page_size=1000${page === null ? "" : `&page_token=${encodeURIComponent(page)}`}`,
  read(body) {
    const { models, next_page_token: next } = object(body);
    // Another base URL may belong to a server with OpenAI's list.
    if (!Array.isArray(models)) return OPENAI_MODELS.read(body);
    const named = models.map(object).filter(({ endpoints, is_deprecated: deprecated }) =>
      (!Array.isArray(endpoints) || endpoints.includes("chat")) && deprecated !== true
    ).map(({ name, context_length }) => ({ id: name, context_length }));
    return { models: OPENAI_MODELS.read(named)!.models, next: string(next) || null };
  },
};

/** Databricks' base paths. */
const DATABRICKS = /\/(?:ai-gateway\/mlflow\/v1|serving-endpoints)$/;

/** Databricks lists all endpoints; `task` distinguishes chat models. */
export const DATABRICKS_LIST: ModelsList = {
  origin: (baseUrl) =>
    DATABRICKS.test(baseUrl)
      ? baseUrl.replace(DATABRICKS, "/api/2.0/serving-endpoints")
      : `${baseUrl}/models`,
  path: () => "",
  read(body) {
    const { endpoints } = object(body);
    if (!Array.isArray(endpoints)) return OPENAI_MODELS.read(body);
    const ready = endpoints.map(object).filter(({ task, state }) =>
      task === "llm/v1/chat" && object(state).ready !== "NOT_READY"
    );
    return { models: OPENAI_MODELS.read(ready.map(({ name }) => ({ id: name })))!.models, next: null };
  },
};

/** Entries per page of Cloudflare's list. */
const PAGE = 100;

/**
 * Cloudflare's search beside `/v1`. It includes embedding, image and transcription models, distinguished by
 * their task.
 */
export const CLOUDFLARE_LIST: ModelsList = {
  origin: (baseUrl) => baseUrl.replace(/\/v1$/, ""),
  path: (page) => `/models/search?per_page=${PAGE}&page=${page ?? 1}`,
  read(body, page) {
    const { result } = object(body);
    if (!Array.isArray(result)) return null;
    const models = result.map(object).flatMap(({ name, task, properties }) => {
      const id = string(name);
      const what = string(object(task).name) ?? "Text Generation";
      if (id === undefined || id === "" || what !== "Text Generation") return [];
      const size = array(properties).map(object).find((one) => one.property_id === "context_window")?.value;
      const contextLength = number(Number(size ?? NaN));
      return [{ id, ...(contextLength !== undefined && { contextLength }) }];
    });
    return { models, next: result.length < PAGE ? null : String(Number(page ?? 1) + 1) };
  },
};
