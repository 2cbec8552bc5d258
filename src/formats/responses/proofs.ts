/**
 * Proofs of reasoning items: the fields that a provider of this format expects back. OpenAI has `encrypted_content`;
 * OpenRouter also has the `signature` of Claude, and says whose it is (`format`).
 */
import { type Loose, object, parse, rest, string } from "../../exchange/json.ts";
import type { Proof } from "../../exchange/proof.ts";

const KNOWN: ReadonlySet<string> = new Set(["id", "type", "status", "summary", "content"]);

/** The proof of a complete item. That of its announcement is preliminary. */
export function proofOf(item: Loose): Proof | undefined {
  const data = string(item.encrypted_content);
  if (!data && !string(item.signature)) return undefined;
  const id = string(item.id);
  // In the same order, also after the item has come back from a client.
  const fields = Object.fromEntries(Object.entries(withoutNulls(rest(item, KNOWN))).sort());
  return {
    api: "responses",
    ...(data && Object.keys(fields).length === 1
      ? { kind: "encrypted", data }
      : { kind: "details", data: JSON.stringify(fields) }),
    ...(id && { id }),
  };
}

/** The inverse: fields of the item. */
export function provenFields({ kind, data }: Proof): Loose {
  return kind === "details" ? object(parse(data)) : { encrypted_content: data };
}

export function withoutNulls(fields: Loose | undefined): Loose {
  return Object.fromEntries(Object.entries(fields ?? {}).filter(([, value]) => value !== null));
}
