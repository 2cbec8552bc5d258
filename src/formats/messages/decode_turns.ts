/** Decodes `system` and `messages`. */
import { isObject, object, rest, string } from "../../exchange/json.ts";
import type { Role, Turn } from "../../exchange/prompt.ts";
import { isEffort } from "../effort.ts";
import { mistake, shown, wrongKind } from "../validation.ts";
import { readContent } from "./decode_content.ts";
import type { DecodeState } from "./marks.ts";

/** Decodes `system`. */
export function readSystem(system: unknown, state: DecodeState): Turn[] {
  if (system === undefined || system === null) return [];
  const { content, plain } = readContent(system, ["system"], "system", state);
  return content.length === 0 ? [] : [{ role: "system", content, top: true, ...(plain && { plain }) }];
}

const ROLES: ReadonlySet<unknown> = new Set(["system", "user", "assistant"]);

/** Fields of an answer, which some callers return completely. */
const MESSAGE = new Set([
  "role",
  "content",
  "name",
  "id",
  "type",
  "model",
  "stop_reason",
  "stop_sequence",
  "stop_details",
  "usage",
  "container",
  "context_management",
  "details",
]);

/** Decodes `messages`. */
export function readMessages(messages: readonly unknown[], state: DecodeState): Turn[] {
  const turns: Turn[] = [];
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i];
    const loc = ["messages", i];
    if (!isObject(message)) {
      wrongKind(state.mistakes, loc, "an object", "dict_type", message);
      continue;
    }
    const role = message.role;
    if (!ROLES.has(role)) {
      const allowed = `expected one of "system", "user", "assistant", got ${shown(role)}`;
      mistake(state.mistakes, role === undefined ? "missing" : "literal_error", [...loc, "role"], allowed);
      continue;
    }
    const unknown = rest(message, MESSAGE);
    // A system message may only change settings (`output_config`).
    const silent = role === "system" && unknown !== undefined && (message.content ?? null) === null;
    const given = silent ? [] : message.content;
    const effort = role === "system" ? object(message.output_config).effort : undefined;
    if (isEffort(effort)) state.effort = effort;
    const { content, plain } = readContent(given, [...loc, "content"], role as Role, state);
    const name = string(message.name);
    turns.push({
      role: role as Role,
      content,
      ...(name !== undefined && { name }),
      ...(plain && { plain }),
      ...(unknown && { extra: { format: "messages" as const, fields: unknown } }),
    });
  }
  return turns;
}
