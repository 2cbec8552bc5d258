/** Responses of the API: the three formats, the catalog, and the information that a key can read about itself. */
import { FAILURES } from "../../exchange/failure.ts";
import type { KeyStatus, KeyView } from "../../accounts/administration/views.ts";
import type { GenerationView, SpendView } from "../../accounts/administration/views.ts";
import {
  always,
  any,
  choice,
  closed,
  exactly,
  flag,
  list,
  map,
  moment,
  money,
  number,
  object,
  orNull,
  ref,
  type Schema,
  text,
  whole,
} from "./schema.ts";

const nullable = orNull;
const PERIOD = choice("day", "week", "month", "total");
export const SPEND_LIMIT = orNull(
  closed({ amount: money(), period: PERIOD }),
);

const USAGE = closed({
  input_tokens: whole("All input tokens, including those of caches."),
  cached_tokens: whole(),
  cache_write_tokens: whole(),
  cache_write_1h_tokens: whole(),
  audio_input_tokens: whole(),
  image_input_tokens: whole(),
  video_input_tokens: whole(),
  output_tokens: whole("All output tokens, including those of reasoning."),
  reasoning_tokens: whole(),
  audio_output_tokens: whole(),
  image_output_tokens: whole(),
});

export const SPEND = exactly<SpendView>({
  amount: money("Amount spent in the period."),
  period: PERIOD,
  remaining: nullable(money()),
  reset_at: nullable(moment()),
  forecast: nullable(
    money("Expected spend at the end of the period, if it goes on as before. Null: unknown."),
  ),
  incomplete_before: nullable(
    moment(
      "Spend before this time is missing here, for some minutes after the upgrade of a large store. Limits are checked with all of it. Null: nothing is missing.",
    ),
  ),
});

export const GENERATION_FIELDS: { readonly [K in keyof GenerationView]-?: Schema } = {
  id: text("Id of the generation, `gen_…`. Equal to `x-request-id` of the answer."),
  created: moment(),
  key: text("Name of the key."),
  key_id: text(),
  account: text(),
  format: choice("chat_completions", "messages", "responses"),
  requested_model: text("The model as the caller named it."),
  model: text("Catalog id of the model that answered."),
  provider: nullable(text()),
  stream: flag(),
  status: choice("completed", "incomplete", "failed", "interrupted"),
  error_code: nullable(text()),
  usage: nullable(USAGE),
  usage_estimated: flag(),
  searches: whole(),
  cost: money(),
  ttft_ms: nullable(whole("Time to the first token in milliseconds. Null: no output.")),
  latency_ms: whole(),
  client_gone: flag(),
  dlp: nullable(closed({ mode: text(), findings: whole() })),
  tags: map(text()),
  session: nullable(text()),
  team: nullable(text()),
  price_version: nullable(text()),
  cache_saved: nullable(money()),
  tool_calls: nullable(whole()),
  repaired: whole("Number of tool calls whose arguments were repaired."),
  list_cost: nullable(
    money(
      "Cost at catalog prices of a call that the caller's own credential paid. Null: the gateway's credential paid.",
    ),
  ),
};

export const KEY_FIELDS: { readonly [K in keyof KeyView]-?: Schema } = {
  id: text(),
  name: text(),
  source: choice("config", "store"),
  account: text(),
  access_policy: nullable(text()),
  dlp_policy: nullable(text()),
  models: nullable(list(text())),
  spend_limit: SPEND_LIMIT,
  rate_limit: nullable(closed({
    requests_per_minute: nullable(whole()),
    tokens_per_minute: nullable(whole()),
  })),
  team: nullable(text()),
  session_limit: nullable(closed({ amount: nullable(money()), requests_per_minute: nullable(whole()) })),
  tag_limits: list(closed({ tag: text(), amount: money(), period: PERIOD })),
  repair: flag(),
  hedge: flag(),
  resume_seconds: nullable(number()),
  member: nullable(text("Issuer and subject of the member who owns the key. Null: nobody.")),
  payloads: flag(),
  created: nullable(moment()),
  expires_at: nullable(moment()),
  revoked_at: nullable(moment()),
};

const chatMessage = object({
  role: always("assistant"),
  content: nullable(text()),
  reasoning_content: nullable(text()),
  refusal: nullable(text()),
  tool_calls: list(object({
    id: text(),
    type: text(),
    function: object({ name: text(), arguments: text() }, { required: ["name", "arguments"] }),
  }, { required: ["id", "type"] })),
  annotations: list(object({ type: text() }, { required: ["type"] })),
}, { required: ["role", "content"] });

const block = object({ type: text() }, { required: ["type"] });

export const API_ANSWERS: Readonly<Record<string, Schema>> = {
  Error: object({
    error: object({
      code: { ...text(), enum: Object.keys(FAILURES) },
      message: text(),
      param: nullable(text("Path of the field that caused the error.")),
      extra: object({}, { description: "Further information, depending on `code`." }),
    }, { required: ["code", "message"] }),
  }, {
    required: ["error"],
    description: "The error format of chat-completions, the catalog and the administration API.",
  }),
  ShortUnauthorized: exactly<{ error: string }>({ error: always("unauthorized") }),
  MessagesError: object({
    type: always("error"),
    error: object({ type: text(), message: text(), code: text() }, { required: ["type", "message"] }),
    request_id: text(),
  }, { required: ["type", "error"] }),
  ResponsesError: object({
    error: object({ type: text(), code: nullable(text()), message: text(), param: nullable(text()) }, {
      required: ["code", "message"],
    }),
  }, { required: ["error"] }),
  ChatCompletionsResponse: object({
    id: text(),
    object: always("chat.completion"),
    created: whole("Seconds since the epoch."),
    model: text(),
    choices: list(object({
      index: whole(),
      finish_reason: choice("stop", "length", "tool_calls", "content_filter", "function_call"),
      message: chatMessage,
      logprobs: nullable(object({})),
    }, { required: ["index", "finish_reason", "message"] })),
    usage: object({ prompt_tokens: whole(), completion_tokens: whole(), total_tokens: whole() }, {
      required: ["prompt_tokens", "completion_tokens", "total_tokens"],
    }),
    extra: object({}, { description: "Findings of data-loss prevention, if the request asked for them." }),
  }, { required: ["id", "object", "created", "model", "choices", "usage"] }),
  MessagesResponse: object({
    id: text(),
    type: always("message"),
    role: always("assistant"),
    model: text(),
    content: list(block),
    stop_reason: nullable(
      text(
        "Why the answer ended: `end_turn`, `max_tokens`, `stop_sequence`, `tool_use`, `refusal` or another reason.",
      ),
    ),
    stop_sequence: nullable(text()),
    usage: object({ input_tokens: whole(), output_tokens: whole() }, {
      required: ["input_tokens", "output_tokens"],
    }),
  }, { required: ["id", "type", "role", "model", "content", "stop_reason", "usage"] }),
  ResponsesResponse: object({
    id: text(),
    object: always("response"),
    created_at: number("Seconds since the epoch."),
    status: choice("completed", "incomplete", "failed", "in_progress"),
    model: text(),
    output: list(block),
    usage: nullable(object({ input_tokens: whole(), output_tokens: whole(), total_tokens: whole() })),
    error: nullable(object({ code: text(), message: text() })),
    incomplete_details: nullable(object({ reason: text() })),
  }, { required: ["id", "object", "created_at", "status", "model", "output"] }),
  CompactResponse: object({
    id: text(),
    object: always("response.compaction"),
    created_at: number("Seconds since the epoch."),
    output: list(
      block,
      "Items that replace the conversation in later requests; one of them is a `compaction`.",
    ),
    usage: object({
      input_tokens: whole(),
      input_tokens_details: object({ cached_tokens: whole() }),
      output_tokens: whole(),
      output_tokens_details: object({ reasoning_tokens: whole() }),
      total_tokens: whole(),
    }, { required: ["input_tokens", "output_tokens", "total_tokens"] }),
    details: object({}, {
      description: "Findings of data-loss prevention (`dlp`), if the request asked for them.",
    }),
  }, { required: ["id", "object", "created_at", "output", "usage"] }),
  CountTokensResponse: object({ input_tokens: whole() }, { required: ["input_tokens"] }),
  InputTokensResponse: object({ object: always("response.input_tokens"), input_tokens: whole() }, {
    required: ["object", "input_tokens"],
  }),
  Estimate: object({
    input_tokens: whole(),
    cached_tokens_estimate: whole(),
    candidates: list(object({
      model: text(),
      cost_min: nullable(money()),
      cost_max: nullable(money()),
      dropped: list(text(), "Fields of the request that the model's provider does not support."),
    }, { required: ["model", "dropped"] })),
    allowed: flag(),
    refusal: any("Why the request would be refused. Null: it would be accepted."),
  }, { required: ["input_tokens", "candidates", "allowed", "refusal"] }),
  Model: object({
    id: text(),
    object: always("model"),
    name: text(),
    created: whole(),
    owned_by: text(),
    type: always("model"),
    display_name: text(),
    created_at: moment(),
    context_length: nullable(whole()),
    max_completion_tokens: nullable(whole()),
    pricing: map(
      nullable(text()),
      "Prices per token, per request or per search, as decimal strings. Null: unknown.",
    ),
    capabilities: object({
      modality_input: list(text()),
      modality_output: list(text()),
      features: list(text()),
    }, { required: ["modality_input", "modality_output", "features"] }),
  }, { required: ["id", "object", "name", "pricing", "capabilities"] }),
  ModelList: object({ data: list(ref("Model")) }, { required: ["data"] }),
  KeyStatus: exactly<KeyStatus>({
    ...KEY_FIELDS,
    spend: SPEND,
    cache_saved: money("Amount saved by prompt caches in the same period."),
    team_spend: nullable(SPEND),
    credits: object({ unlimited: flag(), balance: nullable(money()) }, {
      required: ["unlimited", "balance"],
    }),
  }),
  Generation: exactly<GenerationView>(GENERATION_FIELDS),
};
