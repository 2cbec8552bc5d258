/** Payloads of calls that run while the configuration is replaced. */
import { assertEquals } from "@std/assert";
import { RunningPayloads } from "../../src/assembly/running_payloads.ts";
import { loadValue } from "../../src/config/load.ts";
import { PAYLOADS } from "../../src/payloads/config.ts";
import type { OpenPayloads } from "../../src/payloads/mod.ts";
import { leastAnswer } from "../support/answers.ts";
import { SECRET, testConfig } from "../support/gateway.ts";
import { eventually, nextTurn } from "../support/time.ts";
import { ADMIN, filesUnder, keeping, PAYLOAD_KEY } from "./support.ts";

const CHAT = { model: "p/model", messages: [{ role: "user", content: "hi" }] };

Deno.test("the payload of a call that runs during a reload is kept where the new configuration says", async () => {
  const other = await Deno.makeTempDir();
  let release = () => {};
  try {
    await keeping({}, async ({ gateway, provider, folder, files, kept, payload }) => {
      const reload = (payloads: unknown) => {
        const { config } = loadValue(
          testConfig({ p: { api: "openai-chat", url: `${provider.url}/v1` } }, {
            admin_key: ADMIN,
            payloads,
            keys: [{ name: "test", secret: SECRET, payloads: true }],
          }),
          { env: () => undefined },
        );
        return gateway.gateway.reload(config, []);
      };
      const idDuring = async (payloads: unknown) => {
        const before = provider.seen.length;
        const calling = gateway.post("/v1/chat/completions", CHAT);
        await eventually(() => provider.seen.length > before);
        await reload(payloads);
        release();
        const response = await calling;
        await response.text();
        return response.headers.get("x-request-id")!;
      };
      // The key differs, too: `payload` reads it with the new one.
      const moved = await idDuring({ to: `file:${other}`, key: `${PAYLOAD_KEY}, the second` });
      const found = await eventually(async () => {
        const answer = await payload(moved);
        return answer.status === 404 ? null : answer;
      });
      assertEquals([found!.status, found!.json.request], [200, CHAT]);
      assertEquals([(await files()).length, (await filesUnder(other)).length], [0, 1]);
      // Payloads are off when the call ends.
      await idDuring(null);
      await idDuring({ to: `file:${folder}`, key: PAYLOAD_KEY });
      await gateway.gateway.idle();
      assertEquals([(await files()).length, (await filesUnder(other)).length], [0, 1]);
      const last = gateway.post("/v1/chat/completions", CHAT);
      await eventually(() => provider.seen.length === 4);
      release();
      await (await last).text();
      await kept(1);
    }, {
      answer: async (seen) => {
        await new Promise<void>((resolve) => release = resolve);
        return leastAnswer(seen);
      },
    });
  } finally {
    await Deno.remove(other, { recursive: true });
  }
});

Deno.test("a replaced payload log writes what it has before the gateway ends, and one that is not used is closed", async () => {
  const opened: { log: OpenPayloads; closes: number; written: () => void }[] = [];
  const added: string[] = [];
  const payloads = new RunningPayloads((config) => {
    const { promise, resolve: written } = Promise.withResolvers<void>();
    const one = {
      closes: 0,
      written,
      log: {
        config,
        add: (id: string) => added.push(`${opened.indexOf(one)} ${id}`),
        close() {
          one.closes++;
          return promise;
        },
      } as unknown as OpenPayloads,
    };
    opened.push(one);
    return Promise.resolve(one.log);
  });
  const section = (folder: string) => PAYLOADS.parse({ to: `file:${folder}`, key: PAYLOAD_KEY })!;
  const add = (id: string) => payloads.add(id, "key", 1, () => null);
  const follow = async (folder: string) => payloads.become(await payloads.prepare(section(folder)));
  add("before");
  await follow("/a");
  add("a");
  await follow("/a");
  assertEquals(opened.length, 1);
  // A reload that fails.
  await payloads.prepare(section("/b"));
  payloads.discard();
  add("still a");
  assertEquals(opened.map(({ closes }) => closes), [0, 1]);
  await follow("/c");
  add("c");
  payloads.become(await payloads.prepare(null));
  add("none");
  assertEquals(opened.map(({ closes }) => closes), [1, 1, 1]);
  assertEquals(added, ["0 a", "0 still a", "2 c"]);
  let ended = false;
  const ending = payloads.close().then(() => ended = true);
  opened[2].written();
  opened[1].written();
  await nextTurn();
  assertEquals(ended, false);
  opened[0].written();
  await ending;
});
