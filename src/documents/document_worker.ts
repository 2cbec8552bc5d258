/** The worker that reads documents. One that it cannot read is answered with null, whatever is wrong with it. */
import { readArchive, readGzip } from "./archive_text.ts";
import type { WorkerReply } from "../timing/worker_line.ts";
import type { DocumentKind, DocumentText } from "./kind.ts";

export interface DocumentJob {
  kind: DocumentKind;
  bytes: Uint8Array<ArrayBuffer>;
}

/** The program's types are those of the main thread, whose `self` differs. */
declare const self: {
  onmessage: (event: MessageEvent<DocumentJob & { id: number }>) => void;
  postMessage(reply: WorkerReply<DocumentText>): void;
};

async function read({ kind, bytes }: DocumentJob): Promise<DocumentText | null> {
  if (kind === "zip") return readArchive(bytes);
  if (kind === "gzip") return readGzip(bytes);
  const { readPdf } = await import("./pdf_text.ts");
  return await readPdf(bytes);
}

self.onmessage = async ({ data }) => {
  self.postMessage({ id: data.id, result: await read(data).catch(() => null) });
};
