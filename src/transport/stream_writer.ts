/** Answers that come bit by bit, as they go out on a connection. */
import { settled } from "../timing/waits.ts";
import { LARGE_BYTES } from "./held_answers.ts";
import { type BodyReader, PulledBody } from "./pulled_body.ts";
import { chunk, LAST_CHUNK } from "./response_bytes.ts";
import { headBytes } from "./text_bytes.ts";

/** The part of a connection that is needed. */
export interface StreamPlace {
  readonly closed: boolean;
  write(bytes: Uint8Array): Promise<void>;
  /** Writes few bytes, and closes where that fails. Never rejects; `taken` is called in the end. */
  writeDirectly(bytes: Uint8Array, taken: () => void): Promise<void>;
  /** Nothing is written: the stream is waited for. */
  handles(): void;
  close(): void;
}

export interface StreamedAnswer {
  reader: BodyReader;
  head: string;
  chunked: boolean;
}

/** Resolves when all is written, or the connection is closed. Rejects, and closes, where it fails. */
export async function writeStream(place: StreamPlace, answer: StreamedAnswer): Promise<void> {
  const { reader, chunked } = answer;
  let { head } = answer;
  // Else it would be kept to the end of the stream, as what was written would: there may be thousands of them.
  answer.head = "";
  try {
    let first: ReturnType<BodyReader["read"]> | null = reader.read();
    // The head goes with the first bytes, where there are any.
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
    // A connection that the caller ended meanwhile has cancelled the stream, which then ends here.
    if (place.closed) return;
    if (chunked || head !== "") await place.write(headBytes(head + (chunked ? LAST_CHUNK : "")));
  } catch (thrown) {
    // Nothing more can be said: an end without the last chunk is how a caller learns that it is none.
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
