/**
 * Amazon Bedrock. Its own API, Converse, supports every model. Claude uses InvokeModel up to version 4.6, and
 * Anthropic's API after that; other models may support OpenAI's APIs. The newer endpoint, `bedrock-mantle`,
 * has only the vendors' APIs.
 */
import { array, object, string } from "../../exchange/json.ts";
import type { ProviderRequest } from "../../formats/format.ts";
import { claudeGeneration } from "../../formats/restrictions/refused_parameters.ts";
import { bedrockConverseApi } from "../apis/bedrock_converse.ts";
import type { ProviderApi } from "../apis/mod.ts";
import { BEDROCK_CHUNKS } from "../apis/framing.ts";
import { bearer, OPENAI_MODELS } from "../apis/openai.ts";
import { domainOf, ignoresEndpoints, placesOfProfile, regionIn, wantedHosts } from "./aws_places.ts";
import { BEDROCK_LIST } from "./lists.ts";
import { cloudRequest } from "./claude.ts";
import {
  type Cloud,
  type CloudKind,
  type CloudSettings,
  type Env,
  type FilesSaid,
  segment,
  variant,
} from "./cloud.ts";

/** Version of Claude from which on Bedrock offers Anthropic's API. */
const AFTER_INVOKE = 4.6;

const runtime = {
  "bedrock-converse": bedrockConverseApi,
  ...openai(() => "/openai/v1"),
};

const invoke = variant({
  name: "anthropic-messages",
  framing: BEDROCK_CHUNKS,
  // The version is in the body.
  headers: {},
  versionHeader: undefined,
  keyHeaders: bearer,
  address: (base, model, stream) =>
    `${base}/model/${segment(model)}/${stream ? "invoke-with-response-stream" : "invoke"}`,
  finish: invokeRequest,
});

const anthropic = variant({
  name: "anthropic-messages",
  keyHeaders: bearer,
  address: (base) => `${base}/anthropic/v1/messages`,
});

/** Most models are at /v1. The wrong prefix is rejected. */
const mantle = {
  "anthropic-messages": anthropic,
  ...openai((model) => /(?:^|\.)openai\.gpt-\d/.test(model) ? "/openai/v1" : "/v1"),
};

function openai(prefix: (model: string) => string): Record<"openai-chat" | "openai-responses", ProviderApi> {
  return {
    "openai-chat": variant({
      name: "openai-chat",
      keyHeaders: bearer,
      address: (base, model) => `${base}${prefix(model)}/chat/completions`,
    }),
    "openai-responses": variant({
      name: "openai-responses",
      keyHeaders: bearer,
      address: (base, model) => `${base}${prefix(model)}/responses`,
    }),
  };
}

/**
 * Beta features supported by InvokeModel; any other is rejected. Source: AWS's documentation of Claude's
 * request body.
 */
const BETAS =
  /^(?:computer-use|token-efficient-tools|interleaved-thinking|output-128k|dev-full-thinking|context-1m|context-management|effort|tool-search-tool|tool-examples|compact|fine-grained-tool-streaming)-\d{4}-\d{2}-\d{2}$/;

/** Model and streaming mode are in the URL; version and beta features in the body. */
function invokeRequest(request: ProviderRequest): ProviderRequest {
  const { body: { stream: _, ...body }, dropped } = cloudRequest(request, "bedrock-2023-05-31");
  const asked = [
    ...(request.headers?.["anthropic-beta"] ?? "").split(","),
    ...array(body.anthropic_beta).map((beta) => string(beta) ?? ""),
  ].map((beta) => beta.trim()).filter((beta) => beta !== "");
  const betas = asked.filter((beta) => BETAS.test(beta));
  return {
    body: { ...body, ...(asked.length > 0 && { anthropic_beta: betas.length > 0 ? betas : undefined }) },
    dropped: betas.length < asked.length ? [...dropped, "anthropic-beta"] : dropped,
  };
}

function openRuntime(settings: CloudSettings): Cloud {
  return {
    identity: JSON.stringify(["bedrock", settings]),
    api(name, model) {
      const wanted = name ?? settings.api ?? "bedrock-converse";
      if (wanted !== "anthropic-messages") return runtime[wanted as keyof typeof runtime];
      return (claudeGeneration(model) ?? 0) > AFTER_INVOKE ? anthropic : invoke;
    },
  };
}

function openMantle(settings: CloudSettings): Cloud {
  return {
    identity: JSON.stringify(["bedrock-mantle", settings]),
    api: (name, model) => mantle[(name ?? settings.api ?? usualOfMantle(model)) as keyof typeof mantle],
  };
}

/** GPT-5 and later support only the Responses API. */
function usualOfMantle(model: string): keyof typeof mantle {
  if (model.includes("claude")) return "anthropic-messages";
  return /(?:^|\.)openai\.gpt-\d/.test(model) ? "openai-responses" : "openai-chat";
}

const REGION = {
  name: "region",
  variables: ["AWS_REGION", "AWS_DEFAULT_REGION"],
  addressOnly: true,
} as const;

const CREDENTIALS = [
  "AWS_BEARER_TOKEN_BEDROCK",
  "AWS_ACCESS_KEY_ID",
  "AWS_PROFILE",
  "AWS_WEB_IDENTITY_TOKEN_FILE",
  "AWS_CONTAINER_CREDENTIALS_FULL_URI",
  "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
];

function profileSays(env: Env, auth: unknown): FilesSaid {
  const { region, endpoint, ...hosts } = placesOfProfile(env, string(object(auth).profile));
  return { place: { region }, baseUrl: endpoint, hosts };
}

export const BEDROCK: CloudKind = {
  apis: [...Object.keys(runtime), "anthropic-messages"],
  fields: [REGION],
  modelsList: BEDROCK_LIST,
  otherUrls: ["AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_ENDPOINT_URL"],
  ignoresOthers: ignoresEndpoints,
  credentials: CREDENTIALS,
  auth: (region) => ({ type: "aws", ...(region !== undefined && { region }) }),
  baseUrl({ region = "" }, said) {
    const { fips, dualStack } = wantedHosts(said);
    const domain = domainOf(region, dualStack ? "dualStack" : "usual");
    return `https://bedrock-runtime${fips ? "-fips" : ""}.${region}.${domain}`;
  },
  placeIn: regionIn,
  filesSay: profileSays,
  open: openRuntime,
};

export const BEDROCK_MANTLE: CloudKind = {
  apis: Object.keys(mantle),
  fields: [REGION],
  modelsList: { ...OPENAI_MODELS, path: () => "/v1/models" },
  otherUrls: [],
  // Not listed as available through AWS credentials, since `bedrock` is.
  credentials: [],
  auth: (region) => ({ type: "aws", service: "bedrock-mantle", ...(region !== undefined && { region }) }),
  baseUrl: ({ region = "" }) => `https://bedrock-mantle.${region}.api.aws`,
  placeIn: regionIn,
  // Endpoint URLs in a profile belong to other services.
  filesSay: (env, auth) => ({ place: profileSays(env, auth).place, hosts: {} }),
  open: openMantle,
};
