/**
 * What is around the gateway: a provider that does as each prompt says and notes what it has billed, a search engine, and who is
 * told of budgets.
 */
import { array, object } from "../../../src/exchange/json.ts";
import { loopbackProvider, type Seen } from "../../support/provider.ts";

/** What a prompt orders. */
export interface Order {
  nonce: string;
  /** Of the characters of the prompt, how many are billed as tokens; and of these, how many a cache gave or took. */
  share: number;
  cached: number;
  written: number;
  output: number;
  /** Rounds in which the model searches. */
  rounds: number;
  /** Searches that fail are those of rounds from this one on. */
  searchFails: number;
  /** The round in which the provider fails; -1: none. */
  fails: number;
  /** It fails in the middle of its answer. */
  breaks: boolean;
  /** It says nothing of what it has used. */
  silent: boolean;
  /** The tier of service that is asked for, and that the provider says it gave. */
  tier: string | undefined;
  serves: string | undefined;
  /** Parts of input and output. */
  audio: number;
  reasoning: number;
  spoken: number;
  /** The provider answers when it is told to. */
  held: boolean;
}

/** What one answer of the provider was billed. */
export interface Billed {
  input: number;
  cached: number;
  written: number;
  audio: number;
  output: number;
  reasoning: number;
  spoken: number;
  /** The tier of service that counts. */
  service: string | undefined;
}

/** What is billed of so many characters. */
export function billOf(order: Order, chars: number, cap: number): Billed {
  const input = Math.max(1, Math.floor(chars * order.share));
  const output = Math.min(order.output, cap);
  return {
    input,
    cached: Math.floor(input * order.cached),
    written: Math.floor(input * order.written),
    audio: Math.floor(input * order.audio),
    output,
    reasoning: Math.floor(output * order.reasoning),
    spoken: Math.floor(output * order.spoken),
    service: order.serves ?? order.tier,
  };
}

export interface Told {
  id: string;
  type: string;
  created: string;
  data: Record<string, unknown>;
}

export function openWorld() {
  const billed = new Map<string, Billed[]>();
  const failed = new Set<string>();
  /** Whose use was not told, with the characters that were asked. */
  const silent = new Map<string, number>();
  const searched = new Map<string, number>();
  /** By nonce: how many requests have come. */
  const asked = new Map<string, number>();
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const told = new Map<string, Told>();

  const provider = loopbackProvider(async (seen) => {
    const { order, round, chars } = orderOf(seen);
    asked.set(order.nonce, (asked.get(order.nonce) ?? 0) + 1);
    if (order.held && round === order.rounds) {
      const gate = gates.get(order.nonce) ?? Promise.withResolvers<void>();
      gates.set(order.nonce, gate);
      await gate.promise;
    }
    if (order.fails === round) {
      failed.add(order.nonce);
      if (order.breaks) return broken(seen);
      return Response.json({ error: { message: "no" } }, { status: 503 });
    }
    const cap = Number(seen.body.max_completion_tokens ?? seen.body.max_tokens);
    const bill = billOf(order, chars, cap);
    const all = billed.get(order.nonce) ?? [];
    if (order.silent) silent.set(order.nonce, chars);
    else billed.set(order.nonce, [...all, bill]);
    const searches = round < order.rounds && JSON.stringify(seen.body.tools ?? []).includes("web_search") &&
      seen.body.tool_choice !== "none";
    return answer(seen, { order, bill, query: searches ? `${order.nonce} ${round}` : null });
  });
  const orders = new Map<string, Order>();
  const engine = loopbackProvider(({ path }) => {
    const [nonce, round] = (new URL(`http://a${path}`).searchParams.get("q") ?? "").split(" ");
    if (Number(round) >= (orders.get(nonce)?.searchFails ?? 0)) return new Response("no", { status: 500 });
    searched.set(nonce, (searched.get(nonce) ?? 0) + 1);
    return Response.json({ results: [{ url: "https://a.test/", title: "A", content: "word ".repeat(40) }] });
  });
  const receiver = loopbackProvider(({ body }) => {
    const event = body as unknown as Told;
    told.set(event.id, event);
    return new Response(null, { status: 204 });
  });

  function orderOf({ body }: Seen) {
    const messages = array(body.messages).map(object);
    const content = messages.map(textOf).find((text) => text.startsWith("{"))!;
    const order: Order = JSON.parse(content.slice(0, content.indexOf("\n")));
    orders.set(order.nonce, order);
    const round = messages.filter(({ role }) => role === "tool").length;
    return { order, round, chars: messages.reduce((sum, one) => sum + textOf(one).length, 0) };
  }

  return {
    provider,
    engine,
    receiver,
    billed,
    failed,
    silent,
    searched,
    asked,
    told,
    release(nonce: string) {
      const gate = gates.get(nonce) ?? Promise.withResolvers<void>();
      gates.set(nonce, gate);
      gate.resolve();
    },
    async close() {
      for (const gate of gates.values()) gate.resolve();
      await Promise.all([provider.close(), engine.close(), receiver.close()]);
    },
  };
}

function textOf({ content }: Record<string, unknown>): string {
  return Array.isArray(content) ? content.map(({ text }) => text ?? "").join("") : String(content ?? "");
}

export type World = ReturnType<typeof openWorld>;

/** The answer ends behind its beginning. */
function broken({ body }: Seen): Response {
  return body.stream === true
    ? new Response(
      `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta: { content: "hel" } }] })}\n\n`,
      { headers: { "content-type": "text/event-stream" } },
    )
    : new Response('{"id":"c","object":"chat.completion","choices":[{"index":0,', {
      headers: { "content-type": "application/json" },
    });
}

function answer(
  { body }: Seen,
  { order, bill, query }: { order: Order; bill: Billed; query: string | null },
): Response {
  const used = {
    prompt_tokens: bill.input,
    completion_tokens: bill.output,
    total_tokens: bill.input + bill.output,
    prompt_tokens_details: {
      cached_tokens: bill.cached,
      cache_write_tokens: bill.written,
      audio_tokens: bill.audio,
    },
    completion_tokens_details: { reasoning_tokens: bill.reasoning, audio_tokens: bill.spoken },
  };
  const usage = order.silent ? undefined : used;
  const service_tier = order.serves;
  const call = query !== null && {
    id: `call_${query.replace(" ", "_")}`,
    type: "function",
    function: { name: "web_search", arguments: JSON.stringify({ query }) },
  };
  const message = call
    ? { role: "assistant", content: null, tool_calls: [call] }
    : { role: "assistant", content: "hello" };
  const finish_reason = call ? "tool_calls" : "stop";
  if (body.stream !== true) {
    return Response.json({
      id: "c",
      object: "chat.completion",
      model: "m",
      choices: [{ index: 0, message, finish_reason }],
      usage,
      service_tier,
    });
  }
  const chunk = (choices: unknown[], more = {}) =>
    `data: ${
      JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "m", service_tier, choices, ...more })
    }\n\n`;
  const delta = call ? { tool_calls: [{ index: 0, ...call }] } : { content: "hello" };
  return new Response(
    chunk([{ index: 0, delta }]) + chunk([{ index: 0, delta: {}, finish_reason }]) +
      (order.silent ? "" : chunk([], { usage })) +
      "data: [DONE]\n\n",
    { headers: { "content-type": "text/event-stream" } },
  );
}
