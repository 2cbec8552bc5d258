/** The worker that reads documents. One that it cannot read is answered with null, whatever is wrong with it. */
import { readArchive, readGzip } from "./archive_text.ts";
import type { DocumentKind, DocumentText } from "./kind.ts";

export interface DocumentJob {
  id: number;
  kind: DocumentKind;
  bytes: Uint8Array<ArrayBuffer>;
}

export interface DocumentReply {
  id: number;
  read: DocumentText | null;
}

/** The program's types are those of the main thread, whose `self` differs. */
declare const self: {
  onmessage: (event: MessageEvent<DocumentJob>) => void;
  postMessage(reply: DocumentReply): void;
};

async function read({ kind, bytes }: DocumentJob): Promise<DocumentText | null> {
  if (kind === "zip") return readArchive(bytes);
  if (kind === "gzip") return readGzip(bytes);
  const { readPdf } = await import("./pdf_text.ts");
  return await readPdf(bytes);
}

self.onmessage = async (event: MessageEvent<DocumentJob>) => {
  const answer = await read(event.data).catch(() => null);
  self.postMessage({ id: event.data.id, read: answer } satisfies DocumentReply);
};
