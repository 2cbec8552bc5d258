/** The parts of complete output items of one block, and the start of a call. */
import type { Extra } from "../../exchange/extra.ts";
import { array, type Loose, object, rest, string } from "../../exchange/json.ts";
import type { Part, SearchHit } from "../../exchange/part.ts";
import type { Proof } from "../../exchange/proof.ts";
import { calledName } from "../called_name.ts";
import { brokenAnswer } from "../failures/decode_failure.ts";
import { partsOf } from "./decode_state.ts";
import { withoutNulls } from "./proofs.ts";

const CALL = new Set(
  "type status call_id name namespace arguments input item_id output_index sequence_number".split(" "),
);
const MESSAGE = new Set(["type", "status", "role", "content"]);
const PART = new Set(["type", "text", "refusal", "annotations", "logprobs"]);
const REASONING = new Set(["type", "status", "summary", "content", "encrypted_content"]);

/** Fields of an item that the vocabulary does not have, for callers of this format. */
function ownFields(item: Loose, known: ReadonlySet<string>): Extra {
  return { format: "responses", fields: withoutNulls(rest(item, known)) };
}

/** Those of a reasoning item that are only known at its end; undefined: none. Beside a text, the vocabulary has no summary. */
export function lateFields(item: Loose): Extra | undefined {
  const { id: _, ...fields } = withoutNulls(rest(item, REASONING));
  if (item.status === "incomplete") fields.status = item.status;
  if (partsOf(item.content).length > 0 && array(item.summary).length > 0) fields.summary = item.summary;
  return Object.keys(fields).length > 0 ? { format: "responses", fields } : undefined;
}

/** The id of an item. */
export function idOf({ id }: Loose): Extra {
  return { format: "responses", fields: string(id) ? { id } : {} };
}

/** The proof of a reasoning item that has ended. */
export function lateProof(item: Loose, proof: Proof, block: number): Part[] {
  const extra = { format: "responses", fields: { ...idOf(item).fields, late: true } } as const;
  return [
    { type: "reasoning-start", block, choice: 0, kind: "summary", extra },
    { type: "reasoning-end", block, proof },
  ];
}

/** Whether a part of a message is of a kind that the vocabulary does not have. */
export function isOther({ type }: Loose): boolean {
  return typeof type === "string" && type !== "reasoning_text";
}

/** Such a part, as a message of its own. */
export function otherPart({ id: _, content: __, ...item }: Loose, part: Loose, block: number): Part {
  return opaque({ ...item, content: [part] }, block);
}

/** Those of a message, and of one of its parts as `part`. */
export function messageFields(item: Loose, part: Loose): Extra {
  const { fields } = ownFields(item, MESSAGE);
  const inside = rest(part, PART);
  return { format: "responses", fields: inside ? { ...fields, part: withoutNulls(inside) } : fields };
}

/** The name in a call. */
export function nameOf(item: Loose): string {
  const name = calledName(string(item.name) ?? "");
  if (!name) throw brokenAnswer("a tool call has no name");
  return name;
}

/** @param id unique among the calls of the answer */
export function callStart(item: Loose, type: string, block: number, id: string): Part {
  const namespace = string(item.namespace);
  return {
    type: "call-start",
    block,
    choice: 0,
    id,
    name: nameOf(item),
    ...(namespace && { namespace }),
    kind: type === "custom_tool_call" ? "custom" : "function",
    extra: ownFields(item, CALL),
  };
}

/** The parts of an item that arrives complete, or is decoded only when it is. */
export function wholeParts(type: string, item: Loose, block: number): Part[] {
  if (type === "image_generation_call") return [imagePart(item, block)];
  return type === "web_search_call" && isSearch(item) ? searchParts(item, block) : [opaque(item, block)];
}

function opaque(value: Loose, block: number): Part {
  return { type: "opaque", block, choice: 0, format: "responses", value };
}

/** Whether an item is a search. Opening pages and finding text in them are not representable in other formats. */
function isSearch(item: Loose): boolean {
  const { type } = object(item.action);
  return type === undefined || type === "search";
}

/** A search by the provider. */
function searchParts(item: Loose, block: number): Part[] {
  const action = object(item.action);
  const query = string(action.query) ?? string(array(action.queries)[0]) ?? string(item.arguments) ?? "";
  const hits = array(action.sources).map(object).flatMap(({ url, title }): SearchHit[] =>
    typeof url === "string" ? [{ url, title: string(title) ?? "" }] : []
  );
  const id = string(item.id) || string(item.call_id) || `ws_${block}`;
  return [
    { type: "search-start", block, choice: 0, id, query },
    { type: "search-end", block, hits, ...(item.status === "failed" && { failed: true }) },
  ];
}

/** A generated image; without its data, the item as it is. */
function imagePart(item: Loose, block: number): Part {
  const data = string(item.result);
  if (!data) return opaque(item, block);
  const mediaType = `image/${string(item.output_format) ?? "png"}`;
  const { result: _, ...fields } = item;
  return { type: "media", block, choice: 0, mediaType, data, extra: { format: "responses", fields } };
}
