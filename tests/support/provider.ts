/**
 * A provider on loopback that does as it is told: each request is answered by a function of the test, and kept for the
 * test to look at.
 */
import { nextTurn } from "./time.ts";

export interface Seen {
  path: string;
  headers: Headers;
  body: Record<string, unknown>;
  /** The body as it came. */
  text: string;
}

export interface LoopbackProvider extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, without a slash at the end. */
  url: string;
  seen: Seen[];
  close(): Promise<void>;
}

/** Starts one. `answer` is called for each request, in order of arrival. */
export function loopbackProvider(
  answer: (seen: Seen, nth: number) => Response | Promise<Response>,
): LoopbackProvider {
  const seen: Seen[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const text = await request.text();
    const one = {
      path: new URL(request.url).pathname + new URL(request.url).search,
      headers: request.headers,
      body: text === "" ? {} : JSON.parse(text),
      text,
    };
    seen.push(one);
    return await answer(one, seen.length - 1);
  });
  const close = () => server.shutdown();
  return { url: `http://127.0.0.1:${server.addr.port}`, seen, close, [Symbol.asyncDispose]: close };
}

/**
 * A stream of these pieces. Each leaves by itself, but the gateway may read several of them at once: where that makes a
 * difference, those behind the first wait for a gate. See {@link readGated}.
 */
export function sseResponse(pieces: readonly (string | Uint8Array)[], gate?: Promise<void>): Response {
  const encoder = new TextEncoder();
  let i = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (i === pieces.length) return controller.close();
      if (i > 0) await (gate ?? nextTurn());
      const piece = pieces[i++];
      controller.enqueue(typeof piece === "string" ? encoder.encode(piece) : piece);
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** The whole answer as text; the gate opens once its start has come. */
export async function readGated(response: Response, gate: PromiseWithResolvers<void>): Promise<string> {
  let text = "";
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    gate.resolve();
    text += piece;
  }
  return text;
}
