/** Amazon Bedrock's Converse API, for all models. Model and streaming mode are part of the URL. */
import type { ToolForms } from "../../exchange/tools.ts";
import { hasPlainArguments } from "../../formats/schemas/object_schema.ts";
import { lazy } from "../../exchange/lazy.ts";
import type { ProviderApi } from "./api.ts";
import { AWS_EVENT_STREAM } from "./framing.ts";
import { bearer } from "./openai.ts";

/** Claude has the rules of Anthropic's own API. */
const FUNCTIONS: ToolForms = { custom: false, namespaces: false, accepts: hasPlainArguments };

export const bedrockConverseApi: ProviderApi = {
  name: "bedrock-converse",
  formatName: "converse",
  format: lazy(async () => (await import("../../formats/converse/mod.ts")).converse),
  framing: AWS_EVENT_STREAM,
  headers: {},
  needsBaseUrl: true,
  modelsList: null,
  keyHeaders: bearer,
  // An ARN contains slashes and colons, and must be a single path segment.
  address: (baseUrl, model, stream) =>
    `${baseUrl}/model/${encodeURIComponent(model)}/${stream ? "converse-stream" : "converse"}`,
  toolForms: () => FUNCTIONS,
  severalAnswers: () => false,
};
