/** Extracts the text of documents, so that it is screened like other text. */
import { Buffer } from "node:buffer";
import { textOfFile } from "../../documents/data_text.ts";
import { isWritten } from "../../documents/kind.ts";
import type { Documents } from "../../documents/mod.ts";
import type { BodyLeaves, Leaf } from "../../formats/leaves/mod.ts";

/** Time limit for all documents of one request, in milliseconds; documents not processed by then count as not scanned. */
const BUDGET_MS = 15_000;

/** Whether a request has files whose text must be extracted. */
export function holdsDocuments({ leaves }: BodyLeaves): boolean {
  return leaves.some(({ kind }) => kind === "document");
}

/** Replaces each document by its text. If the text is incomplete or cannot be extracted, an unscannable item is added. */
export async function readDocuments(
  reading: BodyLeaves,
  documents: Documents,
  key: string,
): Promise<BodyLeaves> {
  const until = performance.now() + BUDGET_MS;
  const leaves: Leaf[] = [];
  for (const leaf of reading.leaves) {
    if (leaf.kind !== "document") {
      leaves.push(leaf);
      continue;
    }
    const media: Leaf = { ...leaf, kind: "media" };
    if (performance.now() > until) {
      leaves.push(media);
      continue;
    }
    const value = (leaf.holder[leaf.key] as string).slice(leaf.run!.start);
    const read = await documents.read(leaf.document!, Uint8Array.from(Buffer.from(value, "base64")), key);
    // A damaged document may still contain readable text.
    const text = read?.text ??
      (isWritten(leaf.document!) ? null : textOfFile(Buffer.from(value, "base64"))?.text) ?? "";
    if (text !== "") leaves.push({ ...leaf, kind: "encoded", text });
    if (!read?.whole) leaves.push(media);
  }
  return { ...reading, leaves };
}
