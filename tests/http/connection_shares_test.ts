/** One key cannot hold all connections of the process. */
import { assertEquals } from "@std/assert";
import { hosted } from "../support/deploy_shape.ts";
import { loopbackProvider } from "../support/provider.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { eventually } from "../support/time.ts";

const OTHER = "sk_live_otherkeyotherkeyotherkeyother03";
const MOST = 16;
/** An eighth of the connections is for others. */
const SHARE = 14;

const frame = (content: string) =>
  `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta: { content } }] })}\n\n`;

/** A provider whose streams begin and do not end; other answers are whole. */
function endless() {
  const ends: (() => void)[] = [];
  const provider = loopbackProvider(({ body: { stream } }) => {
    if (!stream) {
      return Response.json({ choices: [{ message: { content: "Hi" }, finish_reason: "stop" }], usage: {} });
    }
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(frame("hello")));
        ends.push(() => {
          try {
            controller.close();
          } catch {
            // The gateway has ended it.
          }
        });
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  return { ...provider, end: () => ends.splice(0).forEach((end) => end()) };
}

const ask = (stream: boolean) =>
  JSON.stringify({ model: "p/model", stream, messages: [{ role: "user", content: "hi" }] });

const NAME =
  "a key whose streams use seven eighths of the connections gets no more, and all others get theirs";

// A host bounds the connections itself.
Deno.test(NAME, { ignore: hosted }, async () => {
  const provider = endless();
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } }, {
    keys: [{ name: "many", secret: SECRET, resume_seconds: 60 }, { name: "other", secret: OTHER }],
    server: { max_connections: MOST },
    admin_key: "admin-key-of-32-characters-admin",
  });
  const post = (path: string, secret: string, body: string) =>
    fetch(gateway.url + path, { method: "POST", headers: { authorization: `Bearer ${secret}` }, body });
  const streams: Response[] = [];
  const first = await post("/v1/chat/completions", SECRET, ask(true));
  streams.push(first);
  while (streams.length < SHARE) streams.push(await post("/v1/chat/completions", SECRET, ask(true)));
  assertEquals(new Set(streams.map(({ status }) => status)), new Set([200]));
  const status = async (asked: Promise<Response>) => {
    const response = await asked;
    await response.body?.cancel();
    return response.status;
  };
  for (let i = 0; i < 2 * MOST; i++) {
    assertEquals(await status(post("/v1/chat/completions", SECRET, ask(true))), 503);
  }
  const id = first.headers.get("x-request-id");
  const resumed = () =>
    fetch(`${gateway.url}/v1/generations/${id}/stream`, { headers: { authorization: `Bearer ${SECRET}` } });
  assertEquals(await status(resumed()), 503);
  assertEquals(await status(post("/v1/messages/count_tokens", SECRET, ask(false))), 503);
  for (const path of ["/v1/chat/completions", "/v1/messages/count_tokens"]) {
    assertEquals(await status(post(path, OTHER, ask(false))), 200, path);
  }
  assertEquals(await status(fetch(`${gateway.url}/healthz`)), 200);
  await Promise.all(streams.splice(0).map((stream) => stream.body?.cancel()));
  await eventually(async () => await status(resumed()) === 200);
  provider.end();
  await gateway.close();
  await provider.close();
});
