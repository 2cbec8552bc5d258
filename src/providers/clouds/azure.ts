/**
 * Azure: OpenAI's APIs at `/openai/v1/`, where the model is a deployment name, and Claude in Foundry, at
 * another host of the same resource.
 */
import type { ProviderRequest } from "../../formats/format.ts";
import type { ProviderApi } from "../apis/mod.ts";
import { type Cloud, type CloudKind, type CloudSettings, variant } from "./cloud.ts";

const OPENAI_HOST = ".openai.azure.com";
/** The ends of the names under which a resource has OpenAI's APIs; Claude has another one. */
const OPENAI_HOSTS = /\.(?:openai|cognitiveservices)\.azure\.(com|us|cn)$/;
const FOUNDRY_HOST = ".services.ai.azure.$1";
/** Hosts of the national clouds, whose tokens have another scope. */
const NATIONAL_HOST = /^https:\/\/[\w.-]+\.azure\.(us|cn)(?::\d+)?$/;

const keyHeaders = (key: string) => ({ "api-key": key });

function openAzure(settings: CloudSettings): Cloud {
  const { deployments } = settings;
  const deployed = (model: string) => Object.hasOwn(deployments, model) ? deployments[model] : model;
  const finish = ({ body, ...rest }: ProviderRequest, model: string): ProviderRequest => ({
    ...rest,
    body: { ...body, model: deployed(model) },
  });
  const apis: Record<string, ProviderApi> = {
    "openai-responses": variant({
      name: "openai-responses",
      keyHeaders,
      address: (base) => `${base}/openai/v1/responses`,
      finish,
    }),
    "openai-chat": variant({
      name: "openai-chat",
      keyHeaders,
      address: (base) => `${base}/openai/v1/chat/completions`,
      vendorsOwn: true,
      finish,
    }),
    "anthropic-messages": variant({
      name: "anthropic-messages",
      keyHeaders: (key) => ({ "x-api-key": key }),
      address: (base) => `${base.replace(OPENAI_HOSTS, FOUNDRY_HOST)}/anthropic/v1/messages`,
      finish,
    }),
  };
  return {
    identity: JSON.stringify(["azure", settings]),
    models: Object.keys(deployments),
    api: (name, model) => apis[name ?? settings.api ?? usual(model)],
  };
}

/** Models of other vendors than OpenAI; the Responses API does not support all of them. */
const OTHERS = /deepseek|llama|mistral|codestral|ministral|phi-|grok|kimi|qwen|command|gpt-oss|jais|mai-/i;

function usual(model: string): string {
  if (/claude-/i.test(model)) return "anthropic-messages";
  return OTHERS.test(model) ? "openai-chat" : "openai-responses";
}

export const AZURE: CloudKind = {
  apis: ["openai-responses", "openai-chat", "anthropic-messages"],
  fields: [{ name: "resource", variables: ["AZURE_RESOURCE_NAME"], addressOnly: true }],
  modelsList: null,
  otherUrls: ["AZURE_OPENAI_ENDPOINT"],
  credentials: [
    "AZURE_CLIENT_SECRET",
    "AZURE_CLIENT_CERTIFICATE_PATH",
    "AZURE_FEDERATED_TOKEN_FILE",
    "IDENTITY_ENDPOINT",
  ],
  auth(_, baseUrl) {
    const [, domain] = NATIONAL_HOST.exec(baseUrl) ?? [];
    return {
      type: "azure",
      ...(domain !== undefined && { scope: `https://cognitiveservices.azure.${domain}/.default` }),
    };
  },
  baseUrl: ({ resource = "" }) => `https://${resource}${OPENAI_HOST}`,
  open: openAzure,
};
