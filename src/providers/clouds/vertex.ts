/**
 * Google Vertex AI: Gemini through its own API, Claude through `rawPredict`, other vendors' models through an
 * OpenAI-compatible endpoint. Project and location are in the path.
 */
import type { ProviderRequest } from "../../formats/format.ts";
import type { ProviderApi } from "../apis/mod.ts";
import { VERTEX_LIST } from "./lists.ts";
import { cloudRequest } from "./claude.ts";
import { type Cloud, type CloudKind, type CloudSettings, segment, variant } from "./cloud.ts";

const GLOBAL = "global";

const keyHeaders = (key: string) => ({ "x-goog-api-key": key });

/** Google's libraries do not encode the `@` before a version. */
const named = (model: string) => segment(model).replaceAll("%40", "@");

function openVertex(settings: CloudSettings): Cloud {
  const project = settings.project ?? "";
  const place = `/v1/projects/${segment(project)}/locations/${segment(settings.location ?? GLOBAL)}`;
  const apis: Record<string, ProviderApi> = {
    "gemini": variant({
      name: "gemini",
      keyHeaders,
      address: (base, model, stream) =>
        `${base}${geminiPath(place, model)}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
      finish: (request) => geminiRequest(request, settings.location ?? GLOBAL),
    }),
    "anthropic-messages": variant({
      name: "anthropic-messages",
      // The version is in the body.
      headers: {},
      versionHeader: undefined,
      keyHeaders,
      address: (base, model, stream) =>
        `${base}${claudePath(place, model)}:${stream ? "streamRawPredict" : "rawPredict"}`,
      finish: claudeRequest,
    }),
    "openai-chat": variant({
      name: "openai-chat",
      keyHeaders,
      address: (base) => `${base}${place}/endpoints/openapi/chat/completions`,
    }),
  };
  return {
    identity: JSON.stringify(["vertex", settings]),
    api: (name, model) => apis[name ?? settings.api ?? usual(model)],
  };
}

/** A Google model by name, or any resource by full path: a tuned model's endpoint, another publisher's model. */
function geminiPath(place: string, model: string): string {
  return fullPath(place, model) ??
    `${place}/publishers/google/models/${named(model.replace(/^(?:models|google)\//, ""))}`;
}

function claudePath(place: string, model: string): string {
  return fullPath(place, model) ?? `${place}/publishers/anthropic/models/${named(model)}`;
}

/** Undefined: it is only a name. */
function fullPath(place: string, model: string): string | undefined {
  const path = model.split("/").map(named).join("/");
  if (model.startsWith("projects/")) return `/v1/${path}`;
  return /^(?:publishers|endpoints)\//.test(model) ? `${place}/${path}` : undefined;
}

/** The locations that have a service tier besides the usual one. */
const TIER_LOCATIONS: Readonly<Record<string, readonly string[]>> = {
  flex: [GLOBAL],
  priority: [GLOBAL, "us", "eu"],
};

/**
 * The service tier is a header here: "Invalid value at 'service_tier' … \"flex\"". Source: Google's pages "Flex
 * PayGo" and "Priority PayGo".
 */
function geminiRequest(request: ProviderRequest, location: string): ProviderRequest {
  const { serviceTier: tier, ...body } = request.body;
  if (typeof tier !== "string") return request;
  return TIER_LOCATIONS[tier]?.includes(location)
    ? { ...request, body, headers: { ...request.headers, "x-vertex-ai-llm-shared-request-type": tier } }
    : { ...request, body, dropped: [...request.dropped, "service_tier"] };
}

/**
 * Beta features that Vertex rejects, or does not need. Source: its errors ("Unexpected value(s)
 * `prompt-caching-scope-2026-01-05`, `structured-outputs-2025-12-15` for the `anthropic-beta` header").
 */
const REJECTED_BETAS = /^(?:prompt-caching|prompt-caching-scope|structured-outputs)-\d{4}-\d{2}-\d{2}$/;

/** The model is in the URL. */
function claudeRequest(request: ProviderRequest): ProviderRequest {
  const { "anthropic-version": _, "anthropic-beta": asked, ...headers } = request.headers ?? {};
  const betas = asked?.split(",").map((beta) => beta.trim());
  const known = betas?.filter((beta) => !REJECTED_BETAS.test(beta)) ?? [];
  const sent = cloudRequest(request, "vertex-2023-10-16");
  return {
    ...sent,
    headers: { ...headers, ...(known.length > 0 && { "anthropic-beta": known.join(",") }) },
    dropped: known.length < (betas?.length ?? 0) ? [...sent.dropped, "anthropic-beta"] : sent.dropped,
  };
}

function usual(model: string): string {
  if (/^(?:(?:.*\/)?publishers\/anthropic\/models\/|claude-)/.test(model)) return "anthropic-messages";
  return /^(?!google\/|models\/|projects\/|publishers\/|endpoints\/)[\w-]+\//.test(model)
    ? "openai-chat"
    : "gemini";
}

const LOCATION_HOST =
  /^https:\/\/(?:aiplatform\.(us|eu)\.rep|([a-z]+(?:-[a-z]+)+\d{1,2})-aiplatform)\.googleapis\.com/;

export const VERTEX: CloudKind = {
  apis: ["gemini", "anthropic-messages", "openai-chat"],
  fields: [
    { name: "project", variables: ["GOOGLE_CLOUD_PROJECT"] },
    { name: "location", variables: ["GOOGLE_CLOUD_LOCATION"], usual: GLOBAL },
  ],
  modelsList: VERTEX_LIST,
  otherUrls: [],
  credentials: ["GOOGLE_APPLICATION_CREDENTIALS"],
  auth: () => ({ type: "google" }),
  baseUrl({ location = GLOBAL }) {
    if (location === GLOBAL) return "https://aiplatform.googleapis.com";
    if (location === "us" || location === "eu") return `https://aiplatform.${location}.rep.googleapis.com`;
    return `https://${location}-aiplatform.googleapis.com`;
  },
  placeIn(baseUrl) {
    const [, multi, region] = LOCATION_HOST.exec(baseUrl) ?? [];
    const location = multi ?? region;
    return location === undefined ? {} : { location };
  },
  open: openVertex,
};
