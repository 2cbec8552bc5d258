/** Gateways whose streams are kept, and what callers read of them. */
import { chatChunk } from "../support/answers.ts";
import { SECRET, type TestGateway, testGateway, type TestOptions } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";

const WORDS = Array.from({ length: 30 }, (_, i) => `word${i} `);
export const USAGE = `data: ${
  JSON.stringify({
    id: "c",
    choices: [],
    usage: { prompt_tokens: 5, completion_tokens: 30, total_tokens: 35 },
  })
}\n\n`;
export const FRAMES = [
  ...WORDS.map((content) => chatChunk({ content })),
  chatChunk({}, "stop"),
  USAGE,
  "data: [DONE]\n\n",
];

export const FORMATS = {
  chat: {
    path: "/v1/chat/completions",
    body: { model: "p/model", stream: true, messages: [{ role: "user", content: "hi" }] },
  },
  messages: {
    path: "/v1/messages",
    body: { model: "p/model", stream: true, max_tokens: 99, messages: [{ role: "user", content: "hi" }] },
  },
  responses: { path: "/v1/responses", body: { model: "p/model", stream: true, input: "hi" } },
} as const;

export const RESUME = { "x-svc-resume": "true" };

/** A provider that goes on when it is told to. */
export function steered() {
  const gates = FRAMES.map(() => Promise.withResolvers<void>());
  let calls = 0;
  const provider = loopbackProvider(() => {
    calls++;
    const encoder = new TextEncoder();
    return new Response(
      new ReadableStream({
        async start(controller) {
          for (const [i, frame] of FRAMES.entries()) {
            await gates[i].promise;
            controller.enqueue(encoder.encode(frame));
          }
          controller.close();
        },
      }),
      { headers: { "content-type": "text/event-stream" } },
    );
  });
  return {
    url: `${provider.url}/v1`,
    close: () => provider.close(),
    get calls() {
      return calls;
    },
    /** Lets frames out, up to one of them. */
    open: (until = FRAMES.length) => gates.slice(0, until).forEach(({ resolve }) => resolve()),
  };
}

export async function withGateway(
  body: (gateway: TestGateway, provider: ReturnType<typeof steered>) => Promise<void>,
  config: Record<string, unknown> = {},
  options: TestOptions = {},
): Promise<void> {
  const provider = steered();
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } }, config, options);
  try {
    await body(gateway, provider);
  } finally {
    provider.open();
    await gateway.close();
    await provider.close();
  }
}

export function resume(
  gateway: TestGateway,
  id: string,
  { last, query, secret = SECRET }: { last?: string; query?: string; secret?: string } = {},
): Promise<Response> {
  const search = query === undefined ? "" : `?starting_after=${encodeURIComponent(query)}`;
  return fetch(`${gateway.url}/v1/generations/${id}/stream${search}`, {
    headers: { authorization: `Bearer ${secret}`, ...(last !== undefined && { "last-event-id": last }) },
  });
}

export const idsOf = (text: string) => [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id);
export const eventsOf = (text: string) =>
  text.split("\n\n").filter((event) => event !== "" && !event.startsWith(":"));
export const idOf = (response: Response) => response.headers.get("x-request-id")!;

/** So many events of a stream, whose connection is broken then. */
export async function readEvents(response: Response, count: number): Promise<string> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (eventsOf(text.slice(0, text.lastIndexOf("\n\n") + 2)).length < count) {
    const { value, done } = await reader.read();
    if (done) break;
    text += value;
  }
  await reader.cancel();
  return eventsOf(text).slice(0, count).map((event) => `${event}\n\n`).join("");
}
