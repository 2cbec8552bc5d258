/**
 * The rig: one loopback provider that answers with recordings, and one gateway in front of it. A request names the
 * recording in its text; how that is sent (whole, cut, in which pieces) the test has put down before.
 */
import { FEATURES, type TestGateway, testGateway, type TestProvider } from "../support/gateway.ts";
import { type LoopbackProvider, loopbackProvider } from "../support/provider.ts";
import { type CallerName, type CallerReading, PATHS, readCaller } from "./caller.ts";
import type { RecordedApi, Recording } from "../support/recordings.ts";

/** How the provider sends a recording. */
export interface Sending {
  recording: Recording;
  /** The body in network pieces. */
  pieces: Uint8Array<ArrayBuffer>[];
}

export interface Rig {
  ask(caller: CallerName, sending: Sending, stream: boolean, choices: number): Promise<CallerReading>;
  close(): Promise<void>;
}

/** The gateway's name of each API, which is also the name of its provider here. */
const NAMES: Readonly<Record<RecordedApi, TestProvider["api"]>> = {
  "openai-chat": "openai-chat",
  "openai-responses": "openai-responses",
  "anthropic-messages": "anthropic-messages",
  "gemini-generate": "gemini",
};

export async function openRig(): Promise<Rig> {
  const sendings = new Map<string, Sending>();
  const provider: LoopbackProvider = loopbackProvider((seen) => {
    provider.seen.length = 0;
    const [ticket] = /ticket-\d+/.exec(JSON.stringify(seen.body)) ?? [""];
    const sending = sendings.get(ticket);
    if (!sending) return new Response("no such ticket", { status: 599 });
    sendings.delete(ticket);
    return answer(sending);
  });
  const gateway: TestGateway = await testGateway(
    Object.fromEntries(
      Object.values(NAMES).map((api) => [api, { api, url: provider.url, model: { capabilities: CAPABLE } }]),
    ),
  );
  let tickets = 0;
  return {
    async ask(caller, sending, stream, choices) {
      const ticket = `ticket-${tickets++}`;
      sendings.set(ticket, sending);
      const model = `${NAMES[sending.recording.api]}/model`;
      const response = await gateway.post(PATHS[caller], request(caller, model, ticket, stream, choices));
      return await readCaller(caller, response, stream);
    },
    async close() {
      await gateway.close();
      await provider.close();
    },
  };
}

const CAPABLE = {
  modality_input: ["text"],
  modality_output: ["text", "image", "audio"],
  features: FEATURES,
};

function request(caller: CallerName, model: string, said: string, stream: boolean, choices: number) {
  switch (caller) {
    case "chat_completions":
      return {
        model,
        messages: [{ role: "user", content: said }],
        stream,
        ...(choices > 1 && { n: choices }),
        // Usage comes unasked; who asks gets it on a chunk without choices.
        ...(stream && /[02468]$/.test(said) && { stream_options: { include_usage: true } }),
      };
    case "messages":
      return { model, max_tokens: 4096, messages: [{ role: "user", content: said }], stream };
    case "responses":
      return { model, input: said, stream };
  }
}

function answer({ recording, pieces }: Sending): Response {
  const headers = new Headers();
  const recorded = recording.response_headers ?? {};
  for (const name of ["content-type", "retry-after", "retry-after-ms", "x-should-retry"]) {
    if (recorded[name]) headers.set(name, recorded[name]);
  }
  if (recording.sse !== null) headers.set("content-type", "text/event-stream");
  else if (!headers.has("content-type")) headers.set("content-type", "application/json");
  let next = 0;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      if (next === pieces.length) controller.close();
      else controller.enqueue(pieces[next++]);
    },
  });
  return new Response(body, { status: recording.status, headers });
}
