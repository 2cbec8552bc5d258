/** WebSockets of the responses format where there are many of them, long ones, or providers that fail. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { hosted } from "../support/deploy_shape.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { type Line, scriptedProvider } from "../support/script/mod.ts";
import { SocketClient, type SocketEvent } from "../support/socket_client.ts";
import { atNoon, eventually, steadyClock } from "../support/time.ts";

const PRICED = { pricing: { prompt: "0.00001", completion: "0.00001" } };
const TURN = { model: "p/model", input: "Hi" };
const SAID: Line = { text: "Hello." };

function key(secret: string) {
  return { authorization: `Bearer ${secret}` };
}

async function openAll(
  url: string,
  count: number,
  headers?: Record<string, string>,
): Promise<SocketClient[]> {
  const clients: SocketClient[] = [];
  while (clients.length < count) {
    const more = Math.min(100, count - clients.length);
    clients.push(...await Promise.all(Array.from({ length: more }, () => SocketClient.open(url, headers))));
  }
  return clients;
}

const ends = (clients: SocketClient[]) => Promise.all(clients.map((client) => client.close()));

Deno.test("of a thousand sockets at once as many have a turn as the key's limit allows", async () => {
  const provider = scriptedProvider("openai-responses", Array(1000).fill(SAID));
  const gateway = await testGateway({ p: { api: "openai-responses", url: provider.url, model: PRICED } }, {
    keys: [
      { name: "many", secret: SECRET, rate_limit: { requests_per_minute: 1_000_000 } },
      { name: "few", secret: `${SECRET}f`, rate_limit: { requests_per_minute: 600 } },
    ],
    server: { max_connections: 3000 },
  });
  const many = await openAll(gateway.url, 900);
  const few = await openAll(gateway.url, 100, key(`${SECRET}f`));
  const of = async (clients: SocketClient[]) =>
    (await Promise.all(clients.map((client) => client.turn(TURN)))).map((events) => events.at(-1).type);
  const [first, second] = await Promise.all([of(many), of(few)]);
  assertEquals(new Set([...first, ...second]), new Set(["response.completed"]));
  const { data } = await gateway.gateway.accounts.generations({ limit: 1000 });
  assertEquals([data.length, data.filter((record) => record.key === "few").length], [1000, 100]);
  await ends([...many, ...few]);
  await gateway.close();
  await provider.close();
});

Deno.test("a limit of a key is an event of the turn, and the socket goes on", async () => {
  const provider = scriptedProvider("openai-responses", Array(3).fill(SAID));
  const gateway = await testGateway({ p: { api: "openai-responses", url: provider.url, model: PRICED } }, {
    keys: [{ name: "few", secret: SECRET, rate_limit: { requests_per_minute: 3 } }],
  }, { now: atNoon });
  const clients = await openAll(gateway.url, 2);
  const types: string[] = [];
  for (const client of [...clients, ...clients, ...clients]) {
    const event = (await client.turn(TURN)).at(-1);
    types.push(event.error?.code ?? event.type);
    if (event.error) assertEquals([event.status, typeof event.headers["retry-after"]], [429, "string"]);
  }
  assertEquals(types.filter((type) => type === "response.completed").length <= 3, true);
  assertEquals(types.slice(-2), Array(2).fill("provider_rate_limited"));
  assertEquals(clients.map(({ ended }) => ended), [null, null]);
  await ends(clients);
  await gateway.close();
  await provider.close();
});

Deno.test("a session that calls too often is told so in words, over the socket too", async () => {
  const provider = scriptedProvider("openai-responses", Array(9).fill(SAID));
  const gateway = await testGateway({ p: { api: "openai-responses", url: provider.url, model: PRICED } }, {
    keys: [{ name: "agent", secret: SECRET, session_limit: { requests_per_minute: 2 } }],
  }, { now: atNoon });
  const loops = await SocketClient.open(gateway.url, { ...key(SECRET), session_id: "loop" });
  const other = await SocketClient.open(gateway.url, { ...key(SECRET), session_id: "calm" });
  let last: SocketEvent;
  for (let i = 0; i < 3; i++) last = (await loops.turn(TURN)).at(-1);
  assertEquals([last.status, last.error.code], [429, "provider_rate_limited"]);
  assertMatch(last.error.message, /session/i);
  assertEquals((await other.turn(TURN)).at(-1).type, "response.completed");
  await ends([loops, other]);
  await gateway.close();
  await provider.close();
});

Deno.test("a chain of 500 turns goes on from each answer, and each is billed once", async () => {
  const turns = 500;
  const provider = scriptedProvider("openai-chat", Array(turns).fill(SAID));
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url, model: PRICED } }, {
    keys: [{ name: "agent", secret: SECRET }],
  });
  const client = await SocketClient.open(gateway.url);
  let previous: string | undefined;
  for (let n = 0; n < turns; n++) {
    const events = await client.turn({ ...TURN, ...(previous && { previous_response_id: previous }) });
    assertEquals(events.at(-1).type, "response.completed");
    previous = events.at(-1).response.id;
  }
  assertEquals((provider.seen.at(-1)!.body.messages as unknown[]).length, 2 * turns - 1);
  const { data } = await gateway.gateway.accounts.generations({ limit: 1000 });
  assertEquals(data.length, turns);
  await client.close();
  await gateway.close();
  await provider.close();
});

Deno.test("data-loss prevention blocks, masks and restores over the socket", async () => {
  const provider = scriptedProvider(
    "openai-responses",
    Array(3).fill({ text: "Wrote to <EMAIL_ADDRESS_1>." }),
  );
  const policy = (mode: string) => ({ mode, entity_types: ["EMAIL_ADDRESS"] });
  const gateway = await testGateway({ p: { api: "openai-responses", url: provider.url } }, {
    dlp: { restore: true },
    dlp_policies: { strict: policy("block"), masked: policy("mask") },
    keys: [
      { name: "a", secret: SECRET, dlp_policy: "strict" },
      { name: "b", secret: `${SECRET}b`, dlp_policy: "masked" },
    ],
  });
  const input = "Write to ada@example.org";
  const strict = await SocketClient.open(gateway.url);
  const [refused] = await strict.turn({ ...TURN, input });
  assertEquals([refused.status, refused.error.code], [403, "dlp_violation"]);
  assertEquals(provider.seen.length, 0);
  const masked = await SocketClient.open(gateway.url, key(`${SECRET}b`));
  let previous: string | undefined;
  for (let n = 0; n < 2; n++) {
    const events = await masked.turn({ ...TURN, input, ...(previous && { previous_response_id: previous }) });
    const { response } = events.at(-1);
    previous = response.id;
    assertEquals(response.output[0].content[0].text, "Wrote to ada@example.org.");
    const deltas = events.filter(({ type }) => type === "response.output_text.delta");
    assertEquals(deltas.map(({ delta }) => delta).join(""), "Wrote to ada@example.org.");
    // The answer before is part of the request, and is masked again.
    assert(!provider.seen[n].text.includes("ada@example.org"));
  }
  await ends([strict, masked]);
  await gateway.close();
  await provider.close();
});

Deno.test("a provider that hangs ends the turn with an event, and leaves its record", async () => {
  const provider = loopbackProvider(() => {
    const event = (type: string, more: object) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
    const item = { type: "message", id: "msg_1", role: "assistant", status: "in_progress", content: [] };
    const text =
      event("response.created", { response: { id: "r", object: "response", status: "in_progress" } }) +
      event("response.output_item.added", { output_index: 0, item }) +
      event("response.output_text.delta", {
        output_index: 0,
        content_index: 0,
        item_id: "msg_1",
        delta: "I think",
      });
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode(text)),
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  const gateway = await testGateway({
    p: { api: "openai-responses", url: provider.url, more: { idle_seconds: 0.2 }, model: PRICED },
  });
  const client = await SocketClient.open(gateway.url);
  const events = await client.turn(TURN);
  assertEquals(events.find(({ type }) => type === "error").error.code, "provider_timeout");
  // The connection is as good as before, and what was asked of it is recorded.
  assertEquals(client.ended, null);
  const record = await eventually(async () =>
    (await gateway.gateway.accounts.generations({ limit: 5 })).data[0]
  );
  assertEquals([record.status, record.error_code, record.cost], ["failed", "provider_timeout", "0.00"]);
  // A caller who leaves meanwhile is recorded the same.
  client.socket.send(JSON.stringify({ type: "response.create", ...TURN }));
  await eventually(() =>
    client.events.filter(({ type }) => type === "response.output_text.delta").length === 2
  );
  await client.close();
  await eventually(async () => (await gateway.gateway.accounts.generations({ limit: 5 })).data.length === 2);
  await gateway.close();
  await provider.close();
});

Deno.test("on a full server the socket that has waited longest gives way, and none with a turn", {
  ignore: hosted,
}, async () => {
  const held = Promise.withResolvers<void>();
  const provider = loopbackProvider(async () => {
    await held.promise;
    return Response.json({ error: { message: "late" } }, { status: 400 });
  });
  const gateway = await testGateway({ p: { api: "openai-responses", url: provider.url } }, {
    server: { max_connections: 4 },
  });
  const busy = await SocketClient.open(gateway.url);
  busy.socket.send(JSON.stringify({ type: "response.create", ...TURN }));
  await eventually(() => provider.seen.length === 1);
  // One after the other: they have waited in this order.
  const idle: SocketClient[] = [];
  for (let i = 0; i < 3; i++) idle.push(await SocketClient.open(gateway.url));
  const late = await SocketClient.open(gateway.url);
  await eventually(() => idle[0].ended !== null);
  assertEquals([idle[0].ended!.code, idle[1].ended, idle[2].ended, busy.ended], [1013, null, null, null]);
  // Over HTTP, too.
  assertEquals((await fetch(`${gateway.url}/healthz`).then((r) => r.text())).length > 0, true);
  await eventually(() => idle[1].ended !== null);
  held.resolve();
  await eventually(() => busy.events.length === 1);
  await ends([busy, idle[2], late]);
  await gateway.close();
  await provider.close();
});

Deno.test("a key has no more sockets than it may, and gets places back", async () => {
  const gateway = await testGateway({ p: { api: "demo", url: "" } }, {
    keys: [{ name: "a", secret: SECRET }, { name: "b", secret: `${SECRET}b` }],
    server: { max_sockets_per_key: 2 },
  });
  const two = await openAll(gateway.url, 2);
  const third = new SocketClient(gateway.url);
  await eventually(() => third.ended !== null);
  assertEquals(third.events, []);
  const other = await SocketClient.open(gateway.url, key(`${SECRET}b`));
  await two[0].close();
  await eventually(async () => {
    const again = new SocketClient(gateway.url);
    await eventually(() => again.ended !== null || again.socket.readyState === WebSocket.OPEN);
    if (again.ended !== null) return false;
    await again.close();
    return true;
  });
  await ends([two[1], other]);
  await gateway.close();
});

Deno.test("a connection that is an hour old says so, and ends", async () => {
  const clock = steadyClock();
  let hours = 0;
  const gateway = await testGateway({ p: { api: "demo", url: "" } }, {}, {
    clock: { now: () => clock.now() + hours * 3_600_000 },
  });
  const client = await SocketClient.open(gateway.url);
  hours = 2;
  await eventually(() => client.ended !== null);
  assertEquals(client.events.at(-1).error.code, "websocket_connection_limit_reached");
  assertEquals(client.ended!.code, 1000);
  await gateway.close();
});
