/**
 * A gateway before a provider that fails as a test says: one route to a model that is faulty, and beside it a sound one, which
 * must not suffer.
 */
import {
  type Exchange,
  type FaultyProvider,
  faultyProvider,
  type Script,
} from "../support/faulty_provider.ts";
import { type TestGateway, testGateway } from "../support/gateway.ts";
import { StoppedClock } from "../support/time.ts";

export const ADMIN = "admin-key-of-the-test";
export const HEADERS = { "content-type": "text/event-stream", "transfer-encoding": "chunked" };
export const frame = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
export const delta = (content: string, finish: string | null = null) =>
  frame({
    id: "c1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta: { role: "assistant", content }, finish_reason: finish }],
  });
const USAGE = { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 };
export const ENDING = delta(" there", "stop") +
  frame({ id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage: USAGE }) +
  "data: [DONE]\n\n";
export const WHOLE = JSON.stringify({
  id: "c1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi there" }, finish_reason: "stop" }],
  usage: USAGE,
});

/** A sound answer. */
export function sound(exchange: Exchange): void {
  if (exchange.stream) {
    exchange.head(200, HEADERS);
    exchange.chunk(delta("Hi") + ENDING);
    exchange.write("0\r\n\r\n");
  } else whole(exchange, 200, WHOLE);
}

export function whole(
  exchange: Exchange,
  status: number,
  text: string,
  headers: Record<string, string> = {},
): void {
  exchange.head(status, {
    "content-type": "application/json",
    "content-length": String(text.length),
    ...headers,
  });
  exchange.write(text);
}

export const refusal =
  (status: number, body: unknown = { error: { message: "no" } }, headers = {}): Script => (e) =>
    whole(e, status, JSON.stringify(body), headers);

/** The first so many requests fail, the others do not. */
export const burst = (times: number, script: Script): Script => (e, nth) =>
  nth < times ? script(e, nth) : sound(e);

export interface Setting {
  provider: FaultyProvider;
  gateway: TestGateway;
  clock: StoppedClock;
  /** Milliseconds of the waits before retries. */
  slept: number[];
  /** What the last caller has received of an answer. */
  heard(): string;
  ask(model: string, stream: boolean): Promise<Seen>;
  health(
    model: string,
  ): Promise<{ state: string; failures: number; calls: number; retries: number; attempts_failed: number }>;
  records(): Promise<Record<string, unknown>[]>;
}

export interface Seen {
  status: number;
  /** Of the envelope, or of the stream's error event; null: a good answer. */
  code: string | null;
  text: string;
  retryAfter: string | null;
}

export interface Options {
  /** Sees each request that reaches the gateway. */
  onRequest?(request: Request): void;
  url?: string;
  provider?: Record<string, unknown>;
  /** Routes of the faulty model beside the first. */
  more?: Record<string, Record<string, unknown>>;
}

export async function setting(
  script: Script,
  use: (s: Setting) => Promise<void>,
  options: Options = {},
): Promise<void> {
  const provider = await faultyProvider((e, nth) => e.model === "sound" ? sound(e) : script(e, nth));
  const clock = new StoppedClock(1000);
  const slept: number[] = [];
  let heard = "";
  const shape = { api: "openai-chat", api_key: "k", retries: 0, ...options.provider };
  const gateway = await testGateway({}, {
    server: { keepalive_seconds: 86_000 },
    admin_key: ADMIN,
    providers: { p: { ...shape, base_url: options.url ?? provider.url }, ...options.more },
    models: [
      {
        id: "p/faulty",
        pricing: { prompt: "0.001", completion: "0.002" },
        routes: ["p", ...Object.keys(options.more ?? {})].map((name) => ({
          provider: name,
          model: "faulty",
        })),
      },
      { id: "p/sound", routes: [{ provider: "p", model: "sound" }] },
    ],
  }, {
    clock,
    sleep: (ms) => {
      slept.push(ms);
      return Promise.resolve();
    },
    onRequest: options.onRequest,
  });
  const admin = async (path: string) => {
    const response = await fetch(gateway.url + path, { headers: { authorization: `Bearer ${ADMIN}` } });
    return (await response.json()).data;
  };
  try {
    await use({
      provider,
      gateway,
      clock,
      slept,
      heard: () => heard,
      async ask(model, stream) {
        heard = "";
        const response = await gateway.post("/v1/chat/completions", {
          model: `p/${model}`,
          stream,
          messages: [{ role: "user", content: "Hello" }],
        });
        let text = "";
        for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
          text += piece;
          heard = text;
        }
        const code = /"code":"(\w+)"/.exec(text)?.[1] ?? null;
        return { status: response.status, code, text, retryAfter: response.headers.get("retry-after") };
      },
      async health(model) {
        const [{ models }] = await admin("/admin/providers");
        return models.find((m: { model: string }) => m.model === model);
      },
      records: () => admin("/admin/generations"),
    });
  } finally {
    await gateway.close();
    await provider.close();
  }
}
