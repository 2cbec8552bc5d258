/** What administrators read of a generation's steps. */
import { assert, assertEquals } from "@std/assert";
import { leastAnswer } from "../support/answers.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { openSearchRig } from "../websearch/rig.ts";

const ADMIN = "admin-secret-of-the-test-0001";

const ANSWER = {
  id: "c",
  object: "chat.completion",
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
};

const ASKED = { model: "p/model", messages: [{ role: "user", content: "mail canary@example.org" }] };

/** Without waits for admission, which are told where they were long: on a slow machine. */
async function stepsOf(url: string, id: string | null) {
  return (await allStepsOf(url, id)).filter(({ kind }) => kind !== "admission");
}

async function allStepsOf(url: string, id: string | null) {
  const found = await fetch(`${url}/admin/generations/${id}`, {
    headers: { authorization: `Bearer ${ADMIN}` },
  });
  const { steps } = await found.json();
  return steps as Record<string, unknown>[];
}

const told = (steps: Record<string, unknown>[]) =>
  steps.map(({ kind, name, outcome }) => [kind, name, outcome]);

/** The attempt of a call that waited for something has its route in the name; that of another is derived, and has the provider. */
const derived = (steps: Record<string, unknown>[]) =>
  told(steps).map(([kind, name, outcome]) => [kind, String(name).split("/")[0], outcome]);

Deno.test("steps: a call that worked at once has its attempt, and a stream its streaming", async () => {
  const provider = loopbackProvider(() => Response.json(ANSWER));
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } }, { admin_key: ADMIN });
  try {
    const whole = await gateway.post("/v1/chat/completions", ASKED);
    await whole.json();
    assertEquals(derived(await stepsOf(gateway.url, whole.headers.get("x-request-id"))), [[
      "attempt",
      "p",
      "ok",
    ]]);
    const streamed = await gateway.post("/v1/chat/completions", { ...ASKED, stream: true });
    await streamed.text();
    const steps = await stepsOf(gateway.url, streamed.headers.get("x-request-id"));
    assertEquals(derived(steps), [["attempt", "p", "ok"], ["streaming", "chat_completions", "ok"]]);
    // Routes are the operator's affair.
    const own = await gateway.post(`/v1/generations/${streamed.headers.get("x-request-id")}`, undefined, {
      method: "GET",
    });
    assertEquals("steps" in await own.json(), false);
  } finally {
    await gateway.close();
    await provider.close();
  }
});

Deno.test("steps: each attempt tells its route, its status and why it failed", async () => {
  const provider = loopbackProvider((_, nth) =>
    nth === 0
      ? Response.json({ error: { message: "sk-canary overloaded" } }, { status: 503 })
      : Response.json(ANSWER)
  );
  const gateway = await testGateway(
    { p: { api: "openai-chat", url: provider.url, more: { retries: 1 } } },
    { admin_key: ADMIN },
    { sleep: () => Promise.resolve() },
  );
  try {
    const answer = await gateway.post("/v1/chat/completions", ASKED);
    await answer.json();
    const steps = await stepsOf(gateway.url, answer.headers.get("x-request-id"));
    assertEquals(told(steps).map(([kind, name]) => [kind, name]), [
      ["attempt", "p/model"],
      ["attempt", "p/model"],
    ]);
    const [first, second] = steps;
    assertEquals([first.status, second.outcome, second.provider, second.model], [503, "ok", "p", "model"]);
    assert(first.outcome !== "ok");
    assert((first.start_ms as number) >= 0 && (second.start_ms as number) >= (first.start_ms as number));
    assert((second.head_ms as number) <= (second.ms as number));
    assert(!JSON.stringify(steps).includes("canary"));
  } finally {
    await gateway.close();
    await provider.close();
  }
});

Deno.test("steps: what screening found is told by its number, and a search by its engine", async () => {
  const rig = await openSearchRig({
    admin_key: ADMIN,
    dlp_policies: { m: { mode: "mask", entity_types: ["EMAIL_ADDRESS"] } },
    keys: [{ name: "test", secret: SECRET, dlp_policy: "m" }],
  });
  try {
    const { response } = await rig.ask({ caller: "chat_completions", api: "openai-chat", stream: false }, {
      answer: (round, _, ticket) =>
        round === 0
          ? { calls: [{ id: "c", name: "web_search", arguments: `{"query":"${ticket}"}` }], usage: null }
          : { text: "It is dry.", usage: null },
      more: { user: "canary@example.org" },
    });
    await response.json();
    const steps = await stepsOf(rig.gateway.url, response.headers.get("x-request-id"));
    assertEquals(told(steps), [
      ["screening", "mask", "masked"],
      ["attempt", "openai-chat/model", "ok"],
      ["search", "searxng", "ok"],
      ["attempt", "openai-chat/model", "ok"],
    ]);
    assertEquals([steps[0].findings, steps[2].hits], [1, 1]);
    assert(!JSON.stringify(steps).includes("ticket"));
  } finally {
    await rig.close();
  }
});

Deno.test("steps: streams that begin at once tell how long they waited for their group", async () => {
  const provider = loopbackProvider(leastAnswer);
  let now = 0;
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } }, { admin_key: ADMIN }, {
    // Each look at the clock is late.
    clock: { now: () => now += 20 },
  });
  try {
    const ids = await Promise.all(Array.from({ length: 20 }, async () => {
      const response = await gateway.post("/v1/chat/completions", { ...ASKED, stream: true });
      await response.text();
      return response.headers.get("x-request-id")!;
    }));
    const waited: unknown[] = [];
    for (const id of ids) {
      const steps = await allStepsOf(gateway.url, id);
      waited.push(...steps.filter(({ kind, name }) => kind === "admission" && name === "turn"));
    }
    assert(waited.length > 0);
  } finally {
    await gateway.close();
    await provider.close();
  }
});
