/**
 * What is around the gateway: a provider that does as each prompt says and notes what it has billed, a search engine, and who is
 * told of budgets.
 */
import { array, object } from "../../../src/exchange/json.ts";
import { loopbackProvider, type Seen } from "../../support/provider.ts";
import { pause } from "../../support/time.ts";

/** How much later a slow provider answers. */
const LATE_MS = 400;

/** Where a request sets no maximum. */
export const MOST_OUTPUT = 600;

/** What a prompt orders. */
export interface Order {
  nonce: string;
  /** Of the characters of the prompt, how many are billed as tokens; and of these, how many a cache gave or took. */
  share: number;
  cached: number;
  written: number;
  /** Of what a cache took, how much for an hour. */
  hour: number;
  output: number;
  /** Searches that the provider runs itself in each answer. */
  own: number;
  /** Answers to one request. */
  n: number;
  /** How the provider of the first route fails: with a status, or after the start of its answer; null: it does not. */
  elsewhere: "refused" | "started" | null;
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
  /** How it says it: with digits in quotes, or behind the end marker of its stream. */
  form: "plain" | "quoted" | "late";
  /** The tier of service that is asked for, and that the provider says it gave. */
  tier: string | undefined;
  serves: string | undefined;
  /** Parts of input and output. */
  audio: number;
  reasoning: number;
  spoken: number;
  /** The provider answers when it is told to. */
  held: boolean;
  /** The provider of the first route answers later than it usually does. */
  slow: boolean;
  /** The provider's name of the model that answers, where it is another one than was asked. */
  served: string | null;
}

/** What one answer of the provider was billed. */
export interface Billed {
  input: number;
  cached: number;
  written: number;
  hour: number;
  audio: number;
  output: number;
  reasoning: number;
  spoken: number;
  /** Searches of the provider's own. */
  own: number;
  /** The provider, by the first part of its path. */
  at: string;
  /** The model that it names; undefined: the one that was asked. */
  model: string | undefined;
  /** The tier of service that counts. */
  service: string | undefined;
}

/** What is billed of so many characters. */
export function billOf(
  order: Order,
  chars: number,
  { cap, n, at = "p" }: { cap: number; n: number; at?: string },
): Billed {
  const input = Math.max(1, Math.floor(chars * order.share));
  const output = Math.min(order.output, cap) * n;
  const written = Math.floor(input * order.written);
  return {
    input,
    cached: Math.floor(input * order.cached),
    written,
    hour: Math.floor(written * order.hour),
    audio: Math.floor(input * order.audio),
    output,
    reasoning: Math.floor(output * order.reasoning),
    spoken: Math.floor(output * order.spoken),
    own: order.own,
    at,
    model: order.served ?? undefined,
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
  /** By nonce: of how many rounds a request has come, to whichever route. */
  const asked = new Map<string, number>();
  /** Calls that have ended: whoever answers later was not waited for. */
  const over = new Set<string>();
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const told = new Map<string, Told>();

  const provider = loopbackProvider(async (seen) => {
    const { order, round, chars } = orderOf(seen);
    if (order.elsewhere !== null && seen.path.startsWith("/p/")) return failedRoute(order.elsewhere, seen);
    asked.set(order.nonce, Math.max(asked.get(order.nonce) ?? 0, round + 1));
    if (order.held && round === order.rounds) {
      const gate = gates.get(order.nonce) ?? Promise.withResolvers<void>();
      gates.set(order.nonce, gate);
      await gate.promise;
    }
    if (order.slow && seen.path.startsWith("/p/")) await pause(LATE_MS);
    if (order.fails === round) {
      failed.add(order.nonce);
      if (order.breaks) return broken(seen);
      return Response.json({ error: { message: "no" } }, { status: 503 });
    }
    const cap = Number(seen.body.max_completion_tokens ?? seen.body.max_tokens ?? MOST_OUTPUT);
    const bill = billOf(order, chars, { cap, n: Number(seen.body.n ?? 1), at: seen.path.split("/")[1] });
    const all = billed.get(order.nonce) ?? [];
    if (over.has(order.nonce)) return Response.json({ error: { message: "too late" } }, { status: 503 });
    if (order.silent) silent.set(order.nonce, chars);
    else billed.set(order.nonce, [...all, bill]);
    const searches = round < order.rounds && JSON.stringify(seen.body.tools ?? []).includes("web_search") &&
      JSON.stringify(seen.body.tool_choice ?? "").includes("none") === false;
    return (seen.path.startsWith("/a/") ? answerMessages : answer)(seen, {
      order,
      bill,
      query: searches ? `${order.nonce} ${round}` : null,
    });
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
    const round =
      messages.filter(({ role, content }) =>
        role === "tool" || array(content).some((part) => object(part).type === "tool_result")
      ).length;
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
    over,
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

/** Nobody pays for it. */
function failedRoute(how: "refused" | "started", { body }: Seen): Response {
  const error = { message: "The server is overloaded.", type: "server_error", code: 503 };
  if (how === "refused") return Response.json({ error }, { status: 503 });
  if (body.stream !== true) return Response.json({ error });
  const start = {
    id: "c",
    object: "chat.completion.chunk",
    model: "m",
    choices: [{ index: 0, delta: { role: "assistant" } }],
    usage: { prompt_tokens: 77, completion_tokens: 0, total_tokens: 77 },
  };
  const text = [start, { error }].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}

/** The answer ends behind its beginning. */
function broken({ body, path }: Seen): Response {
  if (path.startsWith("/a/")) {
    const start = { id: "m", type: "message", role: "assistant", model: "m", content: [] };
    const events = [
      { type: "message_start", message: { ...start, usage: { input_tokens: 7, output_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hel" } },
    ];
    return body.stream === true ? eventsOf(events) : new Response(JSON.stringify(start).slice(0, -3), {
      headers: { "content-type": "application/json" },
    });
  }
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
      cache_creation_token_details: { ephemeral_1h_input_tokens: bill.hour },
      audio_tokens: bill.audio,
    },
    completion_tokens_details: { reasoning_tokens: bill.reasoning, audio_tokens: bill.spoken },
    ...(bill.own > 0 && { num_search_queries: bill.own }),
  };
  const usage = order.silent ? undefined : inForm(used, order);
  const n = Number(body.n ?? 1);
  const service_tier = order.serves;
  const model = order.served ?? "m";
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
      model,
      choices: Array.from({ length: n }, (_, index) => ({ index, message, finish_reason })),
      usage,
      service_tier,
    });
  }
  const chunk = (choices: unknown[], more = {}) =>
    `data: ${
      JSON.stringify({ id: "c", object: "chat.completion.chunk", model, service_tier, choices, ...more })
    }\n\n`;
  const delta = call ? { tool_calls: [{ index: 0, ...call }] } : { content: "hello" };
  return new Response(
    Array.from(
      { length: n },
      (_, index) => chunk([{ index, delta }]) + chunk([{ index, delta: {}, finish_reason }]),
    ).join("") +
      (order.silent || order.form === "late" ? "" : chunk([], { usage })) +
      "data: [DONE]\n\n" + (order.silent || order.form !== "late" ? "" : chunk([], { usage })),
    { headers: { "content-type": "text/event-stream" } },
  );
}

/** Counts as the order wants them written. */
function inForm<T>(usage: T, { form }: Order): T {
  if (form !== "quoted") return usage;
  return JSON.parse(JSON.stringify(usage, (_, value) => typeof value === "number" ? String(value) : value));
}

function eventsOf(events: readonly { type: string }[]): Response {
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}

/** The same in the format of the other API. */
function answerMessages(
  { body }: Seen,
  { order, bill, query }: { order: Order; bill: Billed; query: string | null },
): Response {
  const used = {
    input_tokens: bill.input - bill.cached - bill.written,
    cache_read_input_tokens: bill.cached,
    cache_creation_input_tokens: bill.written,
    cache_creation: {
      ephemeral_5m_input_tokens: bill.written - bill.hour,
      ephemeral_1h_input_tokens: bill.hour,
    },
    output_tokens: bill.output,
    output_tokens_details: { thinking_tokens: bill.reasoning },
    service_tier: order.serves,
    ...(bill.own > 0 && { server_tool_use: { web_search_requests: bill.own } }),
  };
  const usage = order.silent ? undefined : inForm(used, order);
  const block = query === null
    ? { type: "text", text: "hello" }
    : { type: "tool_use", id: `call_${query.replace(" ", "_")}`, name: "web_search", input: { query } };
  const message = {
    id: "m",
    type: "message",
    role: "assistant",
    model: "m",
    content: [block],
    stop_reason: query === null ? "end_turn" : "tool_use",
    stop_sequence: null,
    usage,
  };
  if (body.stream !== true) return Response.json(message);
  const [opened, delta] = query === null
    ? [{ type: "text", text: "" }, { type: "text_delta", text: "hello" }]
    : [{ ...block, input: {} }, { type: "input_json_delta", partial_json: JSON.stringify({ query }) }];
  return eventsOf([
    {
      type: "message_start",
      message: {
        ...message,
        content: [],
        stop_reason: null,
        usage: usage && { ...usage, output_tokens: 1, output_tokens_details: { thinking_tokens: 0 } },
      },
    },
    { type: "content_block_start", index: 0, content_block: opened },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: message.stop_reason, stop_sequence: null }, usage },
    { type: "message_stop" },
  ] as { type: string }[]);
}
