/** A provider of every API and a search engine for {@link ./kinds.ts}: they do what a prompt wants, and repeat what they are told. */
import { eventMessage, exceptionMessage } from "../support/event_stream.ts";
import { loopbackProvider, type Seen, sseResponse } from "../support/provider.ts";
import { nextTurn } from "../support/time.ts";
import { apiOf, type Round, streamOf, wholeOf } from "../websearch/rounds.ts";

/** Words of conversations, and what callers send beside them. */
export const WORDS = {
  prompt: "canaryprompt5f1c",
  system: "canarysystem0b7d",
  answer: "canaryanswer77ab",
  argument: "canaryargument31d0",
  query: "canaryquery4c2e",
  hit: "canaryhit90ce",
  image: "canaryimage61fa",
  file: "canaryfile88d3",
  mailbox: "jane.canary@example.org",
  model: "canarymodel22f4",
  baggage: "canarybaggage73b1",
  agent: "canaryagent19c8",
  cookie: "canarycookie54e0",
  unknown: "canaryheader3d6f",
  path: "canaryaddress2a95",
  repeat: "canaryrepeat8e17",
} as const;

export const SECRETS = {
  provider: "canary-provider-key-8d21",
  vendor: "canary-vendor-key-51c6",
  open: "sk_live_canaryopencanaryopencanary01",
  strict: "sk_live_canarystrictcanarystrict01",
  masked: "sk_live_canarymaskedcanarymasked01",
  kept: "sk_live_canarykeptcanarykeptcanary01",
  wrong: "sk_live_wrongcanarywrongcanarywrong1",
} as const;

const usage = { input: 5, output: 3 };

/** What Converse answers, which is no stream of events as the others'. */
function converse(round: Round, streams: boolean, breaks: string | null): Response {
  const blocks = [
    ...(round.text ? [{ text: round.text }] : []),
    ...(round.calls ?? []).map(({ id, name, arguments: text }) => ({
      toolUse: { toolUseId: id, name, input: JSON.parse(text) },
    })),
  ];
  const stopReason = round.calls ? "tool_use" : "end_turn";
  const counts = { inputTokens: 5, outputTokens: 3, totalTokens: 8 };
  if (!streams) {
    return Response.json({
      output: { message: { role: "assistant", content: blocks } },
      stopReason,
      usage: counts,
    });
  }
  const parts = blocks.flatMap((block, contentBlockIndex) => {
    const delta = "text" in block ? block : { toolUse: { input: JSON.stringify(block.toolUse.input) } };
    const { toolUse } = "toolUse" in block ? block : { toolUse: null };
    return [
      ...(toolUse
        ? [eventMessage("contentBlockStart", {
          contentBlockIndex,
          start: { toolUse: { toolUseId: toolUse.toolUseId, name: toolUse.name } },
        })]
        : []),
      eventMessage("contentBlockDelta", { contentBlockIndex, delta }),
      eventMessage("contentBlockStop", { contentBlockIndex }),
    ];
  });
  const all = [
    eventMessage("messageStart", { role: "assistant" }),
    ...parts,
    ...(breaks === null
      ? [
        eventMessage("messageStop", { stopReason }),
        eventMessage("metadata", { usage: counts, metrics: { latencyMs: 1 } }),
      ]
      : [exceptionMessage("modelStreamErrorException", breaks)]),
  ];
  return new Response(ReadableStream.from(all), {
    headers: { "content-type": "application/vnd.amazon.eventstream" },
  });
}

const TICKET = /ticket-\d+/;

export interface KindsProvider {
  url: string;
  /** Requests by ticket. */
  seen: Map<string, Seen[]>;
  close(): Promise<void>;
}

/** A provider of every API that does what the prompt wants, and repeats all that it was told where it fails. */
export function kindsProvider(): KindsProvider {
  const seen = new Map<string, Seen[]>();
  const provider = loopbackProvider((one) => {
    const [ticket] = TICKET.exec(one.text) ?? ["none"];
    const mine = seen.get(ticket) ?? [];
    mine.push(one);
    seen.set(ticket, mine);
    const says = [...one.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
    const message = `You said ${WORDS.prompt} with ${says}`;
    const failing = (status: number) =>
      Response.json({ error: { type: "error", code: "x", message } }, { status });
    const has = (wish: string) => one.text.includes(`wish-${wish}.`);
    if (has("retry") && mine.length === 1) return failing(503);
    if (has("refuse")) return failing(400);
    if (has("deny")) return failing(401);
    if (has("fail")) return mine.length % 2 === 0 ? failing(500) : new Response(message, { status: 502 });
    const streams = one.body.stream === true || /stream/i.test(one.path);
    const call = (name: string, value: object): Round => ({
      calls: [{ id: `call_${mine.length}`, name, arguments: JSON.stringify(value) }],
      usage,
    });
    const round = has("search") && mine.length === 1
      ? call("web_search", { query: `${WORDS.query} ${ticket}` })
      : has("tool")
      ? call("weather", { city: WORDS.argument })
      : { text: `${WORDS.answer} to ${ticket}`, usage };
    if (one.path.endsWith("/compact")) {
      const output = [{ type: "compaction", id: "cmp_1", encrypted_content: WORDS.answer }];
      return Response.json({
        id: "resp_1",
        object: "response.compaction",
        output,
        usage: { input_tokens: 5, output_tokens: 3 },
      });
    }
    if (one.path.includes("/converse")) return converse(round, streams, has("break") ? message : null);
    const api = apiOf(one.path);
    if (!streams) return Response.json(wholeOf(api, round));
    const pieces = streamOf(api, round);
    if (!has("break")) return sseResponse(pieces);
    return new Response(
      ReadableStream.from(brokenOff(pieces, message)).pipeThrough(new TextEncoderStream()),
      {
        headers: { "content-type": "text/event-stream" },
      },
    );
  });
  return { url: provider.url, seen, close: () => provider.close() };
}

async function* brokenOff(pieces: readonly string[], message: string): AsyncGenerator<string> {
  for (const piece of pieces.slice(0, -1)) {
    yield piece;
    await nextTurn();
  }
  yield `data: ${JSON.stringify({ type: "error", error: { type: "x", message } })}\n\n`;
}

/** A search engine whose hits hold words too. */
export function kindsEngine() {
  const tickets = new Set<string>();
  const engine = loopbackProvider((seen) => {
    tickets.add(TICKET.exec(decodeURIComponent(seen.path))?.[0] ?? "none");
    return Response.json({
      results: [{ url: `https://site.test/${WORDS.hit}`, title: WORDS.hit, content: WORDS.hit }],
    });
  });
  return { url: engine.url, tickets, close: () => engine.close() };
}
