/** Ways on which an answer reaches a caller: what is kept of it and told again is what was screened. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { keeping } from "../payloads/support.ts";
import { tellsNumber } from "../support/digits.ts";
import { SECRET, type TestGateway, testGateway } from "../support/gateway.ts";
import { type LoopbackProvider, loopbackProvider, type Seen, sseResponse } from "../support/provider.ts";
import { SocketClient } from "../support/socket_client.ts";
import { StoppedClock } from "../support/time.ts";

const CARD = "4539 5787 6362 1486";
const SAID = `The card is ${CARD}, as you asked.`;
const MASKED = "The card is <CREDIT_CARD_1>, as you asked.";
const POLICIES = { dlp_policies: { safe: { mode: "alert", answers: "mask" } } };
const KEYS = { ...POLICIES, keys: [{ name: "test", secret: SECRET, dlp_policy: "safe" }] };
const BODIES = {
  "/v1/chat/completions": { model: "p/model", messages: [{ role: "user", content: "hi" }] },
  "/v1/messages": { model: "p/model", max_tokens: 50, messages: [{ role: "user", content: "hi" }] },
  "/v1/responses": { model: "p/model", input: "hi" },
} as const;
const PATHS = Object.keys(BODIES) as (keyof typeof BODIES)[];

const chunk = (delta: unknown, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const USAGE = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };

/** Says the card in pieces of two characters, or whole. */
function answer({ body }: Seen): Response {
  if (body.stream !== true) {
    const message = { role: "assistant", content: SAID };
    return Response.json({ id: "c", choices: [{ index: 0, message, finish_reason: "stop" }], usage: USAGE });
  }
  return sseResponse([
    ...SAID.match(/[^]{1,2}/g)!.map((content) => chunk({ content })),
    chunk({}, "stop"),
    `data: ${JSON.stringify({ id: "c", choices: [], usage: USAGE })}\n\n`,
    "data: [DONE]\n\n",
  ]);
}

async function withGateway(
  use: (gateway: TestGateway, provider: LoopbackProvider) => Promise<void>,
  says: (seen: Seen) => Response = answer,
  more: Record<string, unknown> = {},
): Promise<void> {
  const provider = loopbackProvider(says);
  const gateway = await testGateway(
    { p: { api: "openai-chat", url: `${provider.url}/v1` } },
    { ...KEYS, ...more },
    { clock: new StoppedClock() },
  );
  try {
    await use(gateway, provider);
  } finally {
    await gateway.close();
    await provider.close();
  }
}

/** The text in an answer of any format, whole or streamed. */
function saidIn(raw: string): string {
  const frames = raw.startsWith("{") ? [raw] : [...raw.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => json);
  return frames.map((json) => {
    // deno-lint-ignore no-explicit-any
    const f: any = JSON.parse(json);
    if (f.type?.startsWith("response.")) return f.type === "response.output_text.delta" ? f.delta : "";
    const choice = f.choices?.[0];
    return choice?.message?.content ?? choice?.delta?.content ?? f.delta?.text ?? f.content?.[0]?.text ??
      f.output?.[0]?.content[0].text ?? "";
  }).join("");
}

for (const path of PATHS) {
  for (const stream of [false, true]) {
    const body = { ...BODIES[path], stream };

    Deno.test(`${path}, stream ${stream}: what is told again under one key, or resumed, is the screened answer`, async () => {
      await withGateway(async (gateway, provider) => {
        const headers = { "idempotency-key": "one", "x-svc-resume": "true" };
        const answers = await Promise.all([1, 2].map(() => gateway.post(path, body, { headers })));
        answers.push(await gateway.post(path, body, { headers }));
        const id = answers[0].headers.get("x-request-id");
        if (stream) {
          answers.push(
            await fetch(`${gateway.url}/v1/generations/${id}/stream`, {
              headers: { authorization: `Bearer ${SECRET}` },
            }),
          );
        }
        for (const response of answers) {
          const raw = await response.text();
          assertEquals(response.status, 200, raw);
          assert(!tellsNumber(raw, CARD), raw);
          assertEquals(saidIn(raw), MASKED);
        }
        assertEquals(provider.seen.length, 1);
      });
    });

    Deno.test(`${path}, stream ${stream}: the payload log keeps the screened answer`, async () => {
      await keeping(
        { ...POLICIES, keys: [{ name: "test", secret: SECRET, payloads: true, dlp_policy: "safe" }] },
        async ({ gateway, kept, payload }) => {
          const response = await gateway.post(path, body);
          const id = response.headers.get("x-request-id")!;
          assertEquals(saidIn(await response.text()), MASKED);
          await kept(1);
          const { status, json } = await payload(id);
          assertEquals(status, 200);
          const told = JSON.stringify(json);
          assert(!tellsNumber(told, CARD), told);
          assert(told.includes("<CREDIT_CARD_1>"), told);
        },
        { answer, clock: new StoppedClock() },
      );
    });

    Deno.test(`${path}, stream ${stream}: a provider's refusal tells no value, early or late`, async () => {
      for (const early of [true, false]) {
        const error = { message: `No answer for ${CARD}.`, type: "invalid_request_error" };
        const refuse = () =>
          early || !stream
            ? Response.json({ error }, { status: 400 })
            : sseResponse([chunk({ content: "Well, " }), `data: ${JSON.stringify({ error })}\n\n`]);
        await withGateway(async (gateway) => {
          const raw = await (await gateway.post(path, body)).text();
          assert(!tellsNumber(raw, CARD), raw);
          assertMatch(raw, /No answer for <CREDIT_CARD_1>\./);
        }, refuse);
      }
    });
  }
}

Deno.test("a socket tells the screened answer, and goes on from it", async () => {
  await withGateway(async (gateway, provider) => {
    const client = await SocketClient.open(gateway.url);
    const first = await client.turn({ model: "p/model", input: "hi" });
    const second = await client.turn({
      model: "p/model",
      input: "again",
      previous_response_id: first.at(-1).response.id,
    });
    await client.close();
    for (const events of [first, second]) {
      const raw = JSON.stringify(events);
      assert(!tellsNumber(raw, CARD), raw);
      assertEquals(events.at(-1).response.output[0].content[0].text, MASKED);
    }
    const sent = JSON.stringify(provider.seen[1].body);
    assert(sent.includes(MASKED) && !tellsNumber(sent, CARD), sent);
  });
});

Deno.test("a socket keeps what was said on it unmasked: each turn gives a value the same placeholder and turns it back", async () => {
  const told: string[] = [];
  const says = ({ body }: Seen) => {
    told.push(JSON.stringify(body.messages));
    return sseResponse([
      chunk({ content: told.length === 1 ? "<EMAIL_ADDRESS_1>" : "<EMAIL_ADDRESS_1>, <EMAIL_ADDRESS_2>" }),
      chunk({}, "stop"),
      "data: [DONE]\n\n",
    ]);
  };
  await withGateway(
    async (gateway) => {
      const client = await SocketClient.open(gateway.url);
      const said: string[] = [];
      let previous_response_id: string | undefined;
      for (const text of ["I am jo@corp.example.", "He is bob@corp.example.", "Who is jo@corp.example?"]) {
        const content = [{ type: "input_text", text }];
        const events = await client.turn({
          model: "p/model",
          input: [{ type: "message", role: "user", content }],
          ...(previous_response_id && { previous_response_id }),
        });
        const { id, output } = events.at(-1).response;
        previous_response_id = id;
        said.push(output[0].content[0].text);
      }
      await client.close();
      const both = "jo@corp.example, bob@corp.example";
      assertEquals(said, ["jo@corp.example", both, both]);
      assert(!told.some((prompt) => prompt.includes("corp.example")), told.join());
      assertMatch(told[2], /I am <EMAIL_ADDRESS_1>.*He is <EMAIL_ADDRESS_2>.*Who is <EMAIL_ADDRESS_1>/);
    },
    says,
    { dlp: { restore: true }, dlp_policies: { safe: { mode: "mask" } } },
  );
});

Deno.test("hits of the gateway's own search are masked for the caller, or left out where findings end answers", async () => {
  const engine = loopbackProvider(() =>
    Response.json({
      query: "q",
      results: [
        { url: "https://a.example/", title: "Plain", content: "c" },
        { url: `https://b.example/${CARD.replaceAll(" ", "")}`, title: `Card ${CARD}`, content: "c" },
      ],
    })
  );
  const search = { engine: "searxng", base_url: engine.url };
  const says = ({ body }: Seen) => {
    const searched = JSON.stringify(body.messages).includes('"tool"');
    const call = { id: "c1", type: "function", function: { name: "web_search", arguments: '{"query":"x"}' } };
    const message = searched
      ? { role: "assistant", content: "Done." }
      : { role: "assistant", content: null, tool_calls: [call] };
    const finish_reason = searched ? "stop" : "tool_calls";
    return Response.json({ id: "c", choices: [{ index: 0, message, finish_reason }], usage: USAGE });
  };
  for (const [answers, hits] of [["alert", 2], ["mask", 2], ["block", 1]] as const) {
    await withGateway(
      async (gateway) => {
        const tools = [{ type: "web_search_20250305", name: "web_search" }];
        const raw = await (await gateway.post("/v1/messages", { ...BODIES["/v1/messages"], tools })).text();
        // deno-lint-ignore no-explicit-any
        const block = JSON.parse(raw).content.find((b: any) => b.type === "web_search_tool_result");
        assertEquals(block?.content.length, hits, raw);
        assertEquals(tellsNumber(raw, CARD), answers === "alert", raw);
        assertEquals(raw.includes("Card <CREDIT_CARD_1>"), answers === "mask", raw);
      },
      says,
      { search, dlp_policies: { safe: { mode: "alert", answers } } },
    );
  }
  await engine.close();
});
