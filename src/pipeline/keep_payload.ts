/**
 * Stage: passes the request and the answer to the payload log when the call has ended, whatever its outcome.
 *
 * This stage comes after screening and before placeholders are replaced, so it has what the provider saw. The request is the caller's body
 * after masking. The answer is one object in the caller's format, also if it was streamed.
 */
import { type Answer, Collector } from "../exchange/answer.ts";
import { Failure } from "../exchange/failure.ts";
import type { GenerationStatus } from "../exchange/generation.ts";
import type { Part } from "../exchange/part.ts";
import { sizeUpTo } from "../exchange/json_pieces.ts";
import type { PayloadLog } from "../payloads/mod.ts";
import { answerName } from "./answer_name.ts";
import { answeredBy, type Call, elapsed } from "./call.ts";
import type { Sealer } from "./seal.ts";
import type { Clock } from "../timing/clock.ts";

/** Maximum characters of a stored answer; longer ones are truncated. */
const MOST_CHARS = 16 << 20;
/** No queue is larger. */
const MOST_BYTES = 2 ** 32;

/** The parts of the {@link Kit} that this stage uses. */
export interface Keeper {
  ticker: Clock;
  sealer: Sealer;
}

/** @param body the body of the request, which the call releases before its end */
export async function* keepPayload(
  parts: AsyncGenerator<readonly Part[]>,
  { call, body, kit, log }: { call: Call; body: unknown; kit: Keeper; log: PayloadLog },
): AsyncGenerator<readonly Part[]> {
  const answer = new BoundedAnswer();
  let ttft: number | null = null;
  let failure: Failure | null = null;
  let finished = false;
  try {
    for await (const batch of parts) {
      ttft ??= elapsed(call, kit);
      answer.add(batch);
      yield batch;
    }
    finished = !call.cut;
  } catch (thrown) {
    failure = Failure.from(thrown);
    throw thrown;
  } finally {
    const { arrival, prompt, provider, screened } = call;
    const known = {
      id: arrival.id,
      created: new Date(call.created).toISOString(),
      key: arrival.key.name,
      key_id: arrival.key.id,
      account: arrival.key.account,
      format: arrival.formatName,
      model: answeredBy(call).id,
      provider,
      stream: prompt.stream,
      status: failure ? "failed" : !finished ? "interrupted" : answer.status,
      error: failure && { code: failure.code, message: failure.message },
      ttft_ms: ttft,
      latency_ms: elapsed(call, kit),
      dlp: screened && { mode: screened.mode, findings: screened.findings },
      answer_cut: answer.cut,
    };
    log.add(arrival.id, arrival.key.id, sizeUpTo(body, MOST_BYTES) + answer.chars, () => ({
      ...known,
      answer: answerOf(answer.complete(), call, kit),
      request: body,
    }));
  }
}

/** The answer in the caller's format; null: there is no content. */
function answerOf(answer: Answer | null, call: Call, kit: Keeper): unknown {
  if (answer === null) return null;
  const { arrival, prompt, created } = call;
  try {
    return arrival.format.encodeAnswer(answer, {
      id: arrival.id,
      created: Math.floor(created / 1000),
      model: () => answerName(call),
      prompt,
      seal: kit.sealer.of(arrival.key.account).seal,
    });
  } catch {
    // An answer that was cut at its beginning may not be valid in the format.
    return { blocks: answer.choices.flatMap(({ blocks }) => blocks) };
  }
}

class BoundedAnswer {
  readonly #collector = new Collector();
  /** Open blocks, with the part that ends each of them. */
  readonly #open = new Map<number, Part>();
  /** Of texts and media. */
  chars = 0;
  #filtered = false;
  cut = false;

  add(batch: readonly Part[]): void {
    for (const part of batch) {
      this.chars += sizeOf(part);
      if (
        this.chars > MOST_CHARS && part.type.endsWith("-delta") ||
        part.type === "media" && this.chars > MOST_CHARS
      ) {
        this.cut = true;
        continue;
      }
      if (part.type === "text-start") this.#open.set(part.block, { type: "text-end", block: part.block });
      else if (part.type === "reasoning-start") {
        this.#open.set(part.block, { type: "reasoning-end", block: part.block });
      } else if (part.type === "call-start") {
        this.#open.set(part.block, { type: "call-end", block: part.block });
      } else if (part.type === "text-end" || part.type === "reasoning-end" || part.type === "call-end") {
        this.#open.delete(part.block);
      } else if (part.type === "finish") {
        this.#filtered ||= part.reason === "length" || part.reason === "content-filter";
      }
      this.#collector.add([part]);
    }
  }

  get status(): GenerationStatus {
    return this.#filtered ? "incomplete" : "completed";
  }

  /** The answer, with open blocks ended. Null: there is no content. */
  complete(): Answer | null {
    this.#collector.add([...this.#open.values()]);
    this.#open.clear();
    const { answer } = this.#collector;
    return answer.choices.length === 0 ? null : answer;
  }
}

function sizeOf(part: Part): number {
  if ("text" in part) return part.text.length;
  return part.type === "media" ? part.data.length : 0;
}
