/**
 * Size limits of one streamed answer. An endless answer of a provider would occupy capacity, and memory for each part, as long as somebody
 * reads it; the idle timeout does not end it, because data arrives all the time.
 */
import { Failure, TIMED_OUT } from "../../exchange/failure.ts";
import type { Part } from "../../exchange/part.ts";
import { brokenAnswer } from "../../formats/failures/decode_failure.ts";

const MB = 1024 * 1024;
/** Limit of a stream, in bytes. 100,000 tokens with the log probabilities of 20 alternatives each are some 300 MB. */
const MOST_BYTES = 512 * MB;
/** Limit of an answer that is collected in memory, and of one whose caller has disconnected, in bytes. */
const MOST_KEPT_BYTES = 64 * MB;
/** Characters of text and media. */
const MOST_CHARS = 64 * MB;
/** Limit of the parts besides text: starts and ends of blocks, citations. */
const MOST_EVENTS = 100_000;
/** Limit of bytes without content; the largest frame is half as much. */
const MOST_SILENT_BYTES = 64 * MB;
/** Limit of the time without content, in milliseconds. Some providers send comments as keep-alives while a call waits in their queue. */
const MOST_SILENT_MS = 1_800_000;

export interface AnswerBoundsOptions {
  /** The answer is collected in memory until its end. */
  whole: boolean;
  /** The caller has disconnected. */
  left(): boolean;
  /** Milliseconds of a monotonic clock that is updated now and then. */
  lately(): number;
}

export class AnswerBounds {
  readonly #options: AnswerBoundsOptions;
  #bytes = 0;
  #chars = 0;
  #events = 0;
  /** Byte position and time of the last content. */
  #said = 0;
  #saidAt: number;

  constructor(options: AnswerBoundsOptions) {
    this.#options = options;
    this.#saidAt = options.lately();
  }

  /** @param from index of the first part decoded from these bytes. @returns the failure that ends the answer, if a limit is exceeded */
  take(bytes: number, parts: readonly Part[], from: number): Failure | undefined {
    this.#bytes += bytes;
    for (let i = from; i < parts.length; i++) {
      const part = parts[i];
      if ("text" in part) this.#chars += part.text.length;
      // Some providers report usage with each delta: a report replaces the earlier one and is not content.
      else if (part.type === "usage") continue;
      // The complete audio counts.
      else if (part.type !== "sound-delta") {
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
