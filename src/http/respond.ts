/**
 * Turns a run into a Response.
 *
 * The status of a stream is sent after the first batch of parts, so that an early failure has its own status. If the provider sends
 * nothing within the keep-alive interval, the status 200 is sent, and a later failure becomes the format's error event.
 */
import { HeldBody } from "../transport/held_body.ts";
import { PlainResponse } from "../transport/plain_response.ts";
import { Collector } from "../exchange/answer.ts";
import { jsonPieces } from "../exchange/json_pieces.ts";
import { deliverAll } from "../pipeline/generation/whole_parts.ts";
import { answerBody, type Step, type StreamDelivery } from "./answer_stream.ts";

/** An answer on its way to its caller. */
export interface Delivery extends StreamDelivery {
  /** Read when the status is sent; the caller may add headers to the object. */
  headers(): Record<string, string>;
  /**
   * The scheduler for work on the whole answer in slices; null: the answer is short. Called once the answer
   * is complete.
   */
  large(): (<T>(work: Generator<void, T>) => Promise<T>) | null;
}

const encoder = new TextEncoder();

/**
 * Sends the answer as one body. Rejects if the run fails.
 *
 * @param onText receives the text piece by piece
 */
export async function respondWhole(
  delivery: Delivery,
  onText: (piece: string) => void = () => {},
): Promise<Response> {
  try {
    const collector = new Collector();
    await deliverAll(delivery.parts, (batch) => collector.add(batch));
    const { answer } = collector;
    const { format, context } = delivery;
    const run = delivery.large();
    const body = run
      ? await run(written(() => format.encodeAnswer(answer, context), onText))
      : format.writeAnswer?.(answer, context) ?? JSON.stringify(format.encodeAnswer(answer, context));
    const headers = delivery.headers();
    headers["content-type"] = "application/json";
    if (typeof body === "string") onText(body);
    else headers["content-length"] = String(body.length);
    return new PlainResponse(body, { headers });
  } finally {
    delivery.over();
  }
}

/** Pieces written before other tasks may run. */
const PIECES = 16;

function* written(encode: () => unknown, onText: (piece: string) => void): Generator<void, HeldBody> {
  const answer = encode();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (const piece of jsonPieces(answer)) {
    onText(piece);
    pieces.push(encoder.encode(piece));
    if (pieces.length % PIECES === 0) yield;
  }
  yield;
  return new HeldBody(pieces);
}

/** Sends an event stream. Rejects if the run fails before its first part, unless a keep-alive was sent before. */
export async function respondStream(delivery: Delivery): Promise<Response> {
  const { first, begun } = await firstStep(delivery);
  return new PlainResponse(answerBody(delivery, first, begun), { headers: streamHeaders(delivery) });
}

/** The headers of a streamed answer. */
export function streamHeaders(delivery: Delivery): Record<string, string> {
  return {
    ...delivery.headers(),
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
  };
}

export interface FirstStep {
  first: Promise<Step>;
  /** The first step; null: nothing has arrived yet. */
  begun: Step | null;
}

/** Waits for the first batch, at most as long as a stream may be silent. Rejects with an early failure. */
export async function firstStep(
  { parts, keepAliveMs, ticker, over }: Pick<Delivery, "parts" | "keepAliveMs" | "ticker" | "over">,
): Promise<FirstStep> {
  const first = parts.next();
  let silent = false;
  await new Promise<void>((resolve) => {
    const deadline = ticker.deadline(() => {
      silent = true;
      resolve();
    });
    deadline.arm(keepAliveMs);
    const done = () => {
      deadline.close();
      resolve();
    };
    first.then(done, done);
  });
  const begun = silent ? null : await first.catch((thrown) => {
    over();
    throw thrown;
  });
  return { first, begun };
}
