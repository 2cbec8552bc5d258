/**
 * Answers, events and errors against the official documents in `data/`.
 *
 * What a document and the wire are known to disagree about is taken out of a value before it is checked, by a row of
 * {@link EXCEPTIONS} that says why. Whatever else a document refuses is a mistake.
 */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { array, isObject, type Loose, object } from "../../src/exchange/json.ts";

export const DOCUMENTS = [
  "openai.openapi",
  "open_responses.openapi",
  "openai.types",
  "anthropic.types",
] as const;
export type DocumentName = typeof DOCUMENTS[number];

interface Exception {
  documents: readonly DocumentName[];
  reason: string;
  /** Changes the value, a copy. */
  adapt(value: Loose): void;
}

/** Every object inside a value, itself included. */
function* objectsIn(value: unknown): Generator<Loose> {
  if (Array.isArray(value)) { for (const inner of value) yield* objectsIn(inner); }
  else if (isObject(value)) {
    yield value;
    for (const inner of Object.values(value)) yield* objectsIn(inner);
  }
}

/** The responses inside a value: a body, or that of an event. */
function* responsesIn(value: Loose): Generator<Loose> {
  for (const inner of [value, value.response]) {
    if (isObject(inner) && inner.object === "response") yield inner;
  }
}

/** Items that are made here, and not passed on. */
const WRITTEN: ReadonlySet<unknown> = new Set([
  "message",
  "function_call",
  "custom_tool_call",
  "reasoning",
  "image_generation_call",
]);

export function isWritten(item: unknown): boolean {
  return WRITTEN.has(object(item).type);
}

const OWN_ITEMS: ReadonlySet<unknown> = new Set(["message", "function_call", "reasoning"]);

function isOthers(block: unknown): boolean {
  const { type, name } = object(block);
  if (type === "server_tool_use") return name !== "web_search";
  return type !== "web_search_tool_result" &&
    /^(?:mcp_|compaction|fallback)|_tool_result$/.test(String(type));
}

export const EXCEPTIONS: readonly Exception[] = [
  {
    documents: ["openai.types"],
    reason: "`output_text` is made by the client itself",
    adapt(value) {
      for (const response of responsesIn(value)) response.output_text = "";
    },
  },
  {
    documents: ["openai.types"],
    reason: "OpenAI's own answers have null there: `user` in all that are recorded, `usage` until the end",
    adapt(value) {
      for (const response of responsesIn(value)) {
        for (const field of ["user", "usage"]) if (response[field] === null) delete response[field];
      }
    },
  },
  {
    documents: ["openai.types"],
    reason: "the codes of failures are this service's (SPEC 7.2)",
    adapt(value) {
      for (const response of responsesIn(value)) {
        if (isObject(response.error)) response.error.code = "server_error";
      }
    },
  },
  {
    documents: ["openai.types"],
    reason: "a format without a description: Open Responses wants null, OpenAI's types want it absent",
    adapt(value) {
      for (const response of responsesIn(value)) {
        const format = object(object(response.text).format);
        if (format.description === null) delete format.description;
      }
    },
  },
  {
    documents: ["openai.types"],
    reason:
      "`svc:web_search` is an item of this service (SPEC 2.8), and items of the provider's other tools pass as they came",
    adapt(value) {
      for (const response of responsesIn(value)) response.output = array(response.output).filter(isWritten);
    },
  },
  {
    documents: ["open_responses.openapi"],
    reason: "it knows three kinds of output items and leaves others to their owners",
    adapt(value) {
      for (const response of responsesIn(value)) {
        response.output = array(response.output).filter((item) => OWN_ITEMS.has(object(item).type));
      }
    },
  },
  {
    documents: ["open_responses.openapi"],
    reason: "it knows one kind of tools and leaves others to their owners",
    adapt(value) {
      for (const response of responsesIn(value)) {
        response.tools = array(response.tools).filter((tool) => object(tool).type === "function");
      }
    },
  },
  {
    documents: ["openai.openapi"],
    reason: "it is of 2025, before custom tools",
    adapt(value) {
      for (const inner of objectsIn(value)) {
        if (Array.isArray(inner.tool_calls)) {
          inner.tool_calls = inner.tool_calls.filter((call) => object(call).type !== "custom");
        }
      }
    },
  },
  {
    documents: ["open_responses.openapi"],
    reason: "it knows one kind of citations, and all but one of the efforts that are in use",
    adapt(value) {
      for (const inner of objectsIn(value)) {
        if (Array.isArray(inner.annotations)) {
          inner.annotations = inner.annotations.filter((a) => object(a).type === "url_citation");
        }
        if (inner.effort === "minimal") inner.effort = "low";
      }
    },
  },
  {
    documents: ["anthropic.types"],
    reason:
      "blocks of the provider's other tools pass as they came, also from before the newest types, and from betas",
    adapt(value) {
      if (Array.isArray(value.content)) value.content = value.content.filter((block) => !isOthers(block));
      if (isOthers(value.content_block)) value.content_block = { type: "text", text: "", citations: [] };
      // The one delta that betas alone have.
      if (object(value.delta).type === "compaction_delta") value.delta = { type: "text_delta", text: "" };
    },
  },
  {
    documents: ["open_responses.openapi"],
    reason: "its schema of a schema allows null alone, by a fault of its generator",
    adapt(value) {
      for (const response of responsesIn(value)) {
        const format = object(object(response.text).format);
        if (isObject(format.schema)) format.schema = null;
      }
    },
  },
  {
    documents: ["open_responses.openapi", "openai.types"],
    reason: "a token of another API may have no bytes",
    adapt(value) {
      for (const part of objectsIn(value)) {
        if (Array.isArray(part.logprobs)) {
          for (const token of objectsIn(part.logprobs)) if (token.bytes === null) token.bytes = [];
        }
      }
    },
  },
];

export function readDocument(name: DocumentName): { $defs: Record<string, Loose> } {
  return JSON.parse(Deno.readTextFileSync(new URL(`data/${name}.json`, import.meta.url)));
}

const ajv = new Ajv2020({ strict: false, allErrors: true, verbose: true });
const loaded = new Map<DocumentName, Record<string, Loose>>();
const compiled = new Map<string, ValidateFunction>();

function defsOf(document: DocumentName): Record<string, Loose> {
  let defs = loaded.get(document);
  if (defs === undefined) {
    const schema = readDocument(document);
    ajv.addSchema(schema, document);
    loaded.set(document, defs = schema.$defs);
  }
  return defs;
}

/** What a document's definition finds wrong with a value, in words. */
export function mistakes(document: DocumentName, name: string, value: unknown): string[] {
  const defs = defsOf(document);
  const copy = structuredClone(value);
  if (isObject(copy)) {
    for (const { documents, adapt } of EXCEPTIONS) if (documents.includes(document)) adapt(copy);
  }
  const kind = member(defs, name, object(copy).type);
  if (kind === undefined) return [`${name} has no ${object(copy).type}`];
  const key = `${document}#/$defs/${kind}`;
  let validate = compiled.get(key);
  if (validate === undefined) compiled.set(key, validate = ajv.compile({ $ref: key }));
  if (validate(copy)) return [];
  const errors = validate.errors ?? [];
  // Of a value that no member of a union accepts, each member has its own complaints.
  const unions = errors.filter((e) => e.keyword === "anyOf" || e.keyword === "oneOf").map((e) =>
    e.instancePath
  );
  const telling = errors.filter((e) =>
    unions.every((path) =>
      e.instancePath === path
        ? e.keyword === "anyOf" || e.keyword === "oneOf"
        : !e.instancePath.startsWith(`${path}/`)
    )
  );
  return (telling.length > 0 ? telling : errors).map((e) =>
    `${document} ${kind}${e.instancePath}: ${e.message} ${JSON.stringify(e.params)}, got ${
      JSON.stringify(e.data)?.slice(0, 120)
    }`
  );
}

/** Of a union that goes by `type`, the member that has it. */
function member(defs: Record<string, Loose>, name: string, type: unknown): string | undefined {
  const union = array(defs[name].anyOf ?? defs[name].oneOf).map((m) => String(object(m).$ref ?? ""));
  if (union.length === 0 || typeof type !== "string") return name;
  for (const ref of union) {
    const inner = ref.slice("#/$defs/".length);
    const given = object(object(defs[inner]?.properties).type);
    if (given.const === type || array(given.enum).includes(type)) return inner;
  }
  return undefined;
}

export interface WireEvent {
  name: string;
  data: Loose;
}

/** The events of a stream's text, without `[DONE]` and comments. */
export function eventsOf(sse: string): WireEvent[] {
  return sse.split("\n\n").flatMap((block): WireEvent[] => {
    const lines = block.split("\n").filter((line) => line !== "" && !line.startsWith(":"));
    const data = lines.filter((l) => l.startsWith("data: ")).map((l) => l.slice(6)).join("\n");
    if (data === "" || data === "[DONE]") return [];
    const name = lines.find((l) => l.startsWith("event: "))?.slice(7) ?? "";
    return [{ name, data: JSON.parse(data) }];
  });
}
