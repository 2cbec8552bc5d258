/**
 * The response body for a stream that is sent as a single event.
 *
 * In a chunked body the terminating chunk follows the event. If the connection breaks between the two, the
 * client has the complete answer but reports an error. With `content-length`, the body ends with the last
 * byte of the event.
 */
import { PlainResponse } from "../transport/plain_response.ts";

/** Starts an SSE comment: the stream had to start before any event was available. */
const COLON = 58;

/** Adds `content-length`, unless the body starts before it is complete. */
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
