/**
 * Every recorded usage costs what a second computation says, to the last digit: each kind of token, tiers by prompt length
 * and by service, searches and other tools of the provider, and the price of a request. Asked as a stream and whole.
 */
import { assertEquals } from "@std/assert";
import { FEATURES, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { readRecordings, type RecordedApi, type Recording } from "../support/recordings.ts";
import { sharedTest } from "../support/shared.ts";
import { type AnswerReading, readRecording } from "./reading.ts";
import { PATHS } from "./caller.ts";
import { list, num, text, type Wild, wild } from "./wild.ts";

const CALLERS = ["chat_completions", "messages", "responses"] as const;
const APIS: Readonly<
  Record<RecordedApi, "openai-chat" | "openai-responses" | "anthropic-messages" | "gemini">
> = {
  "openai-chat": "openai-chat",
  "openai-responses": "openai-responses",
  "anthropic-messages": "anthropic-messages",
  "gemini-generate": "gemini",
};

const KINDS = [
  "prompt",
  "completion",
  "input_cache_read",
  "input_cache_write",
  "input_cache_write_1h",
  "internal_reasoning",
  "audio",
  "audio_output",
  "image",
  "image_output",
  "request",
  "web_search",
  "file_search",
  "x_search",
] as const;
type Prices = Record<(typeof KINDS)[number], bigint>;

const ABOVE = 700;

/** In 10^-18 of a dollar; no two are multiples of each other. */
function pricesOf(tier: number): Prices {
  return Object.fromEntries(
    KINDS.map((
      kind,
      i,
    ) => [kind, 1_000_003_000_019n * BigInt(7 + 13 * i) + BigInt(tier * 1_000_000_007 + i)]),
  ) as Prices;
}

function written(tier: number): Record<string, string> {
  return Object.fromEntries(
    Object.entries(pricesOf(tier)).map(([kind, price]) => {
      const digits = String(price).padStart(19, "0");
      return [kind, `${digits.slice(0, -18)}.${digits.slice(-18)}`];
    }),
  );
}

/** Tiers by their place in the configuration; 0: none. */
const SERVICES = ["flex", "priority", "batch", "fast", "search_low"];
const TIERS = [
  { above_input_tokens: ABOVE, ...written(1) },
  ...SERVICES.map((service_tier, i) => ({ service_tier, ...written(2 + i) })),
];

interface Counts {
  input: number;
  cached: number;
  written: number;
  hour: number;
  audio: number;
  image: number;
  output: number;
  reasoning: number;
  spoken: number;
  drawn: number;
  searches: number;
  /** Searches in files, and in X. */
  filed: number;
  posted: number;
  service: string | undefined;
}

function costOf(c: Counts): bigint {
  const served = SERVICES.indexOf(c.service ?? "");
  const p = pricesOf(served >= 0 ? 2 + served : c.input > ABOVE ? 1 : 0);
  const heard = Math.min(c.audio, c.input - c.cached - c.written);
  const seen = Math.min(c.image, c.input - c.cached - c.written - heard);
  const spoken = Math.min(c.spoken, c.output - c.reasoning);
  const drawn = Math.min(c.drawn, c.output - c.reasoning - spoken);
  const lines: [number, bigint][] = [
    [c.input - c.cached - c.written - heard - seen, p.prompt],
    [c.cached, p.input_cache_read],
    [c.written - c.hour, p.input_cache_write],
    [c.hour, p.input_cache_write_1h],
    [heard, p.audio],
    [seen, p.image],
    [c.output - c.reasoning - spoken - drawn, p.completion],
    [c.reasoning, p.internal_reasoning],
    [spoken, p.audio_output],
    [drawn, p.image_output],
    [1, p.request],
    [c.searches, p.web_search],
    [c.filed, p.file_search],
    [c.posted, p.x_search],
  ];
  const sum = lines.reduce((all, [count, price]) => all + BigInt(count) * price, 0n);
  return (sum + 500_000n) / 1_000_000n;
}

/** All objects of a recording, of a stream in order. */
function bodiesOf({ sse, response }: Recording): Wild[] {
  if (sse === null) return Array.isArray(response) ? list(response) : [wild(response)];
  return sse.split(/\r?\n/).flatMap((line) => {
    if (!line.startsWith("data:")) return [];
    try {
      return [wild(JSON.parse(line.slice(5)))];
    } catch {
      return [];
    }
  });
}

function last<T>(values: readonly (T | undefined)[]): T | undefined {
  return values.findLast((value) => value !== undefined);
}

/** What the totals are made of, which no answer shows a caller. */
function partsOf(
  recording: Recording,
): Omit<Counts, "input" | "cached" | "written" | "output" | "reasoning"> {
  const bodies = bodiesOf(recording);
  switch (recording.api) {
    case "openai-chat": {
      const all = bodies.flatMap((b) => [b.usage, wild(b.x_groq).usage]).filter((u) =>
        Object.keys(wild(u)).length > 0
      );
      const u = wild(all.at(-1));
      const into = wild(u.prompt_tokens_details);
      const out = wild(u.completion_tokens_details);
      return {
        ...NONE,
        audio: num(into.audio_tokens) ?? 0,
        image: num(into.image_tokens) ?? 0,
        spoken: num(out.audio_tokens) ?? 0,
        drawn: num(out.image_tokens) ?? 0,
        searches: num(wild(u.server_tool_use_details).web_search_requests) ?? num(u.num_search_queries) ?? 0,
        service: last(bodies.map((b) => text(b.service_tier) || undefined)) ??
          (u.search_context_size ? `search_${u.search_context_size}` : undefined),
      };
    }
    case "openai-responses": {
      const end = wild(last(bodies.map((b) => b.response ?? (b.object === "response" ? b : undefined))));
      const items = list(end.output).filter(({ type }) => type === "web_search_call");
      const counted = wild(wild(end.usage).server_side_tool_usage_details);
      const used = (type: string) => list(end.output).filter((item) => item.type === type).length;
      return {
        ...NONE,
        filed: num(counted.file_search_calls) ?? used("file_search_call"),
        posted: num(counted.x_search_calls) ?? used("x_search_call"),
        searches:
          items.filter(({ action }) => !/^(?:open_page|find_in_page|find)$/.test(text(wild(action).type)))
            .length,
        service: text(end.service_tier) || undefined,
      };
    }
    case "anthropic-messages": {
      const usages = bodies.flatMap((b) => [wild(b.message).usage, b.usage]).map(wild);
      const hour = last(usages.map((u) => num(wild(u.cache_creation).ephemeral_1h_input_tokens)));
      const searches = last(usages.map((u) => num(wild(u.server_tool_use).web_search_requests)));
      const speed = last(usages.map((u) => text(u.speed) || undefined));
      const tier = last(usages.map((u) => text(u.service_tier) || undefined));
      return { ...NONE, hour: hour ?? 0, searches: searches ?? 0, service: speed === "fast" ? "fast" : tier };
    }
    case "gemini-generate": {
      const u: Wild = {};
      for (const { usageMetadata } of bodies) Object.assign(u, wild(usageMetadata));
      const of = (fields: unknown[], modality: string, number: number) =>
        fields.flatMap(list).filter((d) => d.modality === modality || d.modality === number)
          .reduce((sum, d) => sum + (num(d.tokenCount) ?? 0), 0);
      const read = [u.promptTokensDetails, u.toolUsePromptTokensDetails];
      const kept = [u.cacheTokensDetails];
      const written = [u.candidatesTokensDetails];
      const less = (m: string, n: number) => Math.max(0, of(read, m, n) - of(kept, m, n));
      return {
        ...NONE,
        audio: less("AUDIO", 4),
        image: less("IMAGE", 2),
        spoken: of(written, "AUDIO", 4),
        drawn: of(written, "IMAGE", 2),
      };
    }
  }
}
const NONE = {
  hour: 0,
  audio: 0,
  image: 0,
  spoken: 0,
  drawn: 0,
  searches: 0,
  filed: 0,
  posted: 0,
  service: undefined,
};

sharedTest("corpus/", "recorded usages cost what a second computation says", async () => {
  const recordings = new Map<string, Recording>();
  await using provider = loopbackProvider((seen) => {
    provider.seen.length = 0;
    const [ticket] = /ticket-\d+-/.exec(seen.text) ?? [""];
    const { sse, response } = recordings.get(ticket)!;
    return new Response(sse ?? (typeof response === "string" ? response : JSON.stringify(response)), {
      headers: { "content-type": sse === null ? "application/json" : "text/event-stream" },
    });
  });
  await using gateway = await testGateway(
    Object.fromEntries(
      Object.values(APIS).map((api) => [api, {
        api,
        url: provider.url,
        model: {
          pricing: written(0),
          pricing_tiers: TIERS,
          capabilities: {
            modality_input: ["text"],
            modality_output: ["text", "image", "audio"],
            features: FEATURES,
          },
        },
      }]),
    ),
    { admin_key: "admin-key-of-the-prices-test" },
  );
  const wrong: string[] = [];
  let compared = 0;
  let tickets = 0;
  const check = async (
    recording: Recording,
    wanted: AnswerReading,
    caller: (typeof CALLERS)[number],
    stream: boolean,
  ) => {
    const ticket = `ticket-${tickets++}-`;
    recordings.set(ticket, recording);
    const n = wanted.choices.length;
    const model = `${APIS[recording.api]}/model`;
    const messages = [{ role: "user", content: ticket }];
    const body = caller === "responses"
      ? { model, input: ticket, stream }
      : { model, messages, stream, ...(caller === "messages" ? { max_tokens: 4096 } : n > 1 ? { n } : {}) };
    const response = await gateway.post(PATHS[caller], body);
    await response.text();
    const record = await fetch(`${gateway.url}/admin/generations/${response.headers.get("x-request-id")}`, {
      headers: { authorization: "Bearer admin-key-of-the-prices-test" },
    }).then((answer) => answer.json());
    const parts = partsOf(recording);
    const { input, cached, cacheWrite: writtenTokens, output, reasoning } = wanted.usage!;
    const searches = recording.api === "gemini-generate" ? wanted.searches ?? 0 : parts.searches;
    const counts = { ...parts, searches, input, cached, written: writtenTokens, output, reasoning };
    const costs = [output, wanted.outputToo ?? output].map((output) => costOf({ ...counts, output }));
    compared++;
    const [whole, fraction = ""] = String(record.cost).split(".");
    if (!costs.includes(BigInt(whole + fraction.padEnd(12, "0")))) {
      wrong.push(
        `${recording.id} ${caller} ${stream}: ${record.cost} and not ${costs}: ${JSON.stringify(counts)} ${
          JSON.stringify(record)
        }`,
      );
    }
  };
  const only = Deno.env.get("SLUICE_CORPUS_ONLY") ?? "";
  const jobs = readRecordings().filter(({ id, status }) => status === 200 && id.includes(only)).entries();
  await Promise.all(Array.from({ length: 8 }, async () => {
    for (const [i, recording] of jobs) {
      const wanted = readRecording(recording);
      if (wanted.kind !== "answer" || wanted.usage === null) continue;
      if (wanted.usage.input + wanted.usage.output === 0) continue;
      const caller = wanted.choices.length > 1 ? "chat_completions" : CALLERS[i % 3];
      for (const stream of [false, true]) await check(recording, wanted, caller, stream);
    }
  }));
  console.log(`tests/corpus: ${compared} costs, ${wrong.length} wrong`);
  assertEquals(wrong, []);
});
