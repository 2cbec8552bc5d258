/** Requests that an agent repeats within its session. */
import { assertEquals, assertRejects } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import type { RequestContext } from "../../src/http/endpoint.ts";
import { keeping } from "../../src/http/resume/resumable.ts";
import { StoreUnavailable } from "../../src/store/mod.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider, sseResponse } from "../support/provider.ts";
import { SCRIPTS } from "../support/script/mod.ts";

const BODY = { model: "p/model", stream: true, messages: [{ role: "user", content: "Hi" }] };
const JOINS = { "x-svc-resume": "true", "x-svc-join": "true" };

Deno.test("the same request of the same session joins, and one that failed runs anew", async () => {
  let fails = false;
  const provider = loopbackProvider((_, nth) => {
    const frames = SCRIPTS["openai-chat"].frames({ text: `Answer ${nth}.` }, nth);
    return sseResponse(fails ? frames.slice(0, 2) : frames);
  });
  const other = `${SECRET}o`;
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } }, {
    keys: [{ name: "a", secret: SECRET }, { name: "b", secret: other }],
  });
  const ask = async (headers: Record<string, string>, body: unknown = BODY) => {
    const response = await gateway.post("/v1/chat/completions", body, { headers });
    const text = await response.text();
    return [
      response.headers.get("x-svc-joined"),
      /Answer \d+/.exec(text.replaceAll(/"}.*?"content":"/gs, ""))?.[0],
    ];
  };
  const session = { ...JOINS, "x-claude-code-session-id": "s1" };
  assertEquals(await ask(session), [null, "Answer 0"]);
  assertEquals(await ask(session), ["true", "Answer 0"]);
  // Not so: another session, no session, no wish, another key, another request.
  const apart: Record<string, string>[] = [
    { ...JOINS, "x-claude-code-session-id": "s2" },
    JOINS,
    JOINS,
    { "x-svc-resume": "true", session_id: "s1" },
    { ...session, authorization: `Bearer ${other}` },
  ];
  for (const [i, headers] of apart.entries()) assertEquals(await ask(headers), [null, `Answer ${i + 1}`]);
  assertEquals(await ask(session, { ...BODY, max_tokens: 7 }), [null, "Answer 6"]);
  assertEquals(provider.seen.length, 7);
  // A break at the provider is no answer that a repeat should get.
  fails = true;
  const broken = { ...JOINS, session_id: "s3" };
  await ask(broken);
  fails = false;
  assertEquals(await ask(broken), [null, "Answer 8"]);
  assertEquals(await ask(broken), ["true", "Answer 8"]);
  const { data } = await gateway.gateway.accounts.generations({ limit: 50 });
  assertEquals(data.length, 9);
  const wrong = await gateway.post("/v1/chat/completions", BODY, {
    headers: { ...JOINS, "x-svc-join": "yes" },
  });
  assertEquals([wrong.status, (await wrong.json()).error.code], [422, "validation_error"]);
  await gateway.close();
  await provider.close();
});

Deno.test("a request whose attempts have all failed runs anew, however many they were", async () => {
  let fails = true;
  const provider = loopbackProvider((_, nth) => {
    const frames = SCRIPTS["openai-chat"].frames({ text: "Whole answer." }, nth);
    return sseResponse(fails ? frames.slice(0, 2) : frames);
  });
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } });
  const ask = async () => {
    const response = await gateway.post("/v1/chat/completions", BODY, {
      headers: { ...JOINS, session_id: "s1" },
    });
    return { status: response.status, text: await response.text(), headers: response.headers };
  };
  const attempts = 53;
  for (let i = 0; i < attempts; i++) assertEquals((await ask()).status, 200, `attempt ${i}`);
  assertEquals(provider.seen.length, attempts);
  fails = false;
  const { status, text, headers } = await ask();
  assertEquals([status, /\[DONE\]/.test(text)], [200, true]);
  // It can be resumed like any other.
  assertEquals(Number(headers.get("x-svc-resume")) > 0, true);
  await gateway.close();
  await provider.close();
});

/** Asks for what the same session has asked for before, which has ended. */
async function repeatCode(
  find: () => Promise<unknown>,
  generation: () => Promise<unknown> = () => Promise.reject(new Error("it is not asked for")),
  { claimed = 1 } = {},
): Promise<string> {
  let claims = 0;
  const resumption = {
    claim: () =>
      Promise.resolve(claims++ < claimed ? { joined: "gen_1", same: true, lost: false } : { live: {} }),
    find,
    answered: () => Promise.resolve(null),
    readers: { enter: () => ({ leave() {} }) },
  };
  const context = {
    id: "gen_2",
    path: "/v1/chat/completions",
    request: { headers: new Headers({ ...JOINS, session_id: "s1" }) },
    state: {
      resumption: () => Promise.resolve(resumption),
      administration: { generation },
      requestRates: { take() {} },
      inFlight: { leavesConnections: () => true },
      kit: { accounts: { requestsPerMinute: () => 60 }, metrics: { keptStream() {} } },
    },
  } as unknown as RequestContext;
  const key = { id: "k", resumeMs: null } as Parameters<typeof keeping>[1]["key"];
  const run = <T>(work: Generator<void, T>): T => {
    let step = work.next();
    while (!step.done) step = work.next();
    return step.value;
  };
  const asked = () => keeping(context, { key, formatName: "chat_completions", body: BODY, run });
  return (await assertRejects(asked, Failure)).code;
}

Deno.test("a store that goes away while a repeat joins is told as such, and nothing runs anew", async () => {
  assertEquals(await repeatCode(() => Promise.reject(new StoreUnavailable("away"))), "service_unavailable");
  const ended = () => Promise.resolve({ goesOn: false });
  for (const away of [new StoreUnavailable("away"), new Failure("service_unavailable", "away")]) {
    assertEquals(await repeatCode(ended, () => Promise.reject(away)), "service_unavailable");
  }
});

Deno.test("a repeat does not look without end for an answer that is claimed and not there", async () => {
  assertEquals(
    await repeatCode(() => Promise.resolve(null), undefined, { claimed: 1000 }),
    "service_unavailable",
  );
});
