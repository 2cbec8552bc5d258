/**
 * What a provider adds to a prompt, so that its size cannot be known from the request: tools and servers that it runs itself, searches,
 * stored prompts and files, and content that stands elsewhere in blocks that only the provider's format has.
 */
import { isObject, type Loose, string } from "../exchange/json.ts";
import type { Content, Prompt, Source } from "../exchange/prompt.ts";
import { imageAtMost, mostTokens, UNSEEN } from "./media_tokens.ts";

/** Tools of a provider's own that its clients run. */
const CLIENT_RUN = /^(?:bash|text_editor|computer|memory|local_shell|shell|apply_patch|namespace)(?:_|$)/;

/** What a provider's own tool finds goes into the prompt without being seen here. */
function runsElsewhere(tool: Prompt["tools"][number]): boolean {
  return tool.kind === "opaque" && !CLIENT_RUN.test(String(tool.value.type));
}

/** Whether the provider may read the prompt several times within one call, each time with what its tools have found. */
export function roundsElsewhere({ tools, unknown }: Prompt): boolean {
  // With an older version of its API, Anthropic takes all tools of the servers without being told of any.
  return (tools.length > 0 && tools.some(runsElsewhere)) || isSet(unknown.mcp_servers);
}

/** Whether the provider may compact the conversation within the call, for which it reads it once more. */
export function compactsElsewhere({ unknown }: Prompt): boolean {
  const { compaction, context_management: management } = unknown;
  const edits = Array.isArray(management) ? management : isObject(management) ? management.edits : [];
  return isObject(compaction) ||
    (Array.isArray(edits) && edits.some((edit) => isObject(edit) && /^compact/.test(String(edit.type))));
}

/**
 * Fields by which a provider adds text of its own to a prompt: stored prompts (OpenAI), searches (xAI, Alibaba, Perplexity), documents
 * (Azure's `data_sources`, Cohere's `connectors`), skills (Anthropic).
 */
const ADDS_TEXT =
  /search|retriev|grounding|knowledge|^(?:prompt|mcp_servers|connectors|data_sources|plugins|container|conversation|previous_response_id|cached_?content)$/i;
/** Fields with further fields of a provider's own. */
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

/** Values that say that something is not wanted. */
const OFF: ReadonlySet<unknown> = new Set([undefined, null, false, "", "off", "none", "disabled"]);

/** Whether a field asks for something. An empty object does: it has all settings at their defaults. */
function isSet(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (!isObject(value)) return !OFF.has(value);
  return ["mode", "type", "enable", "enabled"].every((name) => !(name in value) || !OFF.has(value[name]));
}

type Opaque = Extract<Content, { type: "opaque" }>;

/** Nobody nests content deeper. */
const DEEPEST = 8;
const IS_IMAGE = /image|screenshot/;

/** The most tokens of images and files that a block or an item of a provider's format holds or names; its text is counted as text. */
export function tokensWithin({ value }: Opaque): number {
  return within(value, "", 0);
}

/** @param kind type of the object, else of the one around it */
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
  // An image that was made before, by its id.
  return own === "image_generation_call" ? sum + imageAtMost("") : sum;
}

/** The `source` of an image or a document; null: the object is none. */
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
