/**
 * Dump files: gzip-compressed, readable only by their owner, and renamed to their final path only when
 * complete.
 */
import { TextLineStream } from "@std/streams/text_line_stream.js";
import { writeAll } from "../../transport/write_all.ts";
import { BadDump } from "./dump.ts";

/** Characters passed to the compressor at a time. */
const CHUNK = 1 << 18;

/** Writes lines to a temporary file, syncs it to disk and renames it to `path`, replacing an existing file. */
export async function writeDump(path: string, lines: AsyncIterable<string>): Promise<void> {
  const draft = `${path}.part`;
  try {
    // Removed first, since an existing file would keep its own permissions.
    await Deno.remove(draft).catch(() => {});
    using file = await Deno.open(draft, { write: true, createNew: true, mode: 0o600 });
    const compressed = ReadableStream.from(inChunks(lines))
      .pipeThrough(new TextEncoderStream())
      .pipeThrough(new CompressionStream("gzip"));
    // Not piped to `file.writable`, which does not report that the disk is full (Deno 2.9.6).
    try {
      for await (const bytes of compressed) await writeAll(file, bytes);
      await file.sync();
    } catch (error) {
      throw withPath(error, draft);
    }
    await Deno.rename(draft, path);
  } catch (error) {
    await Deno.remove(draft).catch(() => {});
    throw error;
  }
}

/** Adds the path to an error of the operating system, as errors of opening a file have it. */
function withPath(error: unknown, path: string): unknown {
  if (error instanceof Error && /\(os error \d+\)$/.test(error.message)) {
    error.message += `: writefile '${path}'`;
  }
  return error;
}

async function* inChunks(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = "";
  for await (const line of lines) {
    chunk += line;
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = "";
  }
  if (chunk !== "") yield chunk;
}

/**
 * The lines of a dump file, without line breaks. Throws {@link BadDump} if the file is truncated or has
 * another format.
 */
export async function* readDump(path: string): AsyncGenerator<string> {
  const file = await Deno.open(path);
  const lines: ReadableStream<string> = file.readable
    .pipeThrough(new DecompressionStream("gzip"))
    .pipeThrough(new TextDecoderStream("utf-8", { fatal: true }))
    .pipeThrough(new TextLineStream());
  try {
    for await (const line of lines) yield line;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new BadDump(`This is not a whole backup: ${error.message}. Nothing was restored.`);
  }
}
