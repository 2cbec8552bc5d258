/**
 * Text and media that a provider adds to a prompt, so that the request alone does not show its size: results of tools and servers that the
 * provider runs, searches, stored prompts and files, and media in blocks that only one format has. Used for reservations.
 */
import { feeOfTool, type Fees } from "../exchange/fees.ts";
import { isObject, type Loose, string } from "../exchange/json.ts";
import type { Content, Prompt, Source } from "../exchange/prompt.ts";
import { imageAtMost, mostTokens, UNSEEN } from "./media_tokens.ts";

/** Tools of a provider's own that its clients run. */
const CLIENT_RUN = /^(?:bash|text_editor|computer|memory|local_shell|shell|apply_patch|namespace)(?:_|$)/;

/** Whether the provider runs the tool. Its results become part of the prompt, but do not pass through the gateway. */
function runsElsewhere(tool: Prompt["tools"][number]): boolean {
  return tool.kind === "opaque" && !CLIENT_RUN.test(string(tool.value.type) ?? "");
}

/** Whether the provider may process the prompt several times within one call, each time with further tool results. */
export function roundsElsewhere({ tools, unknown }: Prompt): boolean {
  // With an older version of Anthropic's API, all tools of these servers are available, although `tools` lists none.
  return (tools.length > 0 && tools.some(runsElsewhere)) || isSet(unknown.mcp_servers);
}

/**
 * Uses of the provider's own tools that have a fee. Undefined: the request has no such tool.
 * @param most of each kind
 */
export function feesElsewhere({ tools, unknown }: Prompt, most: number): Fees | undefined {
  let fees: Fees | undefined;
  for (const tool of tools) {
    const kind = tool.kind === "opaque" ? feeOfTool(string(tool.value.type) ?? "") : undefined;
    if (kind !== undefined) fees = { ...fees, [kind]: most };
  }
  // xAI's Live Search.
  return isSet(unknown.search_parameters) ? { ...fees, search_source: most } : fees;
}

/** Whether the provider may compact the conversation within the call, which processes the prompt once more. */
export function compactsElsewhere({ unknown }: Prompt): boolean {
  const { compaction, context_management: management } = unknown;
  const edits = Array.isArray(management) ? management : isObject(management) ? management.edits : [];
  return isObject(compaction) ||
    (Array.isArray(edits) &&
      edits.some((edit) => isObject(edit) && string(edit.type)?.startsWith("compact") === true));
}

/**
 * Fields by which a provider adds text of its own to a prompt: stored prompts (OpenAI), searches (xAI, Alibaba, Perplexity), documents
 * (Azure's `data_sources`, Cohere's `connectors`), skills (Anthropic).
 */
const ADDS_TEXT =
  /search|retriev|grounding|knowledge|^(?:prompt|mcp_servers|connectors|data_sources|plugins|container|conversation|previous_response_id|cached_?content)$/i;
/** Fields that contain vendor-specific fields. */
const NESTS = /^(?:extra_body|google|provider_?options)$/i;

/** Whether a field of the request makes the provider add text to the prompt. */
export function addsText({ unknown }: Prompt): boolean {
  for (const name in unknown) {
    const value = unknown[name];
    if (
      ADDS_TEXT.test(name)
        ? isSet(value)
        : NESTS.test(name) && isObject(value) && addsText({ unknown: value } as Prompt)
    ) {
      return true;
    }
  }
  return false;
}

/** Values that switch a feature off. */
const OFF: ReadonlySet<unknown> = new Set([undefined, null, false, "", "off", "none", "disabled"]);

/** Whether a field switches a feature on. An empty object does, with the default settings. */
function isSet(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (!isObject(value)) return !OFF.has(value);
  return ["mode", "type", "enable", "enabled"].every((name) => !(name in value) || !OFF.has(value[name]));
}

type Opaque = Extract<Content, { type: "opaque" }>;

/** Maximum nesting depth that is examined. */
const DEEPEST = 8;
const IS_IMAGE = /image|screenshot/;

/** Maximum tokens of the images and files in a block or item of one format, or referred to by it. Its text is counted separately. */
export function tokensWithin({ value }: Opaque): number {
  return within(value, "", 0);
}

/** @param kind type of the object, or of the enclosing object if it has none */
function within(value: unknown, kind: string, depth: number): number {
  if (typeof value !== "object" || value === null || depth > DEEPEST) return 0;
  if (Array.isArray(value)) {
    return value.reduce<number>((sum, inner) => sum + within(inner, kind, depth + 1), 0);
  }
  const fields = value as Loose;
  const own = string(fields.type) ?? "";
  const source = sourceOf(fields, own);
  if (source !== null) return tokensOf(source, kind);
  const named = own === "" ? kind : own;
  let sum = 0;
  for (const name of Object.keys(fields)) {
    const inner = fields[name];
    if (typeof inner !== "string") sum += within(inner, named, depth + 1);
    else if (name === "image_url") sum += imageAtMost(inner);
    else if (name === "file_id" || name === "file_url") {
      sum += IS_IMAGE.test(named) ? imageAtMost("") : UNSEEN;
    }
  }
  // Refers to an image that the provider generated in an earlier turn.
  return own === "image_generation_call" ? sum + imageAtMost("") : sum;
}

/** The `source` of an image or document; null: the object is not a source. */
function sourceOf({ media_type, data, url, file_id }: Loose, type: string): Source | null {
  if (type === "base64" && typeof data === "string") {
    return { kind: "base64", mediaType: string(media_type) ?? "", data };
  }
  if (type === "url" && typeof url === "string") return { kind: "url", url };
  return type === "file" && typeof file_id === "string" ? { kind: "url", url: "" } : null;
}

function tokensOf(source: Source, kind: string): number {
  const isImage = IS_IMAGE.test(kind) || (source.kind === "base64" && source.mediaType.startsWith("image/"));
  return mostTokens({ type: isImage ? "image" : "document", source });
}
