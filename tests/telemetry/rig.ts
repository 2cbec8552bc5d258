/** A gateway that runs as a process of its own, with a provider, a search engine and a collector. */
import { assert, assertEquals } from "@std/assert";
import { SECRET } from "../support/gateway.ts";
import { serveProgram, type Serving } from "../support/program.ts";
import { loopbackProvider, sseResponse } from "../support/provider.ts";
import { exporting, otlpReceiver, type Receiver, type SpanSeen } from "./receiver.ts";

export const PROMPT = "canary-prompt";
export const ANSWER = "canary-answer";
const PROVIDER_KEY = "canary-provider-key-000001";
export const TRACE = "0af7651916cd43dd8448eb211c80319c";
export const PARENT = "b7ad6b7169203331";
export const TRACEPARENT = `00-${TRACE}-${PARENT}-01`;

const USAGE = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };

export const whole = (message: Record<string, unknown>, finish = "stop") =>
  Response.json({
    id: "c",
    object: "chat.completion",
    model: "model-2026",
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finish }],
    usage: USAGE,
  });

const frame = (delta: unknown, finish: string | null = null) =>
  `data: ${
    JSON.stringify({
      id: "c",
      object: "chat.completion.chunk",
      model: "model-2026",
      choices: [{ index: 0, delta, finish_reason: finish }],
      ...(finish && { usage: USAGE }),
    })
  }\n\n`;

export interface Rig {
  receiver: Receiver;
  gateway: Serving;
  /** Headers that the provider got, with the request's text. */
  seen: { headers: Headers; text: string }[];
  ask(body: Record<string, unknown>, headers?: Record<string, string>): Promise<Response>;
  /** All spans of a trace, once its server span is there. */
  trace(traceId?: string): Promise<{ server: SpanSeen; of(name: string): SpanSeen[]; all: SpanSeen[] }>;
}

export async function withRig(
  test: (rig: Rig) => Promise<void>,
  { config = {}, provider = {}, env = {}, answer }: {
    config?: Record<string, unknown>;
    provider?: Record<string, unknown>;
    env?: Record<string, string>;
    answer?: () => Response | Promise<Response>;
  } = {},
): Promise<void> {
  const receiver = otlpReceiver(answer);
  const hanging = Promise.withResolvers<void>();
  const upstream = loopbackProvider(async ({ text, body }, nth) => {
    if (text.includes("please fail") || (text.includes("please retry") && nth === 0)) {
      return Response.json({ error: { message: `no place for ${PROVIDER_KEY}` } }, { status: 503 });
    }
    if (text.includes("please hang")) await hanging.promise;
    if (text.includes("please search") && !text.includes("call_1")) {
      const call = { name: "web_search", arguments: `{"query":"${PROMPT} weather"}` };
      return whole(
        { content: null, tool_calls: [{ id: "call_1", type: "function", function: call }] },
        "tool_calls",
      );
    }
    if (body.stream !== true) return whole({ content: ANSWER });
    return sseResponse([
      frame({ role: "assistant", content: ANSWER }),
      frame({}, "stop"),
      "data: [DONE]\n\n",
    ]);
  });
  const engine = loopbackProvider(() =>
    Response.json({ results: [{ url: "https://site.test/a", title: "A", content: ANSWER }] })
  );
  const cwd = await Deno.makeTempDir();
  const gateway = await serveProgram(["serve"], {
    cwd,
    env: {
      ...exporting(receiver),
      // What a busy machine answers late would be sent again, and seen twice.
      OTEL_EXPORTER_OTLP_TIMEOUT: "120000",
      ...env,
      SLUICE_CONFIG: JSON.stringify({
        store: { url: "sqlite::memory:" },
        providers: {
          up: {
            api: "openai-chat",
            base_url: upstream.url,
            api_key: PROVIDER_KEY,
            trace_context: true,
            ...provider,
          },
        },
        models: [{
          id: "v/m",
          capabilities: { features: ["tools"] },
          routes: [{ provider: "up", model: "m" }],
          pricing: { prompt: "0", completion: "0" },
        }],
        search: { engine: "searxng", base_url: engine.url, price: "0" },
        dlp_policies: { strict: { mode: "block", entity_types: ["EMAIL_ADDRESS"] } },
        keys: [
          { name: "test", secret: SECRET, team: "crew" },
          { name: "strict", secret: "sk_live_strictstrictstrictstrict01", dlp_policy: "strict" },
        ],
        teams: [{ name: "crew" }],
        ...config,
      }),
    },
  });
  try {
    await test({
      receiver,
      gateway,
      seen: upstream.seen,
      ask: (body, headers = {}) =>
        fetch(`${gateway.url}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${SECRET}`, "content-type": "application/json", ...headers },
          body: JSON.stringify({ model: "v/m", messages: [{ role: "user", content: PROMPT }], ...body }),
        }),
      async trace(traceId = TRACE) {
        const isServer = (span: SpanSeen) => span.kind === 2 && span.traceId === traceId;
        await receiver.until(({ spans }) => spans.some(isServer));
        const all = receiver.spans.filter((span) => span.traceId === traceId);
        return { server: all.find(isServer)!, of: (name) => all.filter((span) => span.name === name), all };
      },
    });
    for (const canary of [PROMPT, ANSWER, PROVIDER_KEY, SECRET]) {
      assertEquals(receiver.raw.filter((text) => text.includes(canary)), [], canary);
    }
  } finally {
    hanging.resolve();
    gateway.kill("SIGTERM");
    await gateway.ended;
    await upstream.close();
    await engine.close();
    await receiver.close();
    await Deno.remove(cwd, { recursive: true });
  }
}

/** Every span but the first has a parent in the trace that was there when it began. */
export function assertTree({ server, all }: { server: SpanSeen; all: SpanSeen[] }): void {
  const byId = new Map(all.map((span) => [span.spanId, span]));
  for (const span of all) {
    if (span === server) continue;
    const parent = byId.get(span.parentSpanId);
    assert(parent !== undefined, `${span.name} has no parent`);
    assert(span.start >= parent!.start - 1 && span.end >= span.start, span.name);
  }
}
