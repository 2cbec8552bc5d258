/**
 * Stage: hands what was asked and what was answered to the payload log, once the call is over, however it ended.
 *
 * It stands behind screening and before masked values are put back, so that it has what the provider saw. The request is
 * the caller's body after masking; the answer is in the caller's format, as one object, also where it was streamed.
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

/** Characters of an answer that are kept; of a longer one the rest is left out. */
const MOST_CHARS = 16 << 20;
/** No queue is larger. */
const MOST_BYTES = 2 ** 32;

/** What of the pipeline it works with. */
export interface Keeper {
  ticker: Clock;
  sealer: Sealer;
}

/** @param body the request's, which the call lets go of before its end */
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

/** What the caller's format makes of it; null: nothing was said. */
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
    // The beginning of an answer may be none that the format can say.
    return { blocks: answer.choices.flatMap(({ blocks }) => blocks) };
  }
}

class BoundedAnswer {
  readonly #collector = new Collector();
  /** Blocks that have begun, and how each of them ends. */
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

  /** With the blocks ended that were not. Null: nothing was said. */
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
