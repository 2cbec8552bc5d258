/** A configuration that cannot come into force changes nothing of the one that is in force. */
import { assertEquals, assertRejects } from "@std/assert";
import { loadValue } from "../../src/config/load.ts";
import { leastAnswer } from "../support/answers.ts";
import { SECRET, testConfig, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { SocketClient } from "../support/socket_client.ts";
import { writeTinyModel } from "../support/tiny_model.ts";

Deno.test("a reload that fails changes neither the memory of WebSockets nor the model that finds names", async () => {
  const folder = await Deno.makeTempDir();
  const model = await writeTinyModel(folder);
  const provider = loopbackProvider(leastAnswer);
  const path = `${folder}/store.db`;
  const providers = { p: { api: "openai-chat" as const, url: `${provider.url}/v1` } };
  const config = (more: Record<string, unknown>) => ({
    store: { url: `sqlite:${path}` },
    dlp: { model },
    dlp_policies: { names: { mode: "mask", entity_types: ["PERSON"] } },
    keys: [{ name: "test", secret: SECRET, dlp_policy: "names" }],
    ...more,
  });
  const gateway = await testGateway(providers, config({}));
  const socket = await SocketClient.open(gateway.url);
  const next = loadValue(
    testConfig(
      providers,
      config({ dlp: {}, server: { max_body_bytes: 1024, max_in_flight_bytes: 1024 } }),
    ),
    { env: () => undefined },
  ).config;
  try {
    Deno.renameSync(path, `${path}.away`);
    await assertRejects(() => gateway.gateway.reload(next, []));
    Deno.renameSync(`${path}.away`, path);
    const input = `Ada Lovelace ${"works ".repeat(400)}`;
    const events = await socket.turn({ model: "p/model", input });
    assertEquals(events.at(-1).type, "response.completed", JSON.stringify(events));
    const { messages } = provider.seen[0].body as { messages: { content: string }[] };
    assertEquals(JSON.stringify(messages).includes("Ada"), false);
  } finally {
    await socket.close();
    await gateway.close();
    await provider.close();
    await Deno.remove(folder, { recursive: true });
  }
});
