/** What a provider's model refuses beyond its API's types: rules that differ from one generation of models to the next. */
import type { FormatName } from "../../src/exchange/format_name.ts";
import type { Loose } from "../../src/exchange/json.ts";
import { checkChatRequest } from "../corpus/check_chat_request.ts";
import { checkMessagesRequest } from "../corpus/check_messages_request.ts";
import { checkResponsesRequest } from "../corpus/check_responses_request.ts";
import { checkConverseRequest } from "../corpus/check_converse_request.ts";
import { must } from "../corpus/strict.ts";
import { checkRequest, checkSignatures } from "./gemini/request_checker.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** A model of each generation whose rules differ. */
export const TARGETS: readonly (readonly [FormatName, string])[] = [
  ["chat_completions", "gpt-4o"],
  ["chat_completions", "gpt-5-mini"],
  ["responses", "gpt-5-mini"],
  ["messages", "claude-haiku-4-5"],
  ["messages", "claude-sonnet-4-6"],
  ["messages", "claude-opus-4-7"],
  ["gemini", "gemini-2.5-flash"],
  ["gemini", "gemini-3-pro-preview"],
  ["converse", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"],
  ["converse", "anthropic.claude-opus-4-7-v1:0"],
  ["converse", "amazon.nova-2-lite-v1:0"],
];

export function checkModelRequest(target: FormatName, model: string, sent: Loose): void {
  const body: Any = sent;
  if (target === "chat_completions") {
    checkChatRequest(sent);
    if (model.startsWith("gpt-5")) refuses(body, REASONING);
    for (const tool of body.tools ?? []) checkStrict(tool.function);
    const format = body.response_format?.json_schema;
    if (format?.strict) mustQualify(format.schema);
  } else if (target === "responses") {
    checkResponsesRequest(sent);
    if (model.startsWith("gpt-5")) refuses(body, REASONING);
    for (const tool of body.tools ?? []) checkStrict(tool);
    if (body.text?.format?.strict) mustQualify(body.text.format.schema);
  } else if (target === "messages") {
    checkMessagesRequest(sent);
    const [, major, minor] = /claude-\w+-(\d)-(\d)/.exec(model)!;
    const generation = Number(`${major}.${minor}`);
    if (generation >= 4.7) refuses(body, ["temperature", "top_p", "top_k"]);
    must(body.temperature === undefined || body.top_p === undefined, "temperature beside top_p");
    const last = body.messages.at(-1).role;
    if (generation >= 4.6) {
      must(last !== "assistant", "prefill");
      must(body.thinking?.type !== "enabled", "a budget where the model is adaptive");
    } else {
      must(body.thinking?.type !== "adaptive", "adaptive thinking of an older model");
      must(body.output_config?.effort === undefined, "effort of an older model");
    }
    must(
      last !== "assistant" || !body.thinking || body.thinking.type === "disabled",
      "prefill with thinking",
    );
    for (const m of body.messages) {
      if (m.role !== "assistant" || typeof m.content === "string") continue;
      must(
        m.content.every((b: Any) => b.type !== "image" && b.type !== "document"),
        "media of the assistant",
      );
    }
  } else if (target === "converse") checkConverseRequest(sent, model);
  else {
    const checked = checkRequest(sent);
    const thinking = body.generationConfig?.thinkingConfig ?? {};
    if (model.includes("-3")) {
      checkSignatures(checked);
      must(thinking.thinkingBudget === undefined, "a budget where the model has levels");
    } else must(thinking.thinkingLevel === undefined, "a level where the model has budgets");
  }
}

const REASONING = [
  "temperature",
  "top_p",
  "top_k",
  "stop",
  "presence_penalty",
  "frequency_penalty",
  "logit_bias",
  "logprobs",
  "top_logprobs",
  "max_tokens",
];

function refuses(body: Any, names: readonly string[]): void {
  for (const name of names) must(body[name] === undefined, `${name} at a model that refuses it`);
}

function checkStrict(tool: Any): void {
  if (tool?.strict) mustQualify(tool.parameters);
}

function mustQualify(schema: Any): void {
  if (schema?.type === "object" || schema?.properties) {
    must(schema.additionalProperties === false, "strict with an open object");
    const names = Object.keys(schema.properties ?? {});
    must(names.every((name) => schema.required?.includes(name)), "strict with an optional property");
    for (const name of names) mustQualify(schema.properties[name]);
  }
  if (schema?.items) mustQualify(schema.items);
}
