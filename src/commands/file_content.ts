/** What a file says: its own text, or the text that is taken out of a document. */
import { textOfFile } from "../documents/data_text.ts";
import { documentKind, writtenKind } from "../documents/kind.ts";
import type { Documents } from "../documents/mod.ts";
import { LARGEST, STDIN } from "./find_files.ts";

export interface FileContent {
  text: string;
  /** Taken out of a document: lines and columns are of this text, not of the file. */
  extracted: boolean;
  /** What the file is shown as, where that differs from its text: mail, markup, RTF. */
  shown?: string;
  /** Why a part of the file is not in the text; null: all of it is. */
  missing: string | null;
}

const MISSING = "a part of it, because it holds images or other data without text";

/** A string: why there is none. */
export async function contentOf(path: string, documents: Documents): Promise<FileContent | string> {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = path === STDIN
      ? new Uint8Array(await new Response(Deno.stdin.readable).arrayBuffer())
      : await Deno.readFile(path);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  if (bytes.length > LARGEST) return `it is larger than ${LARGEST / 1_048_576} MB`;
  const kind = documentKind(bytes);
  if (kind !== null) {
    const read = await documents.read(kind, bytes.slice());
    if (read !== null) {
      return { text: read.text, extracted: true, missing: read.whole ? null : MISSING };
    }
  }
  const own = textOfFile(bytes);
  if (own === null) {
    return kind === null
      ? "it holds no text"
      : "it is a document that is encrypted, broken or too large to be unpacked";
  }
  // Editors do not count the byte order mark.
  const text = own.text.replace(/^\ufeff/, "");
  const written = writtenKind(text);
  const shown = written && await documents.read(written, new TextEncoder().encode(text));
  return {
    text,
    extracted: false,
    ...shown && { shown: shown.text },
    missing: written === null || shown?.whole ? null : MISSING,
  };
}
