/** Hosts that open no sockets for a process, and have no threads: the same dispatch, the same answers. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { leastAnswer } from "../support/answers.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { eventually, nextTurn } from "../support/time.ts";

// Of this file's own process or thread.
const tcp = Deno.listen;
const threads = globalThis.Worker;
// deno-lint-ignore no-explicit-any
const host = { deno: Deno as any, global: globalThis as any };

async function poor(use: () => Promise<void>): Promise<void> {
  host.deno.listen = undefined;
  host.global.Worker = undefined;
  try {
    await use();
  } finally {
    host.deno.listen = tcp;
    host.global.Worker = threads;
  }
}

const PATHS = { chat: "/v1/chat/completions", messages: "/v1/messages", responses: "/v1/responses" };
const BODIES = {
  chat: { model: "p/model", messages: [{ role: "user", content: "hi" }] },
  messages: { model: "p/model", max_tokens: 9, messages: [{ role: "user", content: "hi" }] },
  responses: { model: "p/model", input: "hi" },
};

Deno.test("a gateway without Deno.listen and Worker serves all formats, whole and streamed, by Deno.serve", async () => {
  const provider = loopbackProvider(leastAnswer);
  await poor(async () => {
    const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } });
    try {
      assert(gateway.logged.some((line) => line.includes("bounds on connections are the host's")));
      for (const format of ["chat", "messages", "responses"] as const) {
        for (const stream of [false, true]) {
          const response = await gateway.post(PATHS[format], { ...BODIES[format], stream });
          const text = await response.text();
          assertEquals(response.status, 200, text);
          assertStringIncludes(text, "hi");
          assert(response.headers.get("x-request-id")?.startsWith("gen_"));
          assertEquals(
            response.headers.get("content-type")?.split(";")[0],
            stream ? "text/event-stream" : "application/json",
          );
        }
      }
      const refused = await fetch(`${gateway.url}/v1/models`);
      assertEquals([refused.status, (await refused.json()).error.code], [401, "authentication_required"]);
      const health = await fetch(`${gateway.url}/healthz`, { method: "HEAD" });
      assertEquals([health.status, await health.text()], [200, ""]);
    } finally {
      await gateway.close();
    }
  });
  await provider.close();
});

Deno.test("a gateway without Worker screens long texts, counts tokens and unpacks bodies here, and calls nothing clean that a pattern could not look at", async () => {
  const provider = loopbackProvider(leastAnswer);
  await poor(async () => {
    const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } });
    try {
      const filler = "All work and no play makes a dull text for a scanner. ".repeat(5000);
      const messages = [{ role: "user", content: `${filler}jane.doe@corp.example` }];
      const ask = (dlp: object) => {
        const text = new Blob([JSON.stringify({ ...BODIES.chat, messages, plugins: { dlp } })]).stream();
        const body = text.pipeThrough(new CompressionStream("gzip"));
        return gateway.post(PATHS.chat, "", { body, headers: { "content-encoding": "gzip" } });
      };
      const response = await ask({ mode: "mask" });
      assertEquals(response.status, 200, await response.text());
      const [sent] = provider.seen[0].body.messages as { content: string }[];
      assertEquals(sent.content, `${filler}<EMAIL_ADDRESS_1>`);
      const refused = await ask({ mode: "mask", regexes: [{ name: "order", pattern: "AB-\\d{4}" }] });
      assertEquals([refused.status, (await refused.json()).error.code], [403, "dlp_violation"]);
      const counting = await gateway.post("/v1/messages/count_tokens", {
        ...BODIES.messages,
        messages: [{ role: "user", content: filler }],
      });
      const { input_tokens } = await counting.json();
      assert(input_tokens > 50_000 && input_tokens < 80_000, String(input_tokens));
    } finally {
      await gateway.close();
    }
  });
  await provider.close();
});

Deno.test("a server of the host refuses a host that holds a path: it would be taken for that of the request", () =>
  poor(async () => {
    const gateway = await testGateway({ demo: { api: "demo", url: "" } });
    const { hostname, port } = new URL(gateway.url);
    for (const [host, status] of [["h", 404], ["h/healthz?", 400], ["a@h", 400]] as const) {
      const conn = await Deno.connect({ hostname, port: Number(port) });
      await conn.write(new TextEncoder().encode(`GET /none HTTP/1.1\r\nhost: ${host}\r\n\r\n`));
      const buffer = new Uint8Array(4096);
      const text = new TextDecoder().decode(buffer.subarray(0, await conn.read(buffer) ?? 0));
      assertEquals(/^HTTP\/1.1 (\d+)/.exec(text)?.[1], String(status), host);
      conn.close();
    }
    await gateway.close();
  }));

Deno.test("a server of the host ends its stream when the caller leaves, and waits for answers when it shuts down", async () => {
  const begun = Promise.withResolvers<void>();
  const provider = loopbackProvider(async (seen) => {
    begun.resolve();
    for (let i = 0; i < 20; i++) await nextTurn();
    return leastAnswer(seen);
  });
  await poor(async () => {
    const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } });
    const answer = gateway.post(PATHS.chat, BODIES.chat);
    await begun.promise;
    const closing = gateway.close();
    const response = await answer;
    assertEquals([response.status, (await response.text()).includes("hi")], [200, true]);
    await closing;
  });
  await provider.close();
});

Deno.test("a gateway without Deno.listen takes turns over a WebSocket, and ends it with a code when it stops or is sent too much", async () => {
  const provider = loopbackProvider(leastAnswer);
  await poor(async () => {
    const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } }, {
      server: { max_body_bytes: 4096 },
    });
    const open = async () => {
      const socket = new WebSocket(`${gateway.url.replace("http", "ws")}/v1/responses`, {
        headers: { authorization: `Bearer ${SECRET}` },
      });
      const events: { type: string; response?: { id: string } }[] = [];
      const ended = Promise.withResolvers<number>();
      socket.onmessage = ({ data }) => events.push(JSON.parse(data));
      socket.onclose = ({ code }) => ended.resolve(code);
      await eventually(() => socket.readyState === WebSocket.OPEN);
      const turn = async (more: object = {}) => {
        const from = events.length;
        socket.send(JSON.stringify({ type: "response.create", model: "p/model", input: "hi", ...more }));
        return await eventually(() => events.slice(from).find(({ type }) => type === "response.completed"));
      };
      return { socket, turn, ended: ended.promise };
    };
    const first = await open();
    const answer = await first.turn();
    await first.turn({ previous_response_id: answer!.response!.id });
    assertEquals((provider.seen[1].body.messages as unknown[]).length, 3);
    const large = await open();
    large.socket.send("x".repeat(5000));
    assertEquals(await large.ended, 1009);
    await gateway.close();
    assertEquals(await first.ended, 1001);
  });
  await provider.close();
});
