/** Answers screened over HTTP, in the three formats, as a stream and whole. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { tellsNumber } from "../support/digits.ts";
import { SECRET, type TestGateway, testGateway } from "../support/gateway.ts";
import { loopbackProvider, sseResponse } from "../support/provider.ts";
import { StoppedClock } from "../support/time.ts";

// deno-lint-ignore no-explicit-any
type Loose = any;

const CARD = "4539 5787 6362 1486";
const MAIL = "jane.doe@corp.example";
const ADMIN = "admin-key-of-the-tests";
const PATHS = {
  chat_completions: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
} as const;
type Format = keyof typeof PATHS;
const FORMATS = Object.keys(PATHS) as Format[];
const USAGE = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };

interface Said {
  text?: string;
  args?: string;
}

/** Says what `said` holds, in pieces of three characters. */
function speaker(said: Said | ((body: Loose) => Said)) {
  return loopbackProvider(({ body }) => {
    const { text, args } = typeof said === "function" ? said(body) : said;
    const calls = (
      pieces: string,
    ) => [{ index: 0, id: "c1", type: "function", function: { name: "send", arguments: pieces } }];
    const finish_reason = args === undefined ? "stop" : "tool_calls";
    // deno-lint-ignore no-explicit-any
    if ((body as any).stream !== true) {
      const message = {
        role: "assistant",
        content: text ?? null,
        ...(args !== undefined && { tool_calls: calls(args) }),
      };
      return Response.json({ id: "c", choices: [{ index: 0, message, finish_reason }], usage: USAGE });
    }
    const chunk = (delta: unknown, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    const cut = (text = "") => text.match(/[^]{1,3}/g) ?? [];
    return sseResponse([
      ...cut(text).map((content) => chunk({ content })),
      ...(args === undefined ? [] : [chunk({ tool_calls: calls("") })]),
      ...cut(args).map((piece) => chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] })),
      chunk({}, finish_reason),
      `data: ${JSON.stringify({ id: "c", choices: [], usage: USAGE })}\n\n`,
      "data: [DONE]\n\n",
    ]);
  });
}

async function withGateway(
  said: Said | ((body: Loose) => Said),
  policy: Record<string, unknown> | null,
  use: (gateway: TestGateway) => Promise<void>,
): Promise<void> {
  const provider = speaker(said);
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } }, {
    admin_key: ADMIN,
    dlp_policies: policy === null ? {} : { safe: policy },
    keys: [{ name: "test", secret: SECRET, dlp_policy: policy === null ? null : "safe" }],
    // On a busy machine a provider's pieces may come further apart than a text is held back.
  }, { clock: new StoppedClock() });
  try {
    await use(gateway);
  } finally {
    await gateway.close();
    await provider.close();
  }
}

function request(format: Format, more: Record<string, unknown> = {}, text = "Who?"): Record<string, unknown> {
  const tool = { type: "function", name: "send", parameters: { type: "object", properties: {} } };
  const common = { model: "p/model", ...more };
  if (format === "responses") return { ...common, input: text, tools: [tool] };
  const tools = [{ type: "function", function: { name: "send", parameters: tool.parameters } }];
  return { ...common, max_tokens: 50, tools, messages: [{ role: "user", content: text }] };
}

interface Answered {
  text: string;
  args: string | null;
  reason: string;
  report: Loose;
  headers: Headers;
  record: Loose;
}

async function ask(gateway: TestGateway, format: Format, body: Record<string, unknown>): Promise<Answered> {
  const response = await gateway.post(PATHS[format], body);
  assertEquals(response.status, 200);
  const raw = await response.text();
  const frames: Loose[] = body.stream
    ? [...raw.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json))
    : [JSON.parse(raw)];
  assert(!raw.includes("jane.doe@corp") && !tellsNumber(raw, CARD), raw);
  const id = response.headers.get("x-request-id");
  const record = await (await fetch(`${gateway.url}/v1/generations/${id}`, {
    headers: { authorization: `Bearer ${SECRET}` },
  })).json();
  const join = (pick: (frame: Loose) => Loose) =>
    frames.map(pick).filter((s) => s !== undefined && s !== null);
  const last = (pick: (frame: Loose) => Loose) => join(pick).at(-1);
  const common = { headers: response.headers, record };
  if (format === "chat_completions") {
    const part = (f: Loose) => f.choices?.[0]?.message ?? f.choices?.[0]?.delta;
    const args = join((f) => part(f)?.tool_calls?.[0]?.function?.arguments);
    return {
      ...common,
      text: join((f) => part(f)?.content).join(""),
      args: args.length > 0 ? args.join("") : null,
      reason: last((f) => f.choices?.[0]?.finish_reason),
      report: last((f) => f.extra),
    };
  }
  if (format === "messages") {
    const args = join((f) => f.delta?.partial_json);
    const whole = last((f) => f.content?.find((b: Loose) => b.type === "tool_use")?.input);
    return {
      ...common,
      text: join((f) => f.delta?.text ?? f.content?.find((b: Loose) => b.type === "text")?.text).join(""),
      args: args.length > 0 ? args.join("") : whole ? JSON.stringify(whole) : null,
      reason: last((f) => f.delta?.stop_reason ?? f.stop_reason),
      report: last((f) => f.type === "message_start" ? undefined : f.details),
    };
  }
  const end = last((f) =>
    f.object === "response" ? f : /^response\.(?:completed|incomplete)$/.test(f.type) ? f.response : undefined
  );
  const item = (type: string) => end.output.find((o: Loose) => o.type === type);
  return {
    ...common,
    text: item("message")?.content?.[0]?.text ?? "",
    args: item("function_call")?.arguments ?? null,
    reason: end.incomplete_details?.reason ?? end.status,
    report: end.details,
  };
}

const FILTERED = { chat_completions: "content_filter", messages: "refusal", responses: "content_filter" };

for (const format of FORMATS) {
  for (const stream of [false, true]) {
    const title = `answers of ${format}, stream ${stream}`;

    Deno.test(`${title}: mask replaces in text and arguments, and tells`, () =>
      withGateway(
        { text: `Mail ${MAIL} now.`, args: JSON.stringify({ to: MAIL, card: CARD }) },
        { mode: "alert", answers: "mask" },
        async (gateway) => {
          const plugins = { dlp: { mode: "alert" } };
          const { text, args, report, record, headers } = await ask(
            gateway,
            format,
            request(format, { stream, plugins }),
          );
          assertEquals(text, "Mail <EMAIL_ADDRESS_1> now.");
          assertEquals(JSON.parse(args!), { to: "<EMAIL_ADDRESS_1>", card: "<CREDIT_CARD_1>" });
          assertEquals(record.status, "completed");
          assertEquals(record.dlp, { mode: "alert", findings: 3 });
          assertEquals(report.findings_count, 3);
          const inText = report.dlp.filter((f: Loose) => f.location === "answer.text");
          assertEquals(inText, [{
            category: "pii",
            entity_type: "EMAIL_ADDRESS",
            message_index: null,
            location: "answer.text",
            start: 5,
            end: 26,
            confidence: inText[0].confidence,
          }]);
          const inArguments = report.dlp.filter((f: Loose) => f.location === "answer.calls[0].arguments");
          assertEquals(inArguments.length, 2);
          if (!stream) assertEquals(headers.get("x-svc-dlp-findings"), "3");
        },
      ));

    Deno.test(`${title}: block ends as a filter does, and is billed`, () =>
      withGateway(
        { text: `We say that ${MAIL} is it.` },
        { mode: "block", answers: "block" },
        async (gateway) => {
          const { text, reason, record } = await ask(gateway, format, request(format, { stream }));
          assert("We say that ".startsWith(text.trimEnd()), text);
          assertEquals(reason, FILTERED[format]);
          assertEquals(record.status, "incomplete");
          assertEquals([record.usage.input_tokens, record.usage.output_tokens], [5, 7]);
          assertEquals(record.dlp, { mode: "block", findings: 1 });
        },
      ));

    Deno.test(`${title}: block lets no argument of a call out`, () =>
      withGateway(
        { args: JSON.stringify({ card: CARD }) },
        { mode: "block", answers: "block" },
        async (gateway) => {
          const { args, reason } = await ask(gateway, format, request(format, { stream }));
          assert(args === null || '{"card":"'.startsWith(args) || args === "{}", String(args));
          assertEquals(reason, FILTERED[format]);
        },
      ));

    Deno.test(`${title}: originals of the request come back after the screening`, () =>
      withGateway(
        (body) => ({ text: `You are ${/<\w+>/.exec(JSON.stringify(body))} and not ${MAIL}.` }),
        { mode: "mask", answers: "mask" },
        async (gateway) => {
          const plugins = { dlp: { restore: true } };
          const { text } = await ask(
            gateway,
            format,
            request(format, { stream, plugins }, "I am bob@corp.example"),
          );
          assertEquals(text, "You are bob@corp.example and not <EMAIL_ADDRESS_2>.");
        },
      ));

    Deno.test(`${title}: the gateway's own keys are found whatever is looked for`, () =>
      withGateway(
        { text: `Keys: ${ADMIN} and ${SECRET} ok.` },
        { mode: "alert", entity_types: [], answers: "mask" },
        async (gateway) => {
          const { text } = await ask(gateway, format, request(format, { stream }));
          // A provider's credential that stands in one piece of its answer never gets as far as the screening.
          assertMatch(text, /^Keys: (?:\[withheld\]|<GATEWAY_SECRET_1>) and <GATEWAY_SECRET_[12]> ok\.$/);
        },
      ));
  }
}

Deno.test("a request can ask for its answer to be screened, and only more strictly than its policy", async () => {
  const said = { text: `Mail ${MAIL} now.` };
  const reasonOf = (gateway: TestGateway, answers: string) =>
    ask(
      gateway,
      "chat_completions",
      request("chat_completions", { plugins: { dlp: { mode: "alert", answers } } }),
    );
  await withGateway(said, null, async (gateway) => {
    assertEquals((await reasonOf(gateway, "mask")).text, "Mail <EMAIL_ADDRESS_1> now.");
    assertEquals((await reasonOf(gateway, "block")).reason, "content_filter");
  });
  await withGateway(said, { mode: "alert", answers: "mask" }, async (gateway) => {
    assertEquals((await reasonOf(gateway, "off")).text, "Mail <EMAIL_ADDRESS_1> now.");
    assertEquals((await reasonOf(gateway, "alert")).text, "Mail <EMAIL_ADDRESS_1> now.");
    assertEquals((await reasonOf(gateway, "block")).reason, "content_filter");
  });
});

Deno.test("several answers that are asked for one by one are screened each", async () => {
  let calls = 0;
  await withGateway(
    () => ({ text: calls++ === 0 ? `Mail ${MAIL}.` : "Nothing here." }),
    { mode: "alert", answers: "block" },
    async (gateway) => {
      const body = request("chat_completions", { n: 2 });
      const response = await gateway.post(PATHS.chat_completions, body);
      const { choices } = await response.json();
      const reasons = choices.map((choice: Loose) => choice.finish_reason);
      // One call for both, or one for each: what is clean is answered where it has a call of its own.
      assert(reasons.includes("content_filter"), JSON.stringify(choices));
      assert(!JSON.stringify(choices).includes("jane"));
    },
  );
});
