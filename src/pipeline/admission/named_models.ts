/**
 * Finds the additional models that a request names in fields that are passed to a provider of the caller's format unchanged: Anthropic's
 * `fallbacks` and advisor, OpenRouter's `models` and its tools, the model of `image_generation`, and all other fields of these names.
 *
 * Free-form data of the caller, such as schemas, headers and variables, may have fields with these names and is not searched. Nor is
 * `moderation`, whose model generates nothing and costs nothing.
 */
import { array, isObject, type Loose, object, string } from "../../exchange/json.ts";
import type { Prompt } from "../../exchange/prompt.ts";

export interface NamedModel {
  /** Path in the request, such as `fallbacks[0].model`. */
  field: string;
  /** Null: the provider may choose the model. */
  name: string | null;
}

/** Maximum depth: no provider has such fields at a deeper level. */
const DEEPEST = 8;

const MODEL =
  /^(?:[a-z0-9]+_){0,4}models?(?:_id|_name)?$|^(?:[a-z]+M|m)odels?(?:Id|Name)?$|^deployment_(?:id|name)$/;
const FALLBACK = /^(?:[a-z]+_){0,3}fallbacks?$|^fallback[A-Z][a-z]+$/;
/** Types of tools that call another model; if none is named, the provider chooses one. */
const ASKS = /(?:^|:)(?:image_generation|advisor|subagent|fusion)(?:_\d{8})?$/;
/** What must not be used. */
const WITHOUT = /^(?:exclude|ignore|deny|denied|block|forbid|disallow|disable|not_|without)/;
const OF_THE_CALLER: ReadonlySet<string> = new Set([
  "arguments",
  "chat_template_kwargs",
  "content",
  "description",
  "documents",
  "env",
  "examples",
  "extra_headers",
  "guided_json",
  "headers",
  "input",
  "input_examples",
  "input_schema",
  "instructions",
  "json",
  "json_schema",
  "labels",
  "messages",
  "metadata",
  "moderation",
  "output_schema",
  "prediction",
  "prompt",
  "properties",
  "schema",
  "tags",
  "trace",
  "variables",
]);

/** Null: there are none, as in most requests. @param body of the request, where the fields' places are looked up */
export function namedModels(prompt: Prompt, body: unknown): NamedModel[] | null {
  const { unknown, tools } = prompt;
  let search: Search | null = null;
  for (const field in unknown) (search ??= new Search()).field(field, unknown[field]);
  for (const tool of tools) {
    if (tool.kind === "opaque") (search ??= new Search()).inTool(tool.value, placeOf(tool.value, body));
  }
  return search === null ? null : search.found;
}

function placeOf(tool: Loose, body: unknown): string {
  const { tools, input, messages } = object(body);
  const at = array(tools).indexOf(tool);
  return at >= 0 ? `tools[${at}]` : placeInHistory(tool, array(input), array(messages)) ?? "tools[]";
}

/** The path of a tool that is declared in the history. */
function placeInHistory(
  tool: Loose,
  input: readonly unknown[],
  messages: readonly unknown[],
): string | undefined {
  for (let i = 0; i < input.length; i++) {
    const at = array(object(input[i]).tools).indexOf(tool);
    if (at >= 0) return `input[${i}].tools[${at}]`;
  }
  for (let i = 0; i < messages.length; i++) {
    const at = array(object(messages[i]).content).findIndex((block) =>
      object(object(block).tool).definition === tool
    );
    if (at >= 0) return `messages[${i}].content[${at}].tool.definition`;
  }
}

class Search {
  found: NamedModel[] | null = null;
  /** Current path: names of fields and indices. */
  readonly #path: (string | number)[] = [];

  inTool(tool: Loose, place: string): void {
    this.#path.push(place);
    for (const field of Object.keys(tool)) this.field(field, tool[field]);
    if (ASKS.test(string(tool.type) ?? "") && !namesModel(tool)) this.#add(null);
    this.#path.pop();
  }

  field(field: string, value: unknown): void {
    if (value === null || OF_THE_CALLER.has(field) || WITHOUT.test(field)) return;
    this.#path.push(field);
    if (FALLBACK.test(field)) this.#inFallbacks(value);
    else {
      if (MODEL.test(field)) this.#inModel(value);
      this.#inside(value);
    }
    this.#path.pop();
  }

  #inModel(value: unknown): void {
    if (typeof value === "string") this.#add(value);
    else if (Array.isArray(value)) this.#inNames(value);
    else if (isObject(value) && typeof value.id === "string") {
      this.#at("id", () => this.#add(value.id as string));
    }
  }

  #inside(value: unknown): void {
    if (typeof value !== "object" || value === null || this.#path.length > DEEPEST) return;
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) {
        if (typeof value[i] !== "object") continue;
        this.#path.push(i);
        this.#inside(value[i]);
        this.#path.pop();
      }
    } else if (isObject(value) && !isDeclared(value)) this.#inFields(value);
  }

  #inFields(value: Loose): void {
    for (const field of Object.keys(value)) this.field(field, value[field]);
  }

  #inNames(names: readonly unknown[]): void {
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      if (typeof name === "string") this.#at(i, () => this.#add(name));
    }
  }

  /**
   * `["a"]`, `[{"model": "a"}]`, `"default"`, and of LiteLLM `[{"a": ["b"]}]`, which has the models by the one that they
   * stand in for.
   */
  #inFallbacks(value: unknown): void {
    if (typeof value === "string") this.#add(value === "default" ? null : value);
    else if (isObject(value)) this.#inFields(value);
    if (!Array.isArray(value)) return;
    this.#inNames(value);
    value.forEach((inner, i) => {
      if (!isObject(inner)) return;
      // It is never a tool of the caller, whatever other fields it has.
      this.#at(i, () => this.#inFields(inner));
      if ("model" in inner) return;
      for (const [model, others] of Object.entries(inner)) {
        if (Array.isArray(others)) this.#at(i, () => this.#at(model, () => this.#inNames(others)));
      }
    });
  }

  #at(step: string | number, work: () => void): void {
    this.#path.push(step);
    work();
    this.#path.pop();
  }

  /** @param name null: the provider chooses it */
  #add(name: string | null): void {
    let field = "";
    for (const step of this.#path) {
      if (typeof step === "number") field += `[${step}]`;
      else field += field === "" ? step : `.${step.slice(0, 80)}`;
    }
    (this.found ??= []).push({ field, name });
  }
}

/** Whether a tool names the model that it calls, in the form of Anthropic and OpenAI, or of OpenRouter. */
function namesModel(tool: Loose): boolean {
  const parameters = object(tool.parameters);
  const drawn = tool.output_format === "svg" ? object(tool.svg).model : undefined;
  return [tool.model, drawn, parameters.model, array(parameters.analysis_models)[0]]
    .some((name) => typeof name === "string");
}

/** A function of the caller, or the schema of its arguments, which may have parameters of any name. */
function isDeclared({ type, properties }: Loose): boolean {
  return type === "function" || type === "custom" || isObject(properties);
}
