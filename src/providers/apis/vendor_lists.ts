/** Lists of models of vendors that speak OpenAI's API, and have no list at its place. */
import { array, number, object, string } from "../../exchange/json.ts";
import type { ModelsList } from "./api.ts";
import { OPENAI_MODELS } from "./openai.ts";

/** GitHub's catalog stands beside the address of calls, and tells sizes in an object of their own. */
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

/** Entries of one page of Cloudflare's list. */
const PAGE = 100;

/** Cloudflare's search stands beside `/v1`. It also finds models that embed, draw and transcribe; their task tells. */
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
