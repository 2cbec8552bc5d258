/**
 * Decodes `input`: one turn per item, in order, so that boundaries are preserved.
 *
 * Items created by the gateway (`svc:web_search`) or by a provider's search (`web_search_call`), and
 * references to stored items, are ignored: nothing is stored here, and clients send references by default.
 * Items of types without an equivalent are kept unchanged for a provider of this format.
 */
import { ownExtra } from "../../exchange/prompt.ts";
import type { Mistake } from "../../exchange/failure.ts";
import { array, isObject, type Loose, object, rest, string } from "../../exchange/json.ts";
import type {
  Content,
  ReasoningContent,
  ResultContent,
  Role,
  SearchOptions,
  Turn,
} from "../../exchange/prompt.ts";
import { isSealed, type Unseal } from "../../exchange/proof.ts";
import { mistake, type Path, shown, wrongKind } from "../validation.ts";
import { isSearchType } from "../decode_search.ts";
import type { ToolChange } from "../history_tools.ts";
import { clientCall, clientResult } from "./client_tools.ts";
import { decodeParts } from "./decode_content.ts";
import { decodeTools } from "./decode_tools.ts";
import { proofOf } from "./proofs.ts";

const PASSED_OVER: ReadonlySet<string> = new Set(["svc:web_search", "web_search_call"]);

/** Items whose `tools` may be called from there on. */
const DECLARING: ReadonlySet<string> = new Set(["additional_tools", "tool_search_output"]);

interface Input {
  turns: Turn[];
  /** Some items were references to stored ones. */
  references: boolean;
  /** Tools declared by items. */
  changes: ToolChange[];
  /** The search, if declared by items. */
  search?: SearchOptions;
  /** Settings changed by items; later ones override earlier ones. */
  settings: Loose;
}

/** Decodes `input`; errors are added to `mistakes`. */
export function decodeInput(input: unknown, mistakes: Mistake[], unseal: Unseal): Input {
  if (typeof input === "string") {
    const turn: Turn = { role: "user", content: [{ type: "text", text: input }], plain: true };
    return { turns: [turn], references: false, changes: [], settings: {} };
  }
  if (!Array.isArray(input)) {
    wrongKind(mistakes, ["input"], "a string or an array of items", "list_type", input);
    return { turns: [], references: false, changes: [], settings: {} };
  }
  if (input.length === 0) mistake(mistakes, "too_short", ["input"], "expected at least 1 item, got 0");
  const reader = new ItemReader(mistakes, unseal);
  for (let i = 0; i < input.length; i++) reader.read(input[i], ["input", i]);
  return reader;
}

const MESSAGE = new Set(["role", "content", "name"]);
const CALL = new Set(["type", "call_id", "name", "namespace", "arguments", "input"]);
const RESULT = new Set(["type", "call_id", "output"]);
const CONFIGURATION = new Set(["type", "id", "reasoning", "text"]);
const REASONING = new Set(["type", "summary", "content", "encrypted_content", "status"]);

class ItemReader implements Input {
  readonly turns: Turn[] = [];
  references = false;
  readonly changes: ToolChange[] = [];
  search: SearchOptions | undefined;
  readonly settings: Loose = {};
  readonly #names = new Map<string, string>();

  constructor(private readonly mistakes: Mistake[], private readonly unseal: Unseal) {}

  read(item: unknown, loc: Path): void {
    if (!isObject(item)) return wrongKind(this.mistakes, loc, "an item", "dict_type", item);
    const type = item.type ??
      (item.role === undefined ? (item.id === undefined ? undefined : "item_reference") : "message");
    if (typeof type !== "string") {
      return wrongKind(this.mistakes, [...loc, "type"], "the kind of an item", "string_type", item.type);
    }
    if (PASSED_OVER.has(type)) return;
    if (type === "item_reference") {
      this.references = true;
      return;
    }
    switch (type) {
      case "message":
        return this.#message(item, loc);
      case "function_call":
      case "custom_tool_call":
        return this.#call(item, loc);
      case "function_call_output":
      case "custom_tool_call_output":
        return this.#result(item, loc);
      case "reasoning":
        return this.#reasoning(item);
      case "image_generation_call":
        if (typeof item.result === "string" && item.result !== "") return this.#image(item, item.result);
        // falls through
      default: {
        const role = type.endsWith("_output") ? "user" : type === "additional_tools" ? "system" : "assistant";
        if (DECLARING.has(type) && Array.isArray(item.tools)) {
          return this.#declare(item, item.tools, role, [...loc, "tools"]);
        }
        const represented = type === "configuration_update" && this.#configure(item) && { represented: true };
        const as = clientCall(item) ?? clientResult(item);
        this.turns.push({
          role,
          content: [{
            type: "opaque",
            format: "responses",
            value: item,
            ...represented,
            ...(as && { as, tool: as.name }),
          }],
        });
      }
    }
  }

  /** Whether the vocabulary represents everything that the item changes. */
  #configure(item: Loose): boolean {
    const { effort } = object(item.reasoning);
    const { format } = object(item.text);
    if (effort !== undefined && effort !== null) this.settings.effort = effort;
    if (format !== undefined && format !== null) this.settings.format = format;
    return rest(item, CONFIGURATION) === undefined;
  }

  /** A search among the tools is run by the gateway, and not sent to providers. */
  #declare(item: Loose, declared: readonly unknown[], role: Role, loc: Path): void {
    const { tools, search } = decodeTools(declared, this.mistakes, loc);
    for (const tool of tools) this.changes.push({ add: tool });
    let value = item;
    if (search) {
      this.search = { ...this.search, ...search };
      value = { ...item, tools: declared.filter((tool) => !isSearchType(string(object(tool).type) ?? "")) };
      if (array(value.tools).length === 0) return;
    }
    const represented = tools.length > 0 && { represented: true };
    this.turns.push({ role, content: [{ type: "opaque", format: "responses", value, ...represented }] });
  }

  #message(item: Loose, loc: Path): void {
    const { role } = item;
    if (role !== "user" && role !== "assistant" && role !== "system" && role !== "developer") {
      return mistake(
        this.mistakes,
        "literal_error",
        [...loc, "role"],
        `expected one of user, assistant, system, developer, got ${shown(role)}`,
      );
    }
    const plain = typeof item.content === "string";
    let content: Content[] = [];
    if (plain) content = [{ type: "text", text: item.content as string }];
    else if (Array.isArray(item.content)) {
      content = decodeParts(item.content, [...loc, "content"], this.mistakes);
    } else if (item.content !== null || role !== "assistant") {
      wrongKind(this.mistakes, [...loc, "content"], "a string or an array", "list_type", item.content);
    }
    const name = string(item.name);
    const extra = ownExtra("responses", rest(item, MESSAGE));
    this.turns.push({
      role: role === "developer" ? "system" : role,
      content,
      ...(role === "developer" && { developer: true }),
      ...(name !== undefined && { name }),
      ...(plain && { plain }),
      ...(extra && { extra }),
    });
  }

  /** A generated image; it stays an item for a provider of this format. */
  #image(item: Loose, data: string): void {
    const mediaType = `image/${string(item.output_format) ?? "png"}`;
    const source = { kind: "base64", mediaType, data } as const;
    this.turns.push({
      role: "assistant",
      content: [{ type: "image", source, extra: ownExtra("responses", item) }],
    });
  }

  #call(item: Loose, loc: Path): void {
    const custom = item.type === "custom_tool_call";
    const id = this.#string(item, "call_id", loc);
    const name = this.#string(item, "name", loc);
    const field = custom ? "input" : "arguments";
    // Some clients send the parsed object.
    const text = isObject(item[field]) && !custom
      ? JSON.stringify(item[field])
      : this.#string(item, field, loc);
    if (id === undefined || name === undefined || text === undefined) return;
    this.#names.set(id, name);
    const namespace = string(item.namespace);
    const extra = ownExtra("responses", rest(item, CALL));
    this.turns.push({
      role: "assistant",
      content: [{
        type: "call",
        id,
        name,
        ...(namespace !== undefined && { namespace }),
        kind: custom ? "custom" : "function",
        arguments: text,
        ...(extra && { extra }),
      }],
    });
  }

  #result(item: Loose, loc: Path): void {
    // The types allow a function output without its call; then the text stands for itself.
    const alone = item.type === "function_call_output" && (item.call_id ?? null) === null;
    const callId = alone ? "" : this.#string(item, "call_id", loc);
    if (callId === undefined) return;
    const { output } = item;
    let content: Content[] = [];
    if (typeof output === "string") content = [{ type: "text", text: output }];
    else if (Array.isArray(output)) content = decodeParts(output, [...loc, "output"], this.mistakes);
    else if (output === undefined) {
      wrongKind(this.mistakes, [...loc, "output"], "a string or an array", "string_type", output);
    } // A result that a client did not turn into text is text all the same.
    else if (output !== null) content = [{ type: "text", text: JSON.stringify(output) }];
    const name = this.#names.get(callId) ?? string(item.name);
    const extra = ownExtra("responses", rest(item, RESULT));
    const result: ResultContent = {
      type: "result",
      callId,
      ...(name !== undefined && { name }),
      kind: item.type === "custom_tool_call_output" ? "custom" : "function",
      content,
      isError: false,
      ...(!Array.isArray(output) && { plain: true }),
      ...(extra && { extra }),
    };
    this.turns.push({ role: "user", content: [result] });
  }

  /**
   * Reasoning sealed here has the proof of another API. Reasoning from a provider of this format is its own
   * proof; text without either is kept for providers that expect reasoning as text.
   */
  #reasoning(item: Loose): void {
    const texts = textsOf(item.content);
    const summary = textsOf(item.summary);
    const encrypted = string(item.encrypted_content);
    const reasoning: ReasoningContent = {
      type: "reasoning",
      sections: texts.length > 0 ? texts : summary,
      kind: texts.length > 0 ? "text" : "summary",
    };
    const sealed = encrypted ? this.unseal(encrypted) : null;
    if (sealed && sealed.kind !== "summary") reasoning.proof = sealed;
    else {
      const proof = encrypted && isSealed(encrypted) ? undefined : proofOf(item);
      if (proof) reasoning.proof = proof;
      const fields = rest(item, REASONING) ?? {};
      // If there is also text, the summary is only for the provider that wrote both.
      if (texts.length > 0 && summary.length > 0) fields.summary = item.summary;
      reasoning.extra = { format: "responses", fields };
    }
    if (reasoning.sections.length === 0 && !reasoning.proof) return;
    this.turns.push({ role: "assistant", content: [reasoning] });
  }

  #string(item: Loose, field: string, loc: Path): string | undefined {
    const value = string(item[field]);
    if (value === undefined) {
      wrongKind(this.mistakes, [...loc, field], "a string", "string_type", item[field] ?? undefined);
    }
    return value;
  }
}

function textsOf(parts: unknown): string[] {
  return array(parts).map((p) => string(object(p).text)).filter((t) => t !== undefined);
}
