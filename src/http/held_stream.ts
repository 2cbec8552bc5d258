/**
 * The body of a stream that is held back until it is one event.
 *
 * Behind an event of a stream comes what ends the body; a connection that breaks there has brought all of the answer, and a
 * client takes it for broken all the same. With its length given, the body ends with the byte that ends the event.
 */
import { PlainResponse } from "../transport/plain_response.ts";

/** Begins a comment: nothing was there yet when the stream had to begin. */
const COLON = 58;

/** The same with its length, unless it begins before all of it is there. */
export async function withLength(response: Response): Promise<Response> {
  const headers = PlainResponse.fieldsOf(response);
  if (!headers?.["content-type"].startsWith("text/event-stream") || response.body === null) return response;
  const reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  const first = await reader.read();
  if (first.value?.[0] === COLON) return new PlainResponse(going(first.value, reader), { headers });
  const decoder = new TextDecoder();
  let text = "";
  for (let step = first; !step.done; step = await reader.read()) {
    text += decoder.decode(step.value, { stream: true });
  }
  return new PlainResponse(text, { headers });
}

function going(
  first: Uint8Array<ArrayBuffer>,
  reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    start: (controller) => controller.enqueue(first),
    async pull(controller) {
      const { value, done } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}
