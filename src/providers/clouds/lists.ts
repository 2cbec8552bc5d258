/** Model lists of clouds. Azure lists models that can be deployed, not those that are. */
import { array, object, string } from "../../exchange/json.ts";
import type { ListedModel, ModelsList } from "../apis/mod.ts";
import { segment } from "./cloud.ts";

/**
 * Bedrock: first the models callable by their own ids, then inference profiles, which the other models
 * require. Both are on the host of the control plane. A VPC endpoint belongs to one service, so the public
 * host name of the other service is used, which resolves to its VPC endpoint if there is one.
 */
export const BEDROCK_LIST: ModelsList = {
  origin: (baseUrl) =>
    baseUrl.replace(/^https:\/\/vpce-[\w-]+\.bedrock-runtime\.([\w-]+)\.vpce\./, "https://bedrock.$1.")
      .replace(/^https:\/\/bedrock-runtime(?=-fips\.|\.)/, "https://bedrock"),
  path(page) {
    if (page === null) return "/foundation-models?byOutputModality=TEXT";
    const token = page.slice(PROFILES.length);
    return `/inference-profiles?maxResults=1000${token === "" ? "" : `&nextToken=${segment(token)}`}`;
  },
  read(body) {
    const { modelSummaries, inferenceProfileSummaries, nextToken } = object(body);
    if (Array.isArray(modelSummaries)) {
      const models = modelSummaries.map(object).filter(({ inferenceTypesSupported, modelLifecycle }) =>
        array(inferenceTypesSupported).includes("ON_DEMAND") && object(modelLifecycle).status !== "LEGACY"
      );
      return { models: ids(models.map(({ modelId }) => modelId)), next: PROFILES };
    }
    if (!Array.isArray(inferenceProfileSummaries)) return null;
    const profiles = inferenceProfileSummaries.map(object).filter(({ status }) => status === "ACTIVE");
    const token = string(nextToken);
    return {
      models: ids(profiles.map(({ inferenceProfileId }) => inferenceProfileId)),
      next: token ? PROFILES + token : null,
    };
  },
  afterRefusal: (page) => page === null ? PROFILES : null,
};

const PROFILES = "profiles ";

/** Vertex AI: Google's models, then Anthropic's. */
export const VERTEX_LIST: ModelsList = {
  path(page) {
    const [publisher, token = ""] = page?.split(" ") ?? [PUBLISHERS[0]];
    const from = token === "" ? "" : `&pageToken=${segment(token)}`;
    return `/v1beta1/publishers/${publisher}/models?pageSize=100${from}`;
  },
  read(body, page) {
    const { publisherModels, nextPageToken } = object(body);
    const publisher = page?.split(" ")[0] ?? PUBLISHERS[0];
    // A publisher without models has no list.
    const names = array(publisherModels).map((model) => string(object(model).name)?.replace(/^.*\//, ""));
    const token = string(nextPageToken);
    const following = PUBLISHERS[PUBLISHERS.indexOf(publisher) + 1];
    return {
      models: ids(names.filter((name) => name !== undefined && CONVERSES.test(name))),
      next: token ? `${publisher} ${token}` : following ?? null,
    };
  },
  afterRefusal: (page) => PUBLISHERS[PUBLISHERS.indexOf(page?.split(" ")[0] ?? PUBLISHERS[0]) + 1] ?? null,
};

const PUBLISHERS: readonly string[] = ["google", "anthropic"];

const CONVERSES = /^(?:gemini-(?!embedding)|claude-)/;

function ids(found: readonly unknown[]): ListedModel[] {
  return found.filter((id) => typeof id === "string" && id !== "").map((id) => ({ id: id as string }));
}
