/** The text of a file: its own text, or the text extracted from a document. */
import { textOfFile } from "../documents/data_text.ts";
import { documentKind, writtenKind } from "../documents/kind.ts";
import type { Documents } from "../documents/mod.ts";
import { LARGEST, STDIN } from "./find_files.ts";

export interface FileContent {
  text: string;
  /** The text was extracted from a document: lines and columns refer to this text, not to the file. */
  extracted: boolean;
  /** The rendered text of a mail, of markup or of RTF, if it differs from the file's own text. */
  shown?: string;
  /** Why a part of the file is missing in the text; null: nothing is missing. */
  missing: string | null;
}

const MISSING = "a part of it, because it holds images or other data without text";

/** The file cannot be read; the message is the reason. */
export class Unreadable extends Error {}

/** Resolves with a string if there is no text: the reason. Throws {@link Unreadable}. */
export async function contentOf(path: string, documents: Documents): Promise<FileContent | string> {
  let bytes: Uint8Array<ArrayBuffer> | null;
  try {
    bytes = await bytesOf(path === STDIN ? Deno.stdin.readable : (await Deno.open(path)).readable);
  } catch (error) {
    throw new Unreadable(error instanceof Error ? error.message : String(error));
  }
  if (bytes === null) return `it is larger than ${LARGEST / 1_048_576} MB`;
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

/** Null: more bytes than are read. The size is not asked for first: a pipe has none, and a device no end. */
async function bytesOf(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  // Leaving the loop closes the file.
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > LARGEST) return null;
    chunks.push(chunk);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
