/**
 * Every field that the vendors document for a request of their format (types of npm `openai` 7.57 and `@anthropic-ai/sdk`
 * 1.12), with values that differ in what becomes of them, and the words of each that must reach a provider or be listed.
 */
import { CHAT } from "./chat_completions/request_fields.ts";
import type { Caller } from "./conversions.ts";
import type { FieldTable } from "./field_values.ts";
import { MESSAGES } from "./messages/request_fields.ts";
import { RESPONSES } from "./responses/request_fields.ts";

export const FIELDS: Readonly<Record<Caller, FieldTable>> = {
  chat_completions: CHAT,
  messages: MESSAGES,
  responses: RESPONSES,
};
