/**
 * Decodes messages to turns, one per message.
 *
 * The older `function` form (an assistant's `function_call`, a message of role `function`) becomes calls and
 * results with generated ids, because every other API uses ids.
 */
import { ownExtra } from "../../exchange/prompt.ts";
import { decodeCacheMark } from "../cache_mark.ts";
import type { Mistake } from "../../exchange/failure.ts";
import { array, isObject, type Loose, object, rest, string } from "../../exchange/json.ts";
import type { CallContent, Content, ResultContent, Turn } from "../../exchange/prompt.ts";
import { extraOf } from "../../exchange/prompt.ts";
import { attachProofs } from "../../exchange/attach_proofs.ts";
import type { Unseal } from "../../exchange/proof.ts";
import { decodeParts } from "./decode_content.ts";
import { decodeUrl } from "../media.ts";
import { decodeReasoning } from "./decode_reasoning.ts";
import { replayProof, SIGNED_FIELDS, signedFields, TEXT_FIELDS } from "./reasoning.ts";
import { kindOf, mistake, type Path, shown, wrongKind } from "../validation.ts";

const KNOWN: ReadonlySet<string> = new Set([
  "role",
  "content",
  "name",
  "cache_control",
]);
const ASSISTANT_KNOWN: ReadonlySet<string> = new Set([
  ...KNOWN,
  "refusal",
  "tool_calls",
  "function_call",
  "annotations",
  "images",
  // Added by the official SDK's helpers, and sent by its users.
  "parsed",
  ...TEXT_FIELDS,
  "reasoning_details",
  "thinking_blocks",
  ...SIGNED_FIELDS,
]);
const TOOL_KNOWN: ReadonlySet<string> = new Set([...KNOWN, "tool_call_id"]);
const CALL_KNOWN: ReadonlySet<string> = new Set([
  "id",
  "type",
  "function",
  "custom",
  "cache_control",
  ...SIGNED_FIELDS,
]);

/** Field in the `extra` of an image or video: it was in `images`, where dialects put generated media. */
export const MADE = "made";

/** Marks a call or result of the older form. */
const LEGACY = { function: true } as const;

/** Decodes messages; errors are added to `mistakes`. */
export function decodeTurns(messages: readonly unknown[], unseal: Unseal, mistakes: Mistake[]): Turn[] {
  const calls = new Map<string, CallContent>();
  const legacyIds = new Map<string, string>();
  /** Generated ids of calls in the last message without ids, in order: their results have none either. */
  const nameless: string[] = [];
  const turns: Turn[] = [];
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i];
    const loc = ["messages", i];
    if (!isObject(message)) {
      wrongKind(mistakes, loc, "a message", "dict_type", message);
      continue;
    }
    switch (message.role) {
      case "system":
        turns.push(spoken(message, "system", loc, mistakes));
        break;
      case "developer":
        turns.push({ ...spoken(message, "system", loc, mistakes), developer: true });
        break;
      case "user": {
        const turn = spoken(message, "user", loc, mistakes);
        for (const c of turn.content) {
          const call = c.type === "result" ? calls.get(c.callId) : undefined;
          if (call && c.type === "result") c.name = call.name;
        }
        turns.push(turn);
        break;
      }
      case "assistant": {
        const turn = assistant(message, loc, unseal, mistakes);
        nameless.length = 0;
        let made = 0;
        for (const c of turn.content) {
          if (c.type !== "call") continue;
          if (c.id === "") {
            const count = made++ === 0 ? "" : `_${made}`;
            c.id = `call_${i}_${c.name.replace(/[^\w-]/g, "_").slice(0, 20)}${count}`;
            if (isLegacy(c)) legacyIds.set(c.name, c.id);
            else nameless.push(c.id);
          }
          calls.set(c.id, c);
        }
        turns.push(turn);
        break;
      }
      case "tool":
        if (typeof message.tool_call_id !== "string") {
          wrongKind(mistakes, [...loc, "tool_call_id"], "a string", "string_type", message.tool_call_id);
        } else {
          const id = message.tool_call_id || (nameless.shift() ?? "");
          turns.push(result(message, id, calls, loc, mistakes));
        }
        break;
      case "function": {
        const name = string(message.name) ?? "";
        const turn = result(message, legacyIds.get(name) ?? `call_${name}`, calls, loc, mistakes);
        (turn.content[0] as ResultContent).extra = ownExtra("chat_completions", { ...LEGACY });
        turns.push(turn);
        break;
      }
      default:
        mistake(
          mistakes,
          message.role === undefined ? "missing" : "literal_error",
          [...loc, "role"],
          `expected system, developer, user, assistant or tool, got ${shown(message.role)}`,
        );
    }
  }
  return attachProofs(turns);
}

function isLegacy(c: CallContent): boolean {
  return extraOf(c.extra, "chat_completions")?.function === true;
}

/** Name, cache breakpoint and unknown fields of a message. */
function turn(message: Loose, role: Turn["role"], content: Content[], known: ReadonlySet<string>): Turn {
  const made: Turn = { role, content };
  if (typeof message.content === "string") made.plain = true;
  const name = string(message.name);
  if (name !== undefined) made.name = name;
  const unknown = withoutNulls(rest(message, known));
  const cache = decodeCacheMark(message.cache_control);
  const last = content.at(-1);
  if (cache) {
    // A breakpoint on the message as a whole applies to its last part; its position is kept for the same
    // format.
    if (last && last.type !== "opaque") last.cache ??= cache;
    made.extra = ownExtra("chat_completions", { ...unknown, cache_control: message.cache_control });
  } else if (unknown) made.extra = ownExtra("chat_completions", unknown);
  return made;
}

function withoutNulls(fields: Loose | undefined): Loose | undefined {
  if (!fields) return undefined;
  let some = false;
  for (const key of Object.keys(fields)) {
    if (fields[key] === null) delete fields[key];
    else some = true;
  }
  return some ? fields : undefined;
}

function words(
  content: unknown,
  loc: Path,
  mistakes: Mistake[],
  role?: "user" | "assistant",
): Content[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (Array.isArray(content)) return decodeParts(content, [...loc, "content"], mistakes, role);
  mistake(
    mistakes,
    content === undefined ? "missing" : "string_type",
    [...loc, "content"],
    `expected a string or a list of parts, got ${kindOf(content)}`,
  );
  return [];
}

function spoken(message: Loose, role: "system" | "user", loc: Path, mistakes: Mistake[]): Turn {
  const content = words(message.content, loc, mistakes, role === "user" ? role : undefined);
  return turn(message, role, content, KNOWN);
}

function result(
  message: Loose,
  callId: string,
  calls: ReadonlyMap<string, CallContent>,
  loc: Path,
  mistakes: Mistake[],
): Turn {
  const call = calls.get(callId);
  const name = call?.name ?? string(message.name);
  const content = message.content === null ? [] : words(message.content, loc, mistakes);
  const found: ResultContent = {
    type: "result",
    callId,
    ...(name !== undefined && { name }),
    // The message has the same form for both kinds.
    kind: call?.kind ?? "function",
    content,
    isError: false,
    ...(typeof message.content === "string" && { plain: true }),
  };
  const made = turn(message, "user", [found], TOOL_KNOWN);
  delete made.plain;
  return made;
}

function assistant(message: Loose, loc: Path, unseal: Unseal, mistakes: Mistake[]): Turn {
  const content: Content[] = decodeReasoning(message, unseal);
  const given = message.content;
  // "" beside tool calls is equivalent to null.
  const plain = typeof given === "string" && given !== "";
  if (plain || Array.isArray(given)) content.push(...words(given, loc, mistakes, "assistant"));
  else if (given !== null && given !== undefined && given !== "") words(given, loc, mistakes);
  const refusal = string(message.refusal) ?? "";
  // A model that refuses says nothing else. Beside a text it is why a filter cut the answer, and no words of the model.
  const explains = refusal !== "" && content.some((c) => c.type === "text" && c.text.trim() !== "");
  if (refusal !== "" && !explains) content.push({ type: "refusal", text: refusal });
  for (const image of array(message.images)) {
    const url = string(object(object(image).image_url).url) ?? string(object(image).image_url);
    if (url === undefined) continue;
    const source = decodeUrl(url);
    // A generated video is stored there too, since the format has no other field.
    const film = source.kind === "base64" && source.mediaType.startsWith("video/");
    const extra = ownExtra("chat_completions", { [MADE]: image });
    content.push({ type: film ? "video" : "image", source, extra });
  }
  if (message.tool_calls !== null && message.tool_calls !== undefined) {
    if (!Array.isArray(message.tool_calls)) {
      wrongKind(mistakes, [...loc, "tool_calls"], "an array", "list_type", message.tool_calls);
    }
    const blocks = content.filter((c) => c.type === "call");
    array(message.tool_calls).forEach((call, i) => {
      const found = decodeCall(call, [...loc, "tool_calls", i], mistakes);
      if (!found) return;
      // Some clients send a call in both forms.
      const same = blocks.findIndex(({ id }) => id === found.id && id !== "");
      if (same < 0) content.push(found);
      else content.splice(content.indexOf(blocks.splice(same, 1)[0]), 1, found);
    });
  }
  const legacy = object(message.function_call);
  if (typeof legacy.name === "string" && legacy.name !== "") {
    content.push({
      type: "call",
      id: "",
      name: legacy.name,
      kind: "function",
      arguments: string(legacy.arguments) ?? "",
      extra: ownExtra("chat_completions", { ...LEGACY }),
    });
  }
  const made = turn(message, "assistant", content, ASSISTANT_KNOWN);
  if (!plain) delete made.plain;
  // Annotations of searches were generated by this service, and are returned by clients that keep the whole
  // message.
  const annotations = array(message.annotations).filter((a) => object(a).type !== "url_citation");
  if (annotations.length > 0 || explains) {
    made.extra = ownExtra("chat_completions", {
      ...extraOf(made.extra, "chat_completions"),
      ...(annotations.length > 0 && { annotations }),
      ...(explains && { refusal }),
    });
  }
  return made;
}

function decodeCall(value: unknown, loc: Path, mistakes: Mistake[]): CallContent | undefined {
  if (!isObject(value)) return void wrongKind(mistakes, loc, "a tool call", "dict_type", value);
  const custom = isObject(value.custom) && !isObject(value.function);
  const body = custom ? object(value.custom) : object(value.function);
  const key = custom ? "custom" : "function";
  if (typeof value.id !== "string") {
    return void wrongKind(mistakes, [...loc, "id"], "a string", "string_type", value.id);
  }
  if (typeof body.name !== "string") {
    return void wrongKind(mistakes, [...loc, key, "name"], "a string", "string_type", body.name);
  }
  const given = custom ? body.input : body.arguments;
  const signed = signedFields(value);
  const cache = decodeCacheMark(value.cache_control);
  const unknown = rest(value, CALL_KNOWN);
  return {
    type: "call",
    id: value.id,
    name: body.name,
    kind: custom ? "custom" : "function",
    // Clients of other APIs send the parsed object.
    arguments: typeof given === "string" ? given : isObject(given) ? JSON.stringify(given) : "",
    ...(signed && { proof: replayProof({ fields: signed }, value.id) }),
    ...(cache && { cache }),
    ...(unknown && { extra: ownExtra("chat_completions", unknown) }),
  };
}
