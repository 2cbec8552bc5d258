/** Writes streamed answers to a connection. */
import { settled } from "../timing/waits.ts";
import { LARGE_BYTES } from "./unsent_answers.ts";
import { type BodyReader, PulledBody } from "./pulled_body.ts";
import { chunk, LAST_CHUNK } from "./response_bytes.ts";
import { headBytes } from "./text_bytes.ts";

/** What is needed from a connection. */
export interface StreamPlace {
  readonly closed: boolean;
  write(bytes: Uint8Array): Promise<void>;
  /** Writes a few bytes; closes the connection if that fails. Never rejects; `taken` is called at the end. */
  writeDirectly(bytes: Uint8Array, taken: () => void): Promise<void>;
  /** Called while the stream has nothing to write. */
  handles(): void;
  close(): void;
}

export interface StreamedAnswer {
  reader: BodyReader;
  head: string;
  chunked: boolean;
}

/**
 * Resolves when everything is written, or the connection is closed. If a write fails, closes the connection
 * and rejects.
 */
export async function writeStream(place: StreamPlace, answer: StreamedAnswer): Promise<void> {
  const { reader, chunked } = answer;
  let { head } = answer;
  // Released, since it would otherwise be kept until the end of the stream: there may be thousands of them.
  answer.head = "";
  try {
    let first: ReturnType<BodyReader["read"]> | null = reader.read();
    // The head is written together with the first bytes, if there are any.
    if (!await settled(first)) {
      await place.write(headBytes(head));
      head = "";
      place.handles();
    }
    let step: Awaited<ReturnType<BodyReader["read"]>> | null = await first;
    first = null;
    let begun = false;
    while (!step.done) {
      const last = chunked && reader.over === true;
      await place.write(chunk(head, step.value!, chunked, last));
      if (last) return;
      if (!begun && chunked && reader instanceof PulledBody) passBy(place, reader);
      begun = true;
      head = "";
      place.handles();
      step = null;
      step = await reader.read();
    }
    // The client closed the connection meanwhile, which cancelled the stream.
    if (place.closed) return;
    if (chunked || head !== "") await place.write(headBytes(head + (chunked ? LAST_CHUNK : "")));
  } catch (thrown) {
    // The status has been sent, so the error can only be signalled by closing without the last chunk.
    place.close();
    throw thrown;
  }
}

function passBy(place: StreamPlace, body: PulledBody): void {
  body.passBy((bytes, taken) => {
    const piece = chunk("", bytes, true);
    return piece.length > LARGE_BYTES
      ? place.write(piece).then(() => place.handles(), () => place.close()).then(taken)
      : place.writeDirectly(piece, taken);
  });
}
