/**
 * `fetch` for web searches while telemetry is on. Deno records the whole address of what its own `fetch` asks, and a search's
 * address holds the query, which is text of the conversation. The client of the providers records nothing by itself.
 */
import type { Send } from "../outgoing/send.ts";
import type { Ticker } from "../timing/ticker.ts";
import { withinNoTrace } from "./place.ts";

/** The search ends it sooner, by its signal. */
const LONGEST_MS = 600_000;

export function quietFetch(send: Send, ticker: Ticker) {
  return async (request: Request, { signal }: { signal: AbortSignal }): Promise<Response> => {
    const text = await request.text();
    const reply = await withinNoTrace(() =>
      send({
        method: request.method,
        url: request.url,
        headers: { accept: "*/*", "user-agent": "sluice", ...Object.fromEntries(request.headers) },
        body: text,
        firstByteMs: LONGEST_MS,
        idleMs: LONGEST_MS,
        signal,
      }, ticker)
    );
    const { status } = reply;
    // A redirect could lead to any address that the gateway's machine can reach.
    if (status >= 300 && status < 400) {
      reply.close();
      throw new TypeError("it redirects");
    }
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      async pull(controller) {
        const bytes = await reply.read();
        if (bytes !== null) return controller.enqueue(bytes.slice());
        reply.close();
        controller.close();
      },
      cancel: () => reply.close(),
    }, { highWaterMark: 0 });
    return new Response(body, { status, headers: { "content-type": reply.header("content-type") ?? "" } });
  };
}
