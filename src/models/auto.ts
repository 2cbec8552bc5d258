/**
 * `svc/auto`: chooses one of the configured models for a request.
 *
 * Candidates are the models that the key may use and that fit the request. The difficulty of the
 * conversation's first question is weighed against price. The first question is the same for the whole
 * conversation, so every turn is sent to the same model, its prompt cache can be used, on every node, and no
 * state is needed.
 */
import { contextOverflow } from "../exchange/context_overflow.ts";
import { Failure, type FailureCode } from "../exchange/failure.ts";
import { type Content, marksCache, type Prompt } from "../exchange/prompt.ts";
import { chooseByQuality, difficulty } from "./autoroute/predict.ts";
import { AUTO, type Catalog, choicesOf, type Model, type ModelAccess } from "./catalog.ts";
import { leastTokens, type PromptSize } from "./limits.ts";

export interface AutoSettings {
  models: readonly string[];
  /** 0: cheapest, 1: best. */
  quality: number;
}

export interface Chosen {
  model: Model;
  /** For `x-svc-route`: the model, and the reason in a few tokens. */
  route: string;
}

export interface AutoRequest {
  prompt: Prompt;
  size: PromptSize;
  access: ModelAccess;
  /** The request uses web search. */
  searches: boolean;
  /** The key's spending is limited: models without a price are excluded. */
  limited?: boolean;
  /** Whether some route of a model is available. */
  healthy(model: Model): boolean;
}

export type AutoRouter = (request: AutoRequest) => Chosen;

/** Output tokens per input token assumed in the comparison of prices, as in typical chats. */
const OUTPUT_SHARE = 0.3;

/**
 * The router of `svc/auto`, which chooses by the difficulty of the prompt. Throws `model_not_found` if none
 * of its models is visible to the key, and `policy_violation` if the access policy allows none of them, or
 * forbids `svc/auto` itself.
 */
export function openAuto(settings: AutoSettings, catalog: Catalog): AutoRouter {
  const all = settings.models.map((id) => catalog.find(id)).filter((m) => m !== undefined);
  // Warm-up: the first call compiles the code, which should not delay a request.
  difficulty("");
  return ({ prompt, size, access, searches, limited, healthy }) => {
    const permitted = choicesOf(all, access, { limited });
    const question = firstQuestion(prompt);
    if (question === "") throw refusal("auto_routing_missing_context", "there is no user text to judge");

    const able = permitted.filter((m) => healthy(m) && canAnswer(m, prompt, searches));
    if (able.length === 0) {
      throw refusal(
        "auto_routing_no_match",
        "no model of this key fits what the request needs and is in service",
      );
    }
    const roomy = able.filter((m) => hasRoom(m, prompt, size));
    if (roomy.length === 0) {
      const limit = Math.max(...able.map((m) => m.contextLength ?? 0));
      throw contextOverflow({ tokens: leastTokens(size), limit }, "auto_routing_request_too_large");
    }
    const caching = marksCache(prompt) ? roomy.filter((m) => m.features.has("prompt_caching")) : roomy;
    if (caching.length === 0) {
      throw refusal(
        "auto_routing_caching_unavailable",
        "the request marks a prompt cache and no model that fits has one",
      );
    }
    const thinking = wantsReasoning(prompt) ? caching.filter((m) => m.features.has("reasoning")) : [];
    const candidates = thinking.length > 0 ? thinking : caching;

    const { id, reason } = chooseByQuality(
      candidates.map((m) => ({ id: m.id, price: priceOf(m) })),
      difficulty(question),
      settings.quality,
    );
    return { model: catalog.find(id)!, route: `${id} ${reason},of:${candidates.length}` };
  };
}

function refusal(code: FailureCode, why: string): Failure {
  return new Failure(code, `Cannot choose a model for ${AUTO}: ${why}.`, { param: "model" });
}

/** Text of the user turns before the first answer. */
function firstQuestion(prompt: Prompt): string {
  const texts: string[] = [];
  for (const turn of prompt.turns) {
    if (turn.role === "assistant" && texts.length > 0) break;
    if (turn.role !== "user") continue;
    for (const c of turn.content) {
      if (c.type === "text" && c.text.trim() !== "") texts.push(c.text);
      else if (c.type === "document" && c.source.kind === "text") texts.push(c.source.text);
    }
  }
  return texts.join("\n");
}

function canAnswer(model: Model, prompt: Prompt, searches: boolean): boolean {
  const { features } = model;
  if ((searches || prompt.tools.length > 0) && !features.has("tools")) return false;
  if (prompt.output?.type === "schema" && !features.has("structured_outputs")) return false;
  if (
    prompt.output?.type === "json" && !(features.has("response_format") || features.has("structured_outputs"))
  ) {
    return false;
  }
  if (prompt.modalities?.some((m) => !model.outputs.includes(m))) return false;
  return prompt.turns.every((turn) => turn.content.every((c) => takes(model, c)));
}

function takes(model: Model, c: Content): boolean {
  switch (c.type) {
    case "image":
    case "audio":
    case "video":
      return model.inputs.includes(c.type);
    case "document":
      return c.source.kind === "text" || model.inputs.includes("file");
    case "call":
      // Models without tools cannot read what tools were called, either.
      return model.features.has("tools");
    case "result":
      return model.features.has("tools") && c.content.every((inner) => takes(model, inner));
    default:
      return true;
  }
}

function hasRoom(model: Model, prompt: Prompt, size: PromptSize): boolean {
  if (model.contextLength === null) return true;
  const output = Math.min(prompt.maxOutput ?? 0, model.maxCompletion ?? Infinity);
  return leastTokens(size) + output <= model.contextLength;
}

function wantsReasoning(prompt: Prompt): boolean {
  const reasoning = prompt.reasoning;
  return reasoning !== undefined && reasoning.mode !== "off" && reasoning.effort !== "none" &&
    (reasoning.mode !== undefined || reasoning.effort !== undefined || reasoning.budget !== undefined);
}

function priceOf(model: Model): number {
  return Number(model.pricing.prompt ?? 0) + OUTPUT_SHARE * Number(model.pricing.completion ?? 0);
}
