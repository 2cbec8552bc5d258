/** Puts the text of documents into a reading, so that it is screened as everything else is. */
import { Buffer } from "node:buffer";
import { textOfFile } from "../documents/data_text.ts";
import { isWritten } from "../documents/kind.ts";
import type { Documents } from "../documents/mod.ts";
import type { BodyLeaves, Leaf } from "../formats/leaves.ts";

/** Milliseconds that all documents of one request have; those that have no turn by then count as not scanned. */
const BUDGET_MS = 15_000;

/** Whether a request has files whose text would have to be read. */
export function holdsDocuments({ leaves }: BodyLeaves): boolean {
  return leaves.some(({ kind }) => kind === "document");
}

/** Each document becomes its text; where that is not all of it, or where it cannot be read, media stands beside or instead. */
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
    // Broken as a document, it may still be read as a text, as all that is written is anyhow.
    const text = read?.text ??
      (isWritten(leaf.document!) ? null : textOfFile(Buffer.from(value, "base64"))?.text) ?? "";
    if (text !== "") leaves.push({ ...leaf, kind: "encoded", text });
    if (!read?.whole) leaves.push(media);
  }
  return { ...reading, leaves };
}
