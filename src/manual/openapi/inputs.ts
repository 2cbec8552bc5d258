/** Request bodies: the schemas that validate them, as JSON Schema. */
import { z } from "zod/mini";
import {
  CREATED_ACCOUNT,
  CREATED_KEY,
  CREATED_TOKEN,
  CREDIT_ADDITION,
  KEY_CHANGE,
  NEW_TEAM,
  TEAM_CHANGE,
} from "../../accounts/config.ts";
import { FIELDS as CHAT } from "../../formats/chat_completions/decode_request.ts";
import { FIELDS as MESSAGES } from "../../formats/messages/decode_request.ts";
import { FIELDS as RESPONSES } from "../../formats/responses/decode_request.ts";
import { bodyOf } from "../../formats/validation.ts";
import { PLUGIN as DLP } from "../../dlp/request.ts";
import { any, choice, closed, flag, list, object, orNull, ref, type Schema, text, whole } from "./schema.ts";

/** The schema of the input, before defaults are applied. */
function written(schema: z.ZodMiniType): Schema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return rest;
}

/** Adds the fields that the schema does not validate, because other code does. */
function withFields(schema: Schema, fields: Readonly<Record<string, Schema>>, example: unknown): Schema {
  return { ...schema, properties: { ...schema.properties as object, ...fields }, examples: [example] };
}

/** An object whose fields are all optional, without other fields. */
const optional = (fields: Readonly<Record<string, Schema>>) =>
  closed(fields, { optional: Object.keys(fields) });

const MODEL = text("Catalog id of the model, such as `vendor/model`, or `svc/auto`.");
const plugins = object({
  dlp: ref("DlpPlugin"),
  web_search: object({}, { description: "Web search by the gateway." }),
}, { description: "Functions of the gateway itself." });

const chat = withFields(written(bodyOf(CHAT)), {
  model: MODEL,
  messages: list(
    object({ role: text(), content: any() }, { required: ["role"] }),
    "The conversation, oldest first.",
  ),
  plugins,
  reasoning_effort: text(
    "Reasoning effort, from `none` to `xhigh`. The catalog lists the values that a model supports.",
  ),
  tool_choice: any("`auto`, `none`, `required`, or one tool."),
}, { model: "demo/echo", messages: [{ role: "user", content: "Hello" }] });

const messages = withFields(written(bodyOf(MESSAGES)), {
  model: MODEL,
  messages: list(object({ role: text(), content: any() }, { required: ["role", "content"] })),
  system: any("Text, or a list of text blocks."),
  tool_choice: any(),
  plugins,
}, { model: "demo/echo", max_tokens: 100, messages: [{ role: "user", content: "Hello" }] });

const responses = withFields(written(bodyOf(RESPONSES)), {
  model: MODEL,
  input: any("Text, or a list of items."),
  tool_choice: any(),
  store: flag("`true` is refused, because answers are not stored."),
  previous_response_id: text("Id of an earlier response. Only over a WebSocket, of the same connection."),
  plugins,
}, { model: "demo/echo", input: "Hello" });

const OF_A_COMPACTION = [
  "model",
  "instructions",
  "tools",
  "reasoning",
  "max_output_tokens",
  "prompt_cache_key",
  "service_tier",
  "metadata",
  "user",
  "safety_identifier",
  "plugins",
];

function fieldsOf({ properties }: Schema, names: readonly string[]): Record<string, Schema> {
  const all = properties as Readonly<Record<string, Schema>>;
  return Object.fromEntries(names.map((name) => [name, all[name]]));
}

export const INPUTS: Readonly<Record<string, Schema>> = {
  ChatCompletionsRequest: chat,
  MessagesRequest: messages,
  ResponsesRequest: responses,
  CompactRequest: object(
    {
      ...fieldsOf(responses, OF_A_COMPACTION),
      input: any("The conversation: text, or a list of at least one item."),
    },
    {
      required: ["model", "input"],
      description:
        "Other fields of a responses request are ignored, except that fields that need stored state are refused.",
    },
  ),
  CountTokensRequest: {
    ...messages,
    required: ["model", "messages"],
    description: "A messages request; `max_tokens` may be left out.",
  },
  InputTokensRequest: { ...responses, description: "A responses request." },
  EstimateRequest: object({}, { description: "A request of any of the three formats." }),
  DlpPlugin: written(DLP),
  KeyInput: written(CREATED_KEY.schema),
  KeyPatch: written(KEY_CHANGE.schema),
  KeyRotation: optional({
    overlap_seconds: orNull({
      ...whole("Seconds for which the old secret stays valid."),
      minimum: 0,
      maximum: 31_536_000,
    }),
  }),
  TokenInput: written(CREATED_TOKEN.schema),
  TeamInput: written(NEW_TEAM.schema),
  TeamPatch: written(TEAM_CHANGE.schema),
  AccountInput: written(CREATED_ACCOUNT.schema),
  CreditsInput: written(CREDIT_ADDITION.schema),
  ProviderModel: optional({
    model: orNull(
      text("Name of one of the provider's models, as the provider calls it. Not set: all of them."),
    ),
  }),
  DlpScanInput: optional({
    policy: text("Name of a policy."),
    dlp: orNull(ref("DlpPlugin")),
    text: text("Text to screen."),
    request: orNull(object({}, { description: "A request to screen." })),
    format: choice("chat_completions", "messages", "responses"),
  }),
  SignIn: {
    ...optional({ admin_key: text(), token: text("A token `sk_admin_…`.") }),
    oneOf: [{ required: ["admin_key"] }, { required: ["token"] }],
    examples: [{ admin_key: "the admin key" }],
  },
};
