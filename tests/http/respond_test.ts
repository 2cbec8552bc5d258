import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import type { Part } from "../../src/exchange/part.ts";
import { normalizeUsage } from "../../src/exchange/usage.ts";
import type { CallerFormat } from "../../src/formats/format.ts";
import { CALLER_FORMATS } from "../../src/formats/mod.ts";
import { DRAIN_MS, failStreams, STALL_MS } from "../../src/http/answer_stream.ts";
import { type Delivery, respondStream, respondWhole } from "../../src/http/respond.ts";
import { PlainResponse } from "../../src/transport/plain_response.ts";
import { nextTurn, stoppedTicker } from "../support/time.ts";

const KEEP_ALIVE_MS = 15_000;

/** Parts that come when the test says so. */
class Source {
  readonly #waiting: ((batch: readonly Part[] | null | Error) => void)[] = [];
  readonly #given: (readonly Part[] | null | Error)[] = [];
  asked = 0;
  returned = false;

  give(batch: readonly Part[] | null | Error): void {
    const waiting = this.#waiting.shift();
    if (waiting) waiting(batch);
    else this.#given.push(batch);
  }

  async *parts(): AsyncGenerator<readonly Part[]> {
    try {
      while (true) {
        this.asked++;
        const batch = this.#given.length > 0
          ? this.#given.shift()!
          : await new Promise<readonly Part[] | null | Error>((resolve) => this.#waiting.push(resolve));
        if (batch === null) return;
        if (batch instanceof Error) throw batch;
        yield batch;
      }
    } finally {
      this.returned = true;
    }
  }
}

function setUp(format: CallerFormat = CALLER_FORMATS.chat_completions) {
  const { ticker, pass: tick } = stoppedTicker();
  const source = new Source();
  const events: string[] = [];
  const delivery: Delivery = {
    format,
    parts: source.parts(),
    context: {
      id: "gen_1",
      created: 1,
      model: () => "p/m",
      prompt: {
        format: format.name,
        model: "p/m",
        stream: true,
        turns: [],
        tools: [],
        verbatim: {},
        unknown: {},
      },
      seal: () => "sealed",
    },
    headers: () => ({ "x-request-id": "gen_1" }),
    large: () => null,
    keepAliveMs: KEEP_ALIVE_MS,
    ticker,
    left: () => events.push("left"),
    over: () => events.push("over"),
  };
  const pass = async (ms: number) => {
    tick(ms);
    await nextTurn();
  };
  return { source, delivery, events, pass };
}

const START: readonly Part[] = [{ type: "start" }, { type: "text-start", block: 0, choice: 0 }];
const word = (text: string): readonly Part[] => [{ type: "text-delta", block: 0, text }];
const END: readonly Part[] = [
  { type: "text-end", block: 0 },
  { type: "finish", choice: 0, reason: "stop" },
  { type: "usage", usage: normalizeUsage({ input: 3, output: 2 }) },
];

function readerOf(response: Response) {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  return {
    async next(): Promise<string> {
      const { value, done } = await reader.read();
      return done ? "<end>" : value;
    },
    async rest(): Promise<string> {
      let text = "";
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) text += piece.value;
      return text;
    },
  };
}

Deno.test("respondStream() sends status and first frame as soon as the first part is there", async () => {
  const { source, delivery } = setUp();
  const responding = respondStream(delivery);
  source.give([...START, ...word("one")]);
  const response = await responding;
  assertEquals(response.status, 200);
  assertEquals(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
  assertEquals(response.headers.get("x-request-id"), "gen_1");
  const reader = readerOf(response);
  assertStringIncludes(await reader.next(), "one");
  source.give(word("two"));
  assertStringIncludes(await reader.next(), "two");
  source.give(END);
  source.give(null);
  assert((await reader.rest()).endsWith("data: [DONE]\n\n"));
});

Deno.test("respondStream() writes all that came together in one piece", async () => {
  const { source, delivery } = setUp();
  source.give([...START, ...word("a"), ...word("b"), ...word("c")]);
  const reader = readerOf(await respondStream(delivery));
  const piece = await reader.next();
  assert(piece.includes('"a"') && piece.includes('"b"') && piece.includes('"c"'), piece);
  source.give(END);
  source.give(null);
  await reader.rest();
});

Deno.test("respondStream() throws an early refusal, and the call is over", async () => {
  const { source, delivery, events } = setUp();
  source.give(new Failure("provider_forbidden", "no"));
  const failure = await assertRejects(() => respondStream(delivery), Failure);
  assertEquals(failure.code, "provider_forbidden");
  assertEquals(events, ["over"]);
});

/** What a format's stream says of a failure, and how it ends then. */
const FAILED: Record<keyof typeof CALLER_FORMATS, (text: string) => void> = {
  chat_completions(text) {
    const frames = text.split("\n\n").filter((frame) => frame.startsWith("data: "));
    const error = JSON.parse(frames.find((f) => f.includes('"error"'))!.slice(6));
    assertEquals(error.error.code, "provider_timeout");
    assert(!text.includes('"finish_reason":"stop"'));
  },
  messages(text) {
    const error = JSON.parse(/event: error\ndata: (.*)\n\n/.exec(text)![1]);
    assertEquals([error.type, error.error.type, error.error.code], [
      "error",
      "api_error",
      "provider_timeout",
    ]);
    assert(!text.includes("message_stop"));
  },
  responses(text) {
    const error = JSON.parse(/event: error\ndata: (.*)\n\n/.exec(text)![1]);
    assertEquals([error.type, error.error.type, error.error.code], [
      "error",
      "api_error",
      "provider_timeout",
    ]);
    assert(!text.includes("response.completed"));
    assert(text.endsWith("data: [DONE]\n\n"), text.slice(-80));
  },
};

for (const [name, format] of Object.entries(CALLER_FORMATS) as [keyof typeof FAILED, CallerFormat][]) {
  Deno.test(`respondStream() ${name}: a failure in the middle is an error event and no ending`, async () => {
    const { source, delivery, events } = setUp(format);
    source.give([...START, ...word("one")]);
    const reader = readerOf(await respondStream(delivery));
    source.give(new Failure("provider_timeout", "late"));
    FAILED[name](await reader.rest());
    assertEquals(events, ["over"]);
  });

  Deno.test(`respondStream() ${name}: silence before the first part commits the answer, and a refusal comes as an event`, async () => {
    const { source, delivery, events, pass } = setUp(format);
    const responding = respondStream(delivery);
    await pass(KEEP_ALIVE_MS + 1);
    const response = await responding;
    assertEquals(response.status, 200);
    const reader = readerOf(response);
    assertEquals(await reader.next(), format.keepAlive);
    const second = reader.next();
    await nextTurn();
    await pass(KEEP_ALIVE_MS + 1);
    assertEquals(await second, format.keepAlive);
    source.give(new Failure("provider_timeout", "late"));
    FAILED[name](await reader.rest());
    assertEquals(events, ["over"]);
  });

  Deno.test(`respondStream() ${name}: silence between parts is filled with keep-alives`, async () => {
    const { source, delivery, pass } = setUp(format);
    source.give([...START, ...word("one")]);
    const reader = readerOf(await respondStream(delivery));
    await reader.next();
    for (let i = 0; i < 2; i++) {
      const next = reader.next();
      await nextTurn();
      await pass(KEEP_ALIVE_MS + 1);
      assertEquals(await next, format.keepAlive);
    }
    source.give(END);
    source.give(null);
    const text = await reader.rest();
    assert(!text.includes('"error":{'), text);
  });
}

Deno.test("respondStream() asks for no more than its reader takes", async () => {
  const { source, delivery } = setUp();
  for (let i = 0; i < 50; i++) source.give(i === 0 ? [...START, ...word("0")] : word(String(i)));
  const response = await respondStream(delivery);
  const reader = response.body!.getReader();
  await reader.read();
  await nextTurn();
  assert(source.asked <= 3, `asked ${source.asked} times for one read`);
  source.give(END);
  source.give(null);
  for (let piece = await reader.read(); !piece.done;) piece = await reader.read();
});

Deno.test("respondStream() reads on to the end for a caller who has left", async () => {
  const { source, delivery, events } = setUp();
  source.give([...START, ...word("one")]);
  const response = await respondStream(delivery);
  const reader = response.body!.getReader();
  await reader.read();
  const cancelled = reader.cancel();
  await nextTurn();
  assertEquals(events, ["left"]);
  for (let i = 0; i < 20; i++) source.give(word(String(i)));
  source.give(END);
  assertEquals(events, ["left"]);
  source.give(null);
  await cancelled;
  assertEquals(events, ["left", "over"]);
  assertEquals(source.asked, 23);
});

Deno.test("respondStream() gives a run up that never ends for nobody", async () => {
  const { source, delivery, events, pass } = setUp();
  source.give([...START, ...word("one")]);
  const response = await respondStream(delivery);
  const cancelled = response.body!.cancel();
  await nextTurn();
  source.give(word("two"));
  await pass(DRAIN_MS + 1);
  source.give(word("three"));
  await cancelled;
  assertEquals(events, ["left", "over"]);
  assertEquals(source.returned, true);
});

Deno.test("respondStream() takes a caller for gone who takes nothing any more", async () => {
  const { source, delivery, events, pass } = setUp();
  source.give([...START, ...word("one")]);
  const response = await respondStream(delivery);
  const reader = response.body!.getReader();
  await reader.read();
  source.give(word("two"));
  const two = reader.read();
  await nextTurn();
  await two;
  await pass(STALL_MS - KEEP_ALIVE_MS);
  assertEquals(events, []);
  source.give(word("three"));
  source.give(END);
  source.give(null);
  await pass(STALL_MS);
  await nextTurn();
  assertEquals(events, ["left", "over"]);
  await reader.cancel().catch(() => {});
});

Deno.test("failStreams() waits for a frame that is being written directly: its event does not come into the middle of it", async () => {
  const { source, delivery } = setUp();
  let send!: (batch: readonly Part[]) => Promise<void> | null;
  const parts = Object.assign(source.parts(), { sendDeltasTo: (to: typeof send) => void (send = to) });
  source.give([...START, { type: "text-delta", block: 0, text: "A " }]);
  const body = PlainResponse.pulledOf(await respondStream({ ...delivery, parts }))!;
  const steps = [await body.read()];
  const writing = Promise.withResolvers<void>();
  body.passBy(async (_, taken) => {
    await writing.promise;
    taken();
  });
  const next = body.read().then((step) => steps.push(step));
  const passed = send([{ type: "text-delta", block: 0, text: "word" }]);
  assert(passed !== null);
  failStreams(new Failure("service_unavailable", "The service stops."));
  await nextTurn();
  assertEquals(steps.length, 1);
  writing.resolve();
  await Promise.all([passed, next]);
  assertStringIncludes(new TextDecoder().decode(steps[1].value), "The service stops.");
  assertEquals((await body.read()).done, true);
  source.give(null);
});

Deno.test("respondWhole() answers once the run is through, and throws what it throws", async () => {
  const good = setUp();
  good.source.give([...START, ...word("one")]);
  good.source.give(END);
  good.source.give(null);
  const response = await respondWhole(good.delivery);
  assertEquals(response.headers.get("content-type"), "application/json");
  assertEquals((await response.json()).choices[0].message.content, "one");
  assertEquals(good.events, ["over"]);

  const bad = setUp();
  bad.source.give([...START, ...word("one")]);
  bad.source.give(new Failure("provider_unavailable", "broke off"));
  assertEquals((await assertRejects(() => respondWhole(bad.delivery), Failure)).code, "provider_unavailable");
  assertEquals(bad.events, ["over"]);
});
