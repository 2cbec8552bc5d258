/**
 * What the gateway is measured against: relays that do nothing but pass a call on. A program of its own; takes the name of
 * the relay and the provider's address, prints its port.
 *
 * - `json`: Deno.serve to fetch, the bodies of both ways parsed, changed and serialised;
 * - `byob`: a messages call to a chat-completions stream, read by fetch and a BYOB reader, each frame parsed and written as
 *   an event of messages.
 *
 * With a third argument `tls` its callers are behind TLS, and may speak HTTP/2.
 */
import { TLS } from "../support/tls.ts";

const [name, provider, side] = Deno.args;
const HEADERS = { "content-type": "application/json", authorization: "Bearer bench" };
const BUFFER_BYTES = 16 * 1024;

const encoder = new TextEncoder();

function ask(body: unknown): Promise<Response> {
  return fetch(`${provider}/chat/completions`, {
    method: "POST",
    headers: HEADERS,
    body: JSON.stringify(body),
  });
}

async function json(request: Request): Promise<Response> {
  const body = await request.json();
  body.model = String(body.model);
  const response = await ask(body);
  const answer = await response.json();
  answer.model = "bench/relay";
  return new Response(JSON.stringify(answer), {
    status: response.status,
    headers: { "content-type": "application/json" },
  });
}

async function byob(request: Request): Promise<Response> {
  const { model, messages, max_tokens } = await request.json();
  const response = await ask({ model, messages, max_tokens, stream: true });
  const reader = response.body!.getReader({ mode: "byob" });
  const convert = converter();
  let buffer = new ArrayBuffer(BUFFER_BYTES);
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      while (true) {
        const { value, done } = await reader.read(new Uint8Array(buffer));
        if (done || value === undefined) return controller.close();
        const text = convert(value);
        buffer = value.buffer;
        if (text === "") continue;
        return controller.enqueue(encoder.encode(text));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

function event(type: string, fields: Record<string, unknown>): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

/** Bytes of a chat-completions stream to text of a messages stream. */
function converter(): (bytes: Uint8Array) => string {
  const decoder = new TextDecoder();
  let rest = "";
  let started = false;
  let reason = "end_turn";
  let usage = { input_tokens: 0, output_tokens: 0 };

  function convert(data: string): string {
    if (data === "[DONE]") {
      return event("content_block_stop", { index: 0 }) +
        event("message_delta", { delta: { stop_reason: reason, stop_sequence: null }, usage }) +
        event("message_stop", {});
    }
    const frame = JSON.parse(data);
    let out = "";
    if (!started) {
      started = true;
      const message = { id: frame.id, type: "message", role: "assistant", model: frame.model, content: [] };
      out = event("message_start", { message: { ...message, stop_reason: null, usage } }) +
        event("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
    }
    if (frame.usage) {
      usage = { input_tokens: frame.usage.prompt_tokens, output_tokens: frame.usage.completion_tokens };
    }
    const choice = frame.choices[0];
    if (choice?.finish_reason === "length") reason = "max_tokens";
    const text = choice?.delta.content;
    if (text) out += event("content_block_delta", { index: 0, delta: { type: "text_delta", text } });
    return out;
  }

  return (bytes) => {
    const text = rest + decoder.decode(bytes, { stream: true });
    let out = "";
    let from = 0;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n", from)) {
      if (text.startsWith("data: ", from)) out += convert(text.slice(from + 6, end));
      from = end + 2;
    }
    rest = text.slice(from);
    return out;
  };
}

Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  ...(side === "tls" && TLS),
  onListen: ({ port }) => console.log(port),
}, name === "byob" ? byob : json);
