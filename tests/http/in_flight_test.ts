import { assert, assertEquals } from "@std/assert";
import { InFlight, type Place } from "../../src/http/in_flight.ts";
import { hosted } from "../support/deploy_shape.ts";
import { loopbackProvider } from "../support/provider.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { atNoon, eventually } from "../support/time.ts";

const MOST = 16;
const ALONE = { most: MOST, alone: true };
const AMONG_OTHERS = { most: MOST, alone: false };
const OTHER_SECRET = "sk_live_otherkeyotherkeyotherkeyother01";

function entered(all: InFlight, key: string): Place {
  const place = all.enter(1);
  place.own(key);
  return place;
}

Deno.test("InFlight does not count calls whose callers have left, up to as many again", () => {
  const all = new InFlight();
  for (let i = 0; i < MOST; i++) entered(all, "a").abandon(() => false);
  assertEquals([all.isFull(MOST), all.count, all.abandoned], [false, MOST, MOST]);
  for (let i = 0; i < MOST; i++) entered(all, "b");
  assertEquals(all.isFull(MOST), true);
});

Deno.test("InFlight ends the oldest call that a key has left behind, and refuses the key while it cannot be ended", () => {
  const all = new InFlight();
  const ended: number[] = [];
  const [first, second] = [0, 1].map((i) => {
    const place = entered(all, "a");
    place.abandon(() => {
      ended.push(i);
      return false;
    });
    return place;
  });
  assertEquals(all.admits("a", AMONG_OTHERS), false);
  assertEquals(ended, [0]);
  assertEquals(all.admits("b", AMONG_OTHERS), true);
  first.leave();
  assertEquals(all.admits("a", AMONG_OTHERS), true);
  second.leave();
  assertEquals([all.count, all.abandoned, all.bytes], [0, 0, 0]);
});

Deno.test("InFlight lets a call end at once to admit the next of its key", () => {
  const all = new InFlight();
  for (let i = 0; i < 1000; i++) {
    assert(all.admits("a", AMONG_OTHERS));
    const place = entered(all, "a");
    place.abandon(() => {
      place.leave();
      return true;
    });
  }
  assertEquals(all.count, 2);
});

Deno.test("InFlight keeps some places for keys that have few calls, unless there is one key alone", () => {
  const all = new InFlight();
  for (let i = 0; i < MOST; i++) {
    assert(all.admits("a", ALONE));
    entered(all, "a");
  }
  const shared = new InFlight();
  for (let i = 0; i < MOST - 2; i++) {
    assert(shared.admits("a", AMONG_OTHERS));
    entered(shared, "a");
  }
  assertEquals([shared.admits("a", AMONG_OTHERS), shared.admits("b", AMONG_OTHERS)], [false, true]);
});

Deno.test("InFlight keeps some connections for keys that have few calls, and for whoever has no calls at all", () => {
  for (const options of [ALONE, AMONG_OTHERS]) {
    const all = new InFlight();
    const connections = { busy: 1, most: 16 };
    all.follow(connections);
    for (; connections.busy <= 14; connections.busy++) {
      assert(all.admits("a", { ...options, most: 4096 }));
      entered(all, "a");
    }
    const may = (key: string) => [all.admits(key, { ...options, most: 4096 }), all.leavesConnections(key)];
    assertEquals([may("a"), may("b")], [[false, false], [true, true]]);
    // A call whose caller has left has no connection.
    all.callsOf("a").count = 1;
    assertEquals(may("a"), [true, true]);
  }
});

Deno.test("InFlight keeps no connections where there are too few to divide", () => {
  const all = new InFlight();
  all.follow({ busy: 3, most: 3 });
  for (let i = 0; i < 3; i++) {
    assert(all.admits("a", ALONE));
    entered(all, "a");
  }
});

Deno.test("InFlight lets calls without callers keep a part of the files, whatever keys they are of", () => {
  const inFlight = new InFlight();
  inFlight.boundAbandoned(40);
  let ended = 0;
  const leave = (key: string) => {
    const admitted = inFlight.admits(key, { most: 4096, alone: false });
    if (!admitted) return false;
    const place = inFlight.enter(1);
    place.own(key);
    place.abandon(() => {
      ended++;
      place.leave();
      return true;
    });
    return true;
  };
  for (let i = 0; i < 100; i++) assertEquals(leave("one"), true);
  assertEquals([inFlight.abandoned, ended], [5, 95]);
  for (let i = 0; i < 100; i++) assertEquals(leave(`key ${i}`), true);
  assertEquals(inFlight.abandoned, 10);
});

Deno.test("Place counts what it holds until it leaves, once", () => {
  const all = new InFlight();
  const place = all.enter(10);
  place.hold(50);
  assertEquals(all.bytes, 50);
  place.leave();
  place.leave();
  place.hold(70);
  place.abandon(() => true);
  assertEquals([all.count, all.bytes, all.abandoned], [0, 0, 0]);
});

const frame = (content: string) =>
  `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta: { content } }] })}\n\n`;

/** Whose connection the gateway has closed is closed already. */
function attempt(end: () => void): void {
  try {
    end();
  } catch {
    // It is.
  }
}

/** A provider whose streams begin and do not end. */
function endless() {
  const ends: (() => void)[] = [];
  const provider = loopbackProvider(() => {
    const encoder = new TextEncoder();
    return new Response(
      new ReadableStream({
        start(controller) {
          controller.enqueue(encoder.encode(frame("hello")));
          ends.push(() => controller.close());
        },
      }),
      { headers: { "content-type": "text/event-stream" } },
    );
  });
  return { ...provider, end: () => ends.splice(0).forEach(attempt) };
}

const OTHER = "sk_live_otherkeyotherkeyotherkeyother02";
const ASK = JSON.stringify({ model: "p/model", stream: true, messages: [{ role: "user", content: "hi" }] });

for (
  const [what, more, server] of [
    ["of the gateway", {}, { max_in_flight: 8 }],
    ["at the provider", { max_concurrent: 4 }, {}],
  ] as const
) {
  Deno.test(`streams that a key has left behind take no place ${what} that another key's call needs`, {
    ignore: hosted,
  }, async () => {
    const provider = endless();
    const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1`, more } }, {
      server,
      keys: [{ name: "test", secret: SECRET }, { name: "other", secret: OTHER }],
    });
    /** Opens a stream, sees it begin, and leaves. */
    const visit = async (secret: string) => {
      const abort = new AbortController();
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${secret}` },
        body: ASK,
        signal: abort.signal,
      });
      if (response.status !== 200) {
        await response.body?.cancel();
        return response.status;
      }
      await response.body!.getReader().read();
      abort.abort();
      return 200;
    };
    for (let i = 0; i < 20; i++) {
      await visit(SECRET);
      assertEquals(await visit(OTHER), 200, `call ${i} of the other key`);
    }
    const data = await eventually(async () => {
      const found = await gateway.gateway.accounts.generations({ limit: 100 });
      return found.data.length >= 20 ? found.data : null;
    });
    // What was ended has been used: it is billed, by an estimate.
    for (const record of data!) {
      assertEquals([record.status, record.client_gone], ["interrupted", true]);
      assert(Number(record.usage?.output_tokens) > 0);
    }
    provider.end();
    await gateway.close();
    await provider.close();
  });
}

Deno.test("packed bodies count by what comes out of them, as it comes", async () => {
  const { promise: going, resolve: go } = Promise.withResolvers<void>();
  const provider = loopbackProvider(async () => {
    await going;
    return Response.json({
      choices: [{ index: 0, message: { role: "assistant", content: "x" }, finish_reason: "stop" }],
    });
  });
  const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } }, {
    server: { max_in_flight_bytes: 4 << 20 },
  });
  const text = JSON.stringify({ model: "p/model", messages: [{ role: "user", content: "hi" }] }) +
    " ".repeat(3 << 20);
  const packed = await new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("gzip")))
    .bytes();
  const answers = Array.from({ length: 10 }, async () => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${SECRET}`, "content-encoding": "gzip" },
      body: packed,
    });
    await response.body?.cancel();
    return response.status;
  });
  const refused = Promise.any(answers.map(async (answer) => {
    if (await answer !== 503) throw new Error("answered");
  }));
  await refused;
  go();
  const statuses = await Promise.all(answers);
  assertEquals(statuses.every((status) => status === 200 || status === 503), true, `${statuses}`);
  assert(statuses.includes(200));
  await gateway.close();
  await provider.close();
});

Deno.test("a key that announces large bodies and sends none of them leaves bytes for others", {
  ignore: hosted,
}, async () => {
  const gateway = await testGateway({ demo: { api: "demo", url: "" } }, {
    server: { max_in_flight_bytes: 8 << 20 },
    keys: [{ name: "test", secret: SECRET }, { name: "other", secret: OTHER_SECRET }],
  });
  const { hostname, port } = new URL(gateway.url);
  const announced: Deno.Conn[] = [];
  const announce = async (path: string) => {
    const conn = await Deno.connect({ hostname, port: Number(port) });
    announced.push(conn);
    await conn.write(
      new TextEncoder().encode(
        `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${SECRET}\r\ncontent-length: ${
          1 << 20
        }\r\n\r\n{`,
      ),
    );
  };
  const bytes = async () => {
    const text = await (await fetch(`${gateway.url}/metrics`)).text();
    return Number(/^sluice_in_flight_body_bytes (\d+)/m.exec(text)?.[1]);
  };
  for (let i = 0; i < 6; i++) await announce(i % 2 ? "/v1/chat/completions" : "/v1/messages/count_tokens");
  await eventually(async () => await bytes() >= 6 << 20);
  for (let i = 0; i < 4; i++) {
    await announce("/v1/chat/completions");
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${OTHER_SECRET}` },
      body: JSON.stringify({ model: "demo/model", messages: [{ role: "user", content: "hi" }] }),
    });
    assertEquals(response.status, 200, await response.text());
  }
  assert(await bytes() <= 8 << 20);
  for (const conn of announced) conn.close();
  await eventually(async () => await bytes() === 0);
  await gateway.close();
});

Deno.test("a key holds seven eighths of the bytes at most, and one call of it always goes on", () => {
  const all = new InFlight();
  const places = Array.from({ length: 3 }, () => {
    const place = all.enter(300);
    place.own("k");
    return place;
  });
  assertEquals(places.map((place) => place.fits(275, 1000)), [true, true, true]);
  assertEquals(places.map((place) => place.fits(276, 1000)), [false, false, false]);
  assertEquals(places.map((place) => place.mayGrow(276, 1000)), [true, false, false]);
  const other = all.enter(100);
  other.own("other");
  assert(other.fits(875, 1000));
  places[0].leave();
  assertEquals(places.slice(1).map((place) => place.mayGrow(576, 1000)), [true, false]);
  places[1].hold(10);
  assertEquals([places[2].fits(865, 1000), places[2].fits(866, 1000)], [true, false]);
  places[1].leave();
  assert(places[2].fits(2000, 1000), "one alone");
});

Deno.test("counts of tokens, and what a key may ask of itself, have a rate", async () => {
  const gateway = await testGateway({ demo: { api: "demo", url: "" } }, {
    keys: [{ name: "test", secret: SECRET, rate_limit: { requests_per_minute: 2 } }],
  }, { now: atNoon });
  const count = async () => {
    const response = await gateway.post("/v1/messages/count_tokens", {
      model: "demo/model",
      messages: [{ role: "user", content: "hi" }],
    });
    await response.body?.cancel();
    return [response.status, response.headers.has("retry-after")];
  };
  assertEquals([await count(), await count(), await count()], [[200, false], [200, false], [429, true]]);
  const read = async () => {
    const response = await fetch(`${gateway.url}/v1/key`, { headers: { authorization: `Bearer ${SECRET}` } });
    await response.body?.cancel();
    return response.status;
  };
  const statuses: number[] = [];
  for (let i = 0; i < 200; i++) statuses.push(await read());
  assertEquals([statuses[0], statuses.includes(429)], [200, true]);
  await gateway.close();
});

Deno.test("a call whose caller comes back is abandoned no longer, and may be left again", () => {
  const all = new InFlight();
  const place = all.enter(1);
  place.own("k");
  place.reclaim();
  let ended = 0;
  for (let round = 0; round < 3; round++) {
    place.abandon(() => ++ended > 0);
    assertEquals([all.count, all.abandoned, place.end()], [1, 1, true]);
    place.reclaim();
    assertEquals([all.abandoned, place.end()], [0, false]);
  }
  assertEquals(ended, 3);
  place.abandon(() => true);
  place.leave();
  place.reclaim();
  assertEquals([all.count, all.abandoned], [0, 0]);
});
