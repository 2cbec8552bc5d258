/** Encodes contents of turns as blocks. A cache breakpoint becomes a cache point after its block. */
import { argumentsObject, type Loose } from "../../exchange/json.ts";
import {
  type CacheMark,
  type Content,
  isAttachment,
  type ReasoningContent,
  type ResultContent,
  type TextContent,
} from "../../exchange/prompt.ts";
import { failedText } from "../failed_text.ts";
import { encodeCitation } from "./citations.ts";
import { type DocumentNames, encodeAttachment } from "./encode_media.ts";
import type { Rules } from "./rules.ts";

export interface EncodeContent {
  rules: Rules;
  names: DocumentNames;
  /** They are the assistant's, which alone may cite. */
  cites?: boolean;
}

/** Blocks of a message, with a cache point after each block with a breakpoint. */
export function encodeContents(contents: readonly Content[], context: EncodeContent): Loose[] {
  const blocks: Loose[] = [];
  for (const c of contents) {
    const before = blocks.length;
    blocks.push(...encodeContent(c, context));
    const point = c.cache && encodeCachePoint(c.cache, context.rules);
    if (point && blocks.length > before) blocks.push(point);
  }
  return blocks;
}

/** Undefined: the model does not support cache points. */
export function encodeCachePoint(mark: CacheMark, rules: Rules): Loose | undefined {
  if (!rules.caches) return undefined;
  return { cachePoint: { type: "default", ...(rules.hourCache && mark.ttl === "1h" && { ttl: "1h" }) } };
}

function encodeContent(c: Content, context: EncodeContent): Loose[] {
  if (isAttachment(c)) return encodeAttachment(c, context.names);
  switch (c.type) {
    case "text":
      return encodeText(c, context);
    case "refusal":
      // Blank text is rejected.
      return c.text.trim() === "" ? [] : [{ text: c.text }];
    case "search-result": {
      const content = c.texts.filter((text) => text.trim() !== "").map((text) => ({ text }));
      if (!context.rules.claude || content.length === 0) {
        return [{ text: [c.title, c.url, "", ...c.texts].join("\n") }];
      }
      const citations = c.cite ? { citations: { enabled: true } } : {};
      return [{ searchResult: { source: c.url, title: c.title, content, ...citations } }];
    }
    case "reasoning":
      return encodeReasoning(c, context.rules);
    case "call":
      return [{ toolUse: { toolUseId: c.id, name: c.name, input: argumentsObject(c.arguments) } }];
    case "result":
      return encodeResult(c, context);
    case "opaque":
      return [];
  }
}

/** A text of an earlier answer goes back with what it cites: Claude alone cites. */
function encodeText({ text, citations = [] }: TextContent, { rules, cites }: EncodeContent): Loose[] {
  // A blank text is refused.
  if (text.trim() === "") return [];
  const cited = rules.claude && cites ? citations.flatMap((citation) => encodeCitation(citation) ?? []) : [];
  return [cited.length === 0 ? { text } : { citationsContent: { content: [{ text }], citations: cited } }];
}

/** Reasoning is sent only with its own proof, unchanged. */
function encodeReasoning(c: ReasoningContent, rules: Rules): Loose[] {
  if (c.proof?.api !== "converse") return [];
  const { kind, data } = c.proof;
  if (kind === "redacted") return [{ reasoningContent: { redactedContent: data } }];
  if (rules.hides) return [];
  return [{ reasoningContent: { reasoningText: { text: c.sections.join("\n\n"), signature: data } } }];
}

/** Only some models support `status`; for others a failure is stated in the text. */
function encodeResult(c: ResultContent, context: EncodeContent): Loose[] {
  const blocks = encodeContents(c.content, context);
  const points = blocks.filter((block) => block.cachePoint);
  const sounds = blocks.filter((block) => block.audio);
  const content = blocks.filter((block) => !block.cachePoint && !block.audio);
  if (content.length === 0 && sounds.length > 0) content.push({ text: "The result is attached." });
  if (content.length === 0) {
    content.push({ text: c.isError ? "The tool failed and gave no message." : "(no output)" });
  }
  if (c.isError && !context.rules.status) {
    const first = content.findIndex((block) => typeof block.text === "string");
    if (first < 0) content.unshift({ text: "Error:" });
    else content[first] = { text: failedText(String(content[first].text)) };
  }
  const toolResult = {
    toolUseId: c.callId,
    content,
    ...(c.isError && context.rules.status && { status: "error" }),
  };
  const attached = sounds.length > 0 ? [{ text: `Attached to the result of ${c.callId}:` }, ...sounds] : [];
  // Cache points and audio are not allowed in a result, so they follow it.
  return [{ toolResult }, ...(points.length > 0 && !c.cache ? [points[0]] : []), ...attached];
}
