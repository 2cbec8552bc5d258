/**
 * How much one streamed answer may be. A provider that never ends would hold a call's place, and what each part leaves behind,
 * for as long as anybody reads; silence alone does not end it, because something comes all the time.
 */
import { Failure, TIMED_OUT } from "../exchange/failure.ts";
import type { Part } from "../exchange/part.ts";
import { brokenAnswer } from "../formats/decode_failure.ts";

const MB = 1024 * 1024;
/** Of a stream: a hundred thousand tokens with twenty alternatives each are some 300 MB. */
const MOST_BYTES = 512 * MB;
/** Of an answer that is kept whole for its caller, and of one whose caller has left. */
const MOST_KEPT_BYTES = 64 * MB;
/** Characters of text and media. */
const MOST_CHARS = 64 * MB;
/** What stays of an answer beside its text: starts and ends of blocks, citations. */
const MOST_EVENTS = 100_000;
/** Bytes that come without saying anything; the largest frame is half as much. */
const MOST_SILENT_BYTES = 64 * MB;
/** Bytes of comments keep a connection alive, and some providers send them while a call waits in their line. */
const MOST_SILENT_MS = 1_800_000;

export interface AnswerBoundsOptions {
  /** All of it is kept until its end. */
  whole: boolean;
  /** Nobody listens any more. */
  left(): boolean;
  /** Milliseconds, as of some moment ago. */
  lately(): number;
}

export class AnswerBounds {
  readonly #options: AnswerBoundsOptions;
  #bytes = 0;
  #chars = 0;
  #events = 0;
  /** Where, and when, something was said last. */
  #said = 0;
  #saidAt: number;

  constructor(options: AnswerBoundsOptions) {
    this.#options = options;
    this.#saidAt = options.lately();
  }

  /** @param from the first of the parts that so many bytes brought. Answers why no more is taken */
  take(bytes: number, parts: readonly Part[], from: number): Failure | undefined {
    this.#bytes += bytes;
    for (let i = from; i < parts.length; i++) {
      const part = parts[i];
      if ("text" in part) this.#chars += part.text.length;
      // Some providers report usage with each word: one report takes the place of another, and says nothing.
      else if (part.type === "usage") continue;
      else {
        this.#events++;
        if (part.type === "media") this.#chars += part.data.length;
      }
      this.#said = this.#bytes;
    }
    const { whole, left, lately } = this.#options;
    if (this.#said === this.#bytes) this.#saidAt = lately();
    else if (this.#bytes - this.#said > MOST_SILENT_BYTES) {
      return brokenAnswer(`${MOST_SILENT_BYTES} bytes of it say nothing`);
    } else if (lately() - this.#saidAt > MOST_SILENT_MS) {
      return new Failure(
        "provider_timeout",
        `${TIMED_OUT}: it said nothing for ${MOST_SILENT_MS / 1000} seconds.`,
      );
    }
    if (this.#events > MOST_EVENTS) {
      return brokenAnswer(`it has more than ${MOST_EVENTS} events beside its text`);
    }
    if (this.#chars > MOST_CHARS) return brokenAnswer(`it has more than ${MOST_CHARS} characters`);
    if (this.#bytes > MOST_KEPT_BYTES && (whole || this.#bytes > MOST_BYTES || left())) {
      return brokenAnswer(`it is over ${whole || left() ? MOST_KEPT_BYTES : MOST_BYTES} bytes`);
    }
  }
}
