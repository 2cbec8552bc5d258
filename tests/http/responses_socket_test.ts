/** The responses format over a WebSocket. */
import { hosted } from "../support/deploy_shape.ts";
import { assert, assertEquals, assertMatch } from "@std/assert";
import OpenAI from "openai";
// The client loads `ws` by itself, as a peer that it leaves to its users.
import "ws";
import { ResponsesWS } from "openai/resources/responses/ws";
import { SECRET, type TestGateway, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { SocketClient, type SocketEvent as Event } from "../support/socket_client.ts";
import { eventually } from "../support/time.ts";

type Json = Record<string, unknown>;
const answered = (text: string) => ({
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: text } }],
  usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
});

/** A gateway before a provider that answers each call with its number, and keeps what it was asked. */
async function withGateway(use: (gateway: TestGateway, asked: Event[]) => Promise<void>): Promise<void> {
  const asked: Event[] = [];
  const provider = loopbackProvider((request) => {
    const { body } = request;
    asked.push(body);
    const { choices, usage } = answered(`answer ${asked.length}`);
    const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
    const frames = [
      {
        ...chunk,
        choices: [{ index: 0, delta: { role: "assistant", content: choices[0].message.content } }],
      },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
      { ...chunk, choices: [], usage },
    ];
    return new Response(
      `${frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join("")}data: [DONE]\n\n`,
      {
        headers: { "content-type": "text/event-stream" },
      },
    );
  });
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } });
  try {
    await use(gateway, asked);
  } finally {
    await gateway.close();
    await provider.close();
  }
}

const MODEL = { model: "p/model" };

Deno.test("turns follow each other on one connection, and go on from its own answers", async () => {
  await withGateway(async (gateway, asked) => {
    const client = await SocketClient.open(gateway.url);
    const first = await client.turn({ ...MODEL, instructions: "Be brief.", input: "one" });
    assertEquals(first.map(({ sequence_number }) => sequence_number), first.map((_, i) => i));
    assertEquals([first[0].type, first.at(-1).type], ["response.created", "response.completed"]);
    assertEquals(first.at(-1).response.previous_response_id, null);
    const { id } = first.at(-1).response;
    const second = await client.turn({
      ...MODEL,
      previous_response_id: id,
      stream_id: "left",
      input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "two" }] }],
    });
    assertEquals(second.map(({ stream_id }) => stream_id), second.map(() => "left"));
    assertEquals(second.at(-1).response.previous_response_id, id);
    assertEquals(
      asked[1].messages.map((
        { role, content }: Event,
      ) => [role, JSON.stringify(content).includes("answer 1")]),
      [["user", false], ["assistant", true], ["user", false]],
    );
    // A fork from the first answer.
    await client.turn({ ...MODEL, previous_response_id: id, input: "three" });
    assertEquals(asked[2].messages.length, 3);
    await client.turn({ ...MODEL, previous_response_id: second.at(-1).response.id, input: "four" });
    assertEquals(asked[3].messages.length, 5);
    await client.close();
    const { data } = await gateway.gateway.accounts.generations({ limit: 10 });
    assertEquals(data.map(({ status, stream }) => [status, stream]), Array(4).fill(["completed", true]));
  });
});

Deno.test("an answer of another connection is not known, and a refusal leaves the connection as it was", async () => {
  await withGateway(async (gateway) => {
    const one = await SocketClient.open(gateway.url);
    const other = await SocketClient.open(gateway.url);
    const { response } = (await one.turn({ ...MODEL, input: "one" })).at(-1);
    for (const id of [response.id, "resp_none"]) {
      const [event] = await other.turn({ ...MODEL, previous_response_id: id, input: "two", stream_id: "s" });
      assertEquals([event.type, event.status, event.error.code, event.error.param, event.stream_id], [
        "error",
        400,
        "previous_response_not_found",
        "previous_response_id",
        "s",
      ]);
    }
    for (
      const [message, status, code] of [
        ["{", 422, "validation_error"],
        ["[]", 422, "validation_error"],
        [{ type: "response.steer" }, 422, "validation_error"],
        [{ ...MODEL, input: 7 }, 422, "validation_error"],
        [{ ...MODEL, input: "x", stream_id: 7 }, 422, "validation_error"],
        [{ ...MODEL, input: "x", temperature: "hot" }, 422, "validation_error"],
        [{ model: "p/none", input: "x" }, 404, "model_not_found"],
      ] as const
    ) {
      const [event] = await other.turn(message as Json);
      assertEquals([event.type, event.status, event.error.code, event.code], ["error", status, code, code]);
    }
    assertEquals((await other.turn({ ...MODEL, input: "two" })).at(-1).type, "response.completed");
    await one.close();
    await other.close();
  });
});

Deno.test("generate: false begins a conversation without asking a provider", async () => {
  await withGateway(async (gateway, asked) => {
    const client = await SocketClient.open(gateway.url);
    const begun = (await client.turn({ ...MODEL, input: "long context", generate: false })).at(-1);
    assertEquals([begun.type, begun.response.output, begun.response.usage.total_tokens], [
      "response.completed",
      [],
      0,
    ]);
    assertEquals(asked.length, 0);
    await client.turn({ ...MODEL, previous_response_id: begun.response.id, input: "go" });
    assertMatch(JSON.stringify(asked[0].messages), /long context.*go/);
    await client.close();
  });
});

// The bytes of a handshake are the host's.
Deno.test("a handshake needs a key, and what is none is refused in the envelope of the format", {
  ignore: hosted,
}, async () => {
  await withGateway(async (gateway) => {
    const get = async (headers: Record<string, string>) => {
      const { hostname, port } = new URL(gateway.url);
      const conn = await Deno.connect({ hostname, port: Number(port) });
      const lines = Object.entries({ host: "h", connection: "Upgrade", ...headers }).map(([n, v]) =>
        `${n}: ${v}\r\n`
      );
      await conn.write(new TextEncoder().encode(`GET /v1/responses HTTP/1.1\r\n${lines.join("")}\r\n`));
      const buffer = new Uint8Array(4096);
      const text = new TextDecoder().decode(buffer.subarray(0, await conn.read(buffer) ?? 0));
      conn.close();
      return text;
    };
    const key = { authorization: `Bearer ${SECRET}` };
    const socket = {
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    };
    assertMatch(await get(socket), /^HTTP\/1.1 401 /);
    assertMatch(await get(key), /^HTTP\/1.1 405 [^]*allow: POST/);
    assertMatch(
      await get({ ...key, ...socket, "sec-websocket-version": "8" }),
      /^HTTP\/1.1 422 [^]*sec-websocket-version: 13/,
    );
    assertMatch(await get({ ...key, ...socket, "sec-websocket-key": "short" }), /^HTTP\/1.1 422 /);
    // The example of RFC 6455, section 1.3.
    assertMatch(
      await get({ ...key, ...socket }),
      /^HTTP\/1.1 101 [^]*sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n/,
    );
  });
});

Deno.test("a caller who leaves in the middle of a turn is billed for it", async () => {
  const gateway = await testGateway({ demo: { api: "demo", url: "" } });
  const client = await SocketClient.open(gateway.url);
  client.socket.send(JSON.stringify({ type: "response.create", model: "demo/model", input: "Good morning" }));
  await eventually(() => client.events.length > 2);
  await client.close();
  const record = await eventually(async () =>
    (await gateway.gateway.accounts.generations({ limit: 1 })).data[0]
  );
  assertEquals(record.status, "completed");
  assert(record.usage!.output_tokens > 0);
  await gateway.close();
});

Deno.test("a server that stops ends its sockets, those with a turn once that is over", async () => {
  const gateway = await testGateway({ demo: { api: "demo", url: "" } });
  const idle = await SocketClient.open(gateway.url);
  const busy = await SocketClient.open(gateway.url);
  busy.socket.send(JSON.stringify({ type: "response.create", model: "demo/model", input: "Good morning" }));
  await eventually(() => busy.events.length > 0);
  await gateway.close();
  await eventually(() => idle.ended !== null && busy.ended !== null);
  assertEquals([idle.ended!.code, busy.ended!.code, busy.events.at(-1).type], [
    1001,
    1001,
    "response.completed",
  ]);
});

Deno.test("the official client's socket reads an answer", async () => {
  const gateway = await testGateway({ demo: { api: "demo", url: "" } });
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: SECRET });
  const socket = new ResponsesWS(client);
  const types: string[] = [];
  for await (const event of socket.stream()) {
    if (event.type === "open") {
      socket.send({ type: "response.create", model: "demo/model", input: "Good morning" });
    }
    if (event.type === "error") throw event.error;
    if (event.type !== "message") continue;
    types.push(event.message.type);
    if (event.message.type === "response.completed") break;
  }
  assertEquals([types[0], types.at(-1)], ["response.created", "response.completed"]);
  socket.close();
  await eventually(() => socket.socket.readyState === 3);
  await gateway.close();
});

Deno.test("a long conversation goes on with all its numbers and labels as they came", async () => {
  await withGateway(async (gateway, asked) => {
    const client = await SocketClient.open(gateway.url);
    const stream_id = '"},\n\u0000\ud800 data: \u2028';
    const call =
      '{"type":"function_call","call_id":"c","name":"f","arguments":"{\\"n\\":12345678901234567890}"}';
    const output = '{"type":"function_call_output","call_id":"c","output":"12345678901234567890"}';
    const schema = '{"type":"object","properties":{"n":{"const":12345678901234567890}}}';
    const fields = `"type":"response.create","model":"p/model","stream_id":${JSON.stringify(stream_id)},` +
      `"tools":[{"type":"function","name":"f","parameters":${schema}}]`;
    const first = await client.turn(`{${fields},"input":[${call},${output}]}`);
    assertEquals(first.map((event) => event.stream_id), first.map(() => stream_id));
    let { id } = first.at(-1).response;
    for (let turn = 2; turn <= 40; turn++) {
      ({ id } = (await client.turn(
        `{${fields},"previous_response_id":${JSON.stringify(id)},"input":"turn ${turn}"}`,
      )).at(-1).response);
    }
    // The call, its output, and 39 questions with an answer to each turn before.
    assertEquals(asked.at(-1).messages.length, 2 + 39 + 39);
    assertMatch(JSON.stringify(asked.at(-1).messages), /12345678901234567890.*turn 2"/);
    await client.close();
  });
});

Deno.test("a key that was revoked has no further turn, and none that asks nobody", async () => {
  await withGateway(async (gateway, asked) => {
    const { secret } = await gateway.gateway.accounts.createKey({ name: "short" });
    const client = await SocketClient.open(gateway.url, { authorization: `Bearer ${secret}` });
    assertEquals((await client.turn({ ...MODEL, input: "one" })).at(-1).type, "response.completed");
    await gateway.gateway.accounts.revokeKey("short");
    for (const generate of [true, false]) {
      const [event] = await client.turn({ ...MODEL, input: "two", generate });
      assertEquals([event.type, event.status], ["error", 401]);
    }
    assertEquals(asked.length, 1);
    await client.close();
  });
});

Deno.test("a long message is parsed in slices, between which others have their turns", async () => {
  await withGateway(async (gateway) => {
    const client = await SocketClient.open(gateway.url);
    const values = Array.from(
      { length: 15 },
      () => Array.from({ length: 9999 }, (_, i) => `${i} and more text`),
    );
    const events = await client.turn({ ...MODEL, input: "one", unheard_of: values });
    assertEquals(events.at(-1).type, "response.completed");
    await client.close();
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    const [, slices] = /_count\{cause="parse"\} (\d+)/.exec(metrics) ?? [];
    assert(Number(slices) > 2, `${slices} slices`);
  });
});
