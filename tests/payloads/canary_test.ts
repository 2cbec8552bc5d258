/** Prompts and secrets of calls of every kind: in the payload log alone, encrypted, only where it is on, and not after its time. */
import { assert, assertEquals } from "@std/assert";
import { PAYLOADS } from "../../src/payloads/config.ts";
import { openPayloads } from "../../src/payloads/mod.ts";
import { posts } from "../alerts/support.ts";
import { leastAnswer } from "../support/answers.ts";
import { SECRET } from "../support/gateway.ts";
import { formsOf } from "../support/forms.ts";
import { SocketClient } from "../support/socket_client.ts";
import { eventually } from "../support/time.ts";
import { openSearchRig } from "../websearch/rig.ts";
import { ADMIN, bytesUnder, filesUnder, keeping, PAYLOAD_KEY } from "./support.ts";

const OFF = "sk_live_keyofcallsthatarenotkept0001";

/** Times that each kind of call is made: more than a thousand calls in all. */
const ROUNDS = 60;
const DAY_MS = 86_400_000;

Deno.test("canaries of a thousand calls of every kind are nowhere but in the payload log, and not after its time", async () => {
  const hook = posts();
  let now = Date.UTC(2026, 5, 15, 12);
  let said = 0;
  const canaries: string[] = [];
  const canary = (kind: string) => {
    canaries.push(`canary-${kind}-${canaries.length}-of-a-prompt`);
    return canaries.at(-1)!;
  };
  const config = {
    keys: [
      { name: "test", secret: SECRET, payloads: true },
      { name: "off", secret: OFF },
      { name: "blocked", secret: `${OFF}b`, payloads: true, dlp_policy: "block" },
    ],
    dlp_policies: { block: { mode: "block", entity_types: ["EMAIL_ADDRESS"] } },
    alerts: [{
      name: "errors",
      when: { metric: "error_rate", above: 0, least: 1 },
      for: "0s",
      to: [{ webhook: hook.url, secret: "whsec" }],
    }],
  };
  try {
    await keeping(config, async ({ gateway, folder, files, bytes, payload, kept }) => {
      const ids: string[] = [];
      const post = async (path: string, body: Record<string, unknown>, secret = SECRET) => {
        const response = await gateway.post(path, { model: "p/model", ...body }, {
          headers: { authorization: `Bearer ${secret}`, "x-svc-session": "s" },
        });
        await response.text();
        return response;
      };
      const user = (kind: string, more = "") => [{ role: "user", content: canary(kind) + more }];
      let calls = 0;
      for (let round = 0; round < ROUNDS; round++) {
        for (const stream of [false, true]) {
          for (
            const [path, body] of [
              ["/v1/chat/completions", () => ({ messages: user("chat") })],
              [
                "/v1/messages",
                () => ({ max_tokens: 9, system: canary("system"), messages: user("messages") }),
              ],
              ["/v1/responses", () => ({ input: user("responses"), instructions: canary("instructions") })],
              ["/v1/chat/completions", () => ({ messages: user("failing", " fail") })],
              ["/v1/chat/completions", () => ({
                messages: user("tools"),
                tools: [{
                  type: "function",
                  function: { name: "f", description: canary("tool"), parameters: { type: "object" } },
                }],
              })],
            ] as const
          ) {
            const response = await post(path, { ...body(), stream });
            ids.push(response.headers.get("x-request-id")!);
            calls++;
          }
        }
        for (const path of ["/v1/chat/completions", "/v1/messages"]) {
          await post(path, { max_tokens: 9, messages: user("off") }, OFF);
          const refused = await post(
            path,
            { max_tokens: 9, messages: user("blocked", " a@example.com") },
            `${OFF}b`,
          );
          assertEquals(refused.status, 403);
        }
        const socket = await SocketClient.open(gateway.url);
        await socket.turn({ model: "p/model", input: canary("socket") });
        await socket.turn({ model: "p/model", input: canary("socket-again") });
        socket.socket.close();
        calls += 2;
        const leaving = await gateway.post("/v1/chat/completions", {
          model: "p/model",
          stream: true,
          messages: user("abandoned"),
        });
        await leaving.body?.cancel();
        calls++;
        // A repeat joins its generation; what counts and estimates is no generation.
        const again = { model: "p/model", messages: user("idempotent") };
        for (let i = 0; i < 2; i++) {
          const joined = await gateway.post("/v1/chat/completions", again, {
            headers: {
              authorization: `Bearer ${SECRET}`,
              "idempotency-key": `key-${round}`,
              "x-svc-resume": "true",
            },
          });
          await joined.text();
        }
        calls++;
        for (const path of ["/v1/messages/count_tokens", "/v1/estimate", "/v1/responses/input_tokens"]) {
          const body = path.endsWith("input_tokens") ? { input: user("off") } : { messages: user("off") };
          await post(path, body);
        }
        await post("/v1/chat/completions", { messages: canary("off") });
        await post("/v1/responses/compact", { input: user("off") }, OFF);
      }
      await gateway.gateway.idle();
      await kept(calls);
      await eventually(() => (now += 1000) > 0 && hook.got.length > 0);

      // What is on the disk is no plain text, and only what was wanted.
      assertEquals((await files()).length, calls);
      const disk = await bytes();
      const metrics =
        await (await fetch(`${gateway.url}/metrics`, { headers: { authorization: `Bearer ${ADMIN}` } }))
          .text();
      const audit =
        await (await fetch(`${gateway.url}/admin/audit`, { headers: { authorization: `Bearer ${ADMIN}` } }))
          .text();
      const records = await (await fetch(`${gateway.url}/admin/generations`, {
        headers: { authorization: `Bearer ${ADMIN}` },
      })).text();
      const told = hook.got.map(({ text, headers }) => text + JSON.stringify([...headers])).join();
      for (
        const [name, text] of Object.entries({
          disk,
          metrics,
          audit,
          records,
          told,
          log: gateway.logged.join("\n"),
        })
      ) {
        for (const secret of ["canary-", "-of-a-prompt", PAYLOAD_KEY, SECRET, "provider-secret", "whsec"]) {
          for (const form of formsOf(secret)) assert(!text.includes(form), `${secret} in ${name} as ${form}`);
        }
      }
      const read = await Promise.all((await files()).map((file) => payload(file.split("/").at(-1)!)));
      const opened = read.map(({ json }) => JSON.stringify(json)).join();
      for (const one of canaries) {
        assertEquals(opened.includes(one), !/-(?:off|blocked)-/.test(one), one);
      }
      assert(!opened.includes(SECRET) && !opened.includes("provider-secret"));
      assert(ids.every((id) => opened.includes(id)));
      assert(said > 1000, `${said} calls of the provider`);
      now += 40 * DAY_MS;
      const log = await openPayloads(PAYLOADS.parse({ to: `file:${folder}`, key: PAYLOAD_KEY }), {
        env: () => undefined,
        now: () => now,
        warn: (line) => {
          throw new Error(line);
        },
        sweeps: false,
      });
      await log.sweep();
      assertEquals(await files(), []);
      await log.close();
    }, {
      now: () => now,
      alertsEveryMs: 5,
      answer: (seen) => {
        said++;
        return seen.text.includes(" fail")
          ? new Response(`canary-echo ${seen.text}`, { status: 500 })
          : leastAnswer(seen);
      },
    });
    assert(said > 0);
  } finally {
    await hook.close();
  }
});

Deno.test("a searched call is kept with its searches, whole and streamed", async () => {
  const folder = await Deno.makeTempDir();
  const rig = await openSearchRig({
    admin_key: ADMIN,
    payloads: { to: `file:${folder}`, key: PAYLOAD_KEY },
    keys: [{ name: "test", secret: SECRET, payloads: true }],
  });
  try {
    for (const caller of ["chat_completions", "messages", "responses"] as const) {
      for (const stream of [false, true]) {
        const { response } = await rig.ask({ caller, api: "openai-chat", stream }, {
          answer: (round, _, ticket) =>
            round === 0
              ? {
                calls: [{ id: "c", name: "web_search", arguments: `{"query":"canary ${ticket}"}` }],
                usage: null,
              }
              : { text: "It is dry today.", usage: null },
        });
        await response.text();
        const id = response.headers.get("x-request-id");
        const found = await eventually(async () => {
          const answer = await fetch(`${rig.gateway.url}/admin/generations/${id}/payload`, {
            headers: { authorization: `Bearer ${ADMIN}` },
          });
          const json = await answer.json();
          return answer.status === 404 ? null : json;
        });
        const text = JSON.stringify(found.answer);
        assert(text.includes("It is dry today."), `${caller} ${stream}: ${text}`);
        assertEquals(found.status, "completed");
      }
    }
    assertEquals((await filesUnder(folder)).length, 6);
    assert(!(await bytesUnder(folder)).includes("canary"));
  } finally {
    await rig.close();
    await Deno.remove(folder, { recursive: true });
  }
});
