/** Crowds on the real program: it stays up, answers others meanwhile, and afterwards is as before. */
import { assert, assertEquals } from "@std/assert";
import { CROWDS } from "./soak/crowds.ts";
import { SECRETS, startGateway, startProvider } from "./soak/gateway.ts";
import { eventually, inTime } from "./support/time.ts";

/** Files that the gateway may have open. It has some forty at rest. */
const FILES = 160;
const BODY = JSON.stringify({
  model: "ordinary/model",
  messages: [{ role: "user", content: "Good morning" }],
});

/** @param refusals gets what other answers than good ones say */
async function call(url: string, refusals: string[] = []): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${SECRETS.ordinary}`, "content-type": "application/json" },
    body: BODY,
  });
  const text = await response.text();
  if (response.status !== 200) refusals.push(text);
  return response.status;
}

Deno.test("crowds of ten times as many connections as files, slow senders, abandoned streams and garbage keys leave others be", async (t) => {
  const folder = await Deno.makeTempDir({ prefix: "sluice-crowds-" });
  const provider = await startProvider();
  const gateway = await startGateway(folder, provider.url, { files: FILES, server: { header_seconds: 2 } });
  try {
    assertEquals(await call(gateway.url), 200);
    const atRest = gateway.descriptors();
    const sizes: Record<string, number> = { "idle connections": 10 * FILES };
    for (const [name, { crowd, count }] of Object.entries(CROWDS)) {
      await t.step(name, async () => {
        let answered = 0;
        const others: string[] = [];
        const meanwhile = async () => {
          for (let i = 0; i < 10; i++) {
            // A connection may be refused or closed where there are more than files; whoever asks again gets one.
            const good = async () => await call(gateway.url, others).catch(() => 0) === 200;
            await eventually(good, { what: () => `${name}: ${others.slice(0, 5)}\n${gateway.err()}` });
            answered++;
          }
        };
        await inTime(crowd({ url: gateway.url, count: sizes[name] ?? count, meanwhile }), { what: name });
        assertEquals(answered, 10);
      });
    }
    await eventually(() => gateway.descriptors() < atRest + FILES / 2, {
      what: () => `${gateway.descriptors()}`,
    });
    assertEquals(await call(gateway.url), 200);
    assertEquals(await eventually(async () => await gateway.metric("sluice_records_pending ") === 0), true);
    assert(!/Uncaught|panicked/.test(gateway.err()), gateway.err());
  } finally {
    const code = await gateway.stop();
    await provider.stop();
    await Deno.remove(folder, { recursive: true });
    assertEquals(code, 0, gateway.err());
  }
});
