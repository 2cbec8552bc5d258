/** The worker that reads documents. It answers null for a document that it cannot read, for whatever reason. */
import { readDocument } from "./read_document.ts";
import type { WorkerReply } from "../timing/worker_line.ts";
import type { DocumentKind, DocumentText } from "./kind.ts";

export interface DocumentJob {
  kind: DocumentKind;
  bytes: Uint8Array<ArrayBuffer>;
}

/** The type check uses the types of the main thread, whose `self` differs. */
declare const self: {
  onmessage: (event: MessageEvent<DocumentJob & { id: number }>) => void;
  postMessage(reply: WorkerReply<DocumentText>): void;
};

self.onmessage = async ({ data }) => {
  self.postMessage({ id: data.id, result: await readDocument(data.kind, data.bytes).catch(() => null) });
};
