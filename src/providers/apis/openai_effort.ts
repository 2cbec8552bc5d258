/**
 * OpenAI's own chat-completions endpoint rejects functions together with reasoning, from GPT-5.4 on; the
 * responses API accepts both. Reasoning is switched off then, since the tools cannot be left out.
 *
 * Source: the errors of its API ("Function tools with reasoning_effort are not supported for gpt-5.6 in
 * /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'"), which
 * GPT-5.6 also returns if the request has no effort, because of its default. Servers of others, such as
 * OpenRouter, do not have this limit.
 */
import { array, object } from "../../exchange/json.ts";
import { fieldName } from "../../formats/dropped/field_names.ts";
import { openaiReasoning } from "../../formats/restrictions/refused_parameters.ts";
import type { ProviderApi } from "./api.ts";

const FIRST = 5.4;
/** Reasons by default. */
const FIRST_BY_DEFAULT = 5.6;

const HOST = /(?:^|\.)(?:api\.openai\.com|openai\.azure\.com|services\.ai\.azure\.com)$/;

export function isOpenAi(preset: string | null, baseUrl: string): boolean {
  return preset === "openai" ||
    (preset === null && URL.canParse(baseUrl) && HOST.test(new URL(baseUrl).hostname));
}

/** @param api chat-completions */
export function withoutEffortBesideTools(api: ProviderApi): ProviderApi {
  return {
    ...api,
    vendorsOwn: true,
    finish: (request, model, prompt) => {
      const { body } = request;
      const generation = openaiReasoning(model) ?? 0;
      const effort = body.reasoning_effort ?? undefined;
      if (generation < FIRST || effort === "none") return request;
      if (effort === undefined && generation < FIRST_BY_DEFAULT) return request;
      if (!array(body.tools).some((tool) => object(tool).type === "function")) return request;
      body.reasoning_effort = "none";
      if (effort === undefined) return request;
      return { ...request, dropped: [...new Set([...request.dropped, fieldName("reasoning", prompt)])] };
    },
  };
}
