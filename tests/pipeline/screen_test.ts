import { assert, assertEquals } from "@std/assert";
import { type LoopbackProvider, loopbackProvider, sseResponse } from "../support/provider.ts";
import { SECRET, type TestGateway, testGateway } from "../support/gateway.ts";
import { tellsNumber } from "../support/digits.ts";
import { shared, sharedTest } from "../support/shared.ts";

const CARD = "4111 1111 1111 1111";
const MAIL = "jane@corp.example";
const PATHS = {
  chat_completions: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
} as const;
type Format = keyof typeof PATHS;
const FORMATS = Object.keys(PATHS) as Format[];

// deno-lint-ignore no-explicit-any
type Loose = any;

/** Says, in pieces of three characters, what `say` makes of the request. */
function echo(say: (body: Loose) => string): LoopbackProvider {
  return loopbackProvider(({ body }) => {
    const text = say(body);
    const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };
    if (body.stream !== true) {
      const message = { role: "assistant", content: text };
      return Response.json({ id: "c", choices: [{ index: 0, message, finish_reason: "stop" }], usage });
    }
    const chunk = (fields: unknown) => `data: ${JSON.stringify(fields)}\n\n`;
    const pieces = text.match(/[^]{1,3}/g) ?? [];
    return sseResponse([
      ...pieces.map((content) =>
        chunk({ id: "c", choices: [{ index: 0, delta: { content }, finish_reason: null }] })
      ),
      chunk({ id: "c", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }),
      chunk({ id: "c", choices: [], usage }),
      "data: [DONE]\n\n",
    ]);
  });
}

const lastText = (body: Loose): string => {
  const { content } = body.messages.at(-1);
  // deno-lint-ignore no-explicit-any
  return typeof content === "string" ? content : content.map((part: any) => part.text).join("");
};

async function withGateway(
  config: Record<string, unknown>,
  use: (gateway: TestGateway, provider: LoopbackProvider) => Promise<void>,
  say = lastText,
): Promise<void> {
  const provider = echo(say);
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } }, config);
  try {
    await use(gateway, provider);
  } finally {
    await gateway.close();
    await provider.close();
  }
}

function request(format: Format, text: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  const common = { model: "p/model", ...more };
  if (format === "responses") return { ...common, input: text };
  return { ...common, max_tokens: 50, messages: [{ role: "user", content: text }] };
}

/** The frames of a stream that hold JSON, or the answer itself. */
async function frames(response: Response): Promise<Loose[]> {
  const text = await response.text();
  if (!response.headers.get("content-type")?.includes("event-stream")) return [JSON.parse(text)];
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json));
}

function answerText(format: Format, all: Loose[]): string {
  return all.map((frame) => {
    switch (format) {
      case "chat_completions":
        return frame.choices?.[0]?.message?.content ?? frame.choices?.[0]?.delta?.content ?? "";
      case "messages":
        return frame.delta?.text ?? frame.content?.[0]?.text ?? "";
      case "responses":
        return frame.type === "response.output_text.delta"
          ? frame.delta
          : frame.output?.[0]?.content?.[0]?.text ?? "";
    }
  }).join("");
}

/** Where CONTRACT 4 places the report of an answer. */
function reportOf(format: Format, all: Loose[]): Loose {
  const last = (pick: (frame: Loose) => Loose) => all.map(pick).findLast((found) => found !== undefined);
  switch (format) {
    case "chat_completions":
      return last((frame) => frame.usage ? frame.extra : undefined);
    case "messages":
      return last((frame) =>
        frame.type === "message_delta" || frame.type === "message" ? frame.details : undefined
      );
    case "responses":
      return last((frame) => (frame.response ?? frame).details);
  }
}

function blockOf(format: Format, error: Loose): Loose {
  return format === "chat_completions" ? error.error.extra : error.error.details;
}

for (const format of FORMATS) {
  for (const stream of [false, true]) {
    const title = `screen() of ${format}, stream ${stream}`;
    const finding = {
      category: "financial",
      entity_type: "CREDIT_CARD",
      message_index: 0,
      location: format === "responses" ? "input" : "content",
      start: 11,
      end: 30,
      confidence: 0.95,
    };
    const ask = (mode: string) =>
      request(format, `my card is ${CARD} ok`, {
        stream,
        plugins: { dlp: { mode, entity_types: ["CREDIT_CARD"] } },
      });

    Deno.test(`${title}: block answers 403 with the findings and calls no provider`, () =>
      withGateway({}, async (gateway, provider) => {
        const response = await gateway.post(PATHS[format], ask("block"));
        assertEquals(response.status, 403);
        const error = await response.json();
        assertEquals(error.error.code, "dlp_violation");
        assertEquals(blockOf(format, error), {
          dlp: [finding],
          findings_count: 1,
          block_scope: "in_report_scope",
        });
        assertEquals(response.headers.get("x-should-retry"), "false");
        assertEquals(response.headers.get("x-svc-dlp-mode"), "block");
        assertEquals(response.headers.get("x-svc-dlp-findings"), "1");
        assertEquals(provider.seen.length, 0);
        assert(!tellsNumber(JSON.stringify([error, gateway.logged]), CARD));
      }));

    for (const mode of ["mask", "alert"]) {
      Deno.test(`${title}: ${mode} sends on, reports to who asked, and records`, () =>
        withGateway({}, async (gateway, provider) => {
          const response = await gateway.post(PATHS[format], ask(mode));
          assertEquals(response.status, 200);
          const all = await frames(response);
          const sent = mode === "mask" ? "my card is <CREDIT_CARD_1> ok" : `my card is ${CARD} ok`;
          assertEquals(lastText(provider.seen[0].body), sent);
          assert(!("plugins" in provider.seen[0].body));
          assertEquals(answerText(format, all), sent);
          assertEquals(reportOf(format, all), { dlp: [finding], findings_count: 1 });
          assertEquals(response.headers.get("x-svc-dlp-mode"), mode);
          assertEquals(response.headers.get("x-svc-dlp-findings"), "1");
          const { data } = await gateway.gateway.accounts.generations({});
          assertEquals(data[0].dlp, { mode, findings: 1 });
          assert(!tellsNumber(JSON.stringify([gateway.logged, data]), CARD));
        }));
    }

    Deno.test(`${title}: restore turns placeholders back in the answer`, () =>
      withGateway({}, async (gateway, provider) => {
        const plugins = { dlp: { mode: "mask", restore: true } };
        const text = `mail ${MAIL} or b@corp.example`;
        const all = await frames(
          await gateway.post(PATHS[format], request(format, text, { stream, plugins })),
        );
        assertEquals(lastText(provider.seen[0].body), "mail <EMAIL_ADDRESS_1> or <EMAIL_ADDRESS_2>");
        assertEquals(answerText(format, all), text);
      }));

    Deno.test(`${title}: a key's policy works alone, and lists findings to nobody`, () =>
      withGateway(keyed("mask"), async (gateway, provider) => {
        const response = await gateway.post(PATHS[format], request(format, `to ${MAIL}`, { stream }));
        const all = await frames(response);
        assertEquals(lastText(provider.seen[0].body), "to <EMAIL_ADDRESS_1>");
        assertEquals(reportOf(format, all), undefined);
        assertEquals(response.headers.get("x-svc-dlp-findings"), "1");
      }));
  }
}

function keyed(mode: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    keys: [{ name: "test", secret: SECRET, dlp_policy: "p" }],
    dlp_policies: { p: { mode, entity_types: ["EMAIL_ADDRESS"], ...more } },
  };
}

Deno.test("screen() lets a call without policy and without plugins.dlp pass untouched", () =>
  withGateway({}, async (gateway, provider) => {
    const response = await gateway.post(PATHS.chat_completions, request("chat_completions", `to ${MAIL}`));
    await response.body?.cancel();
    assertEquals(lastText(provider.seen[0].body), `to ${MAIL}`);
    assertEquals(response.headers.get("x-svc-dlp-mode"), null);
  }));

Deno.test("screen() refuses a key whose policy does not exist, with a time to try again", () =>
  withGateway({ keys: [{ name: "test", secret: SECRET, dlp_policy: "gone" }] }, async (gateway, provider) => {
    for (const format of FORMATS) {
      const response = await gateway.post(PATHS[format], request(format, "hi"));
      assertEquals([response.status, (await response.json()).error.code], [503, "dlp_policy_unavailable"]);
      assertEquals(response.headers.get("retry-after"), "5");
    }
    assertEquals(provider.seen.length, 0);
  }));

Deno.test("screen() says that it is switched off to a request that asks for it, and to no other", () =>
  withGateway({ ...keyed("block"), dlp: { enabled: false } }, async (gateway) => {
    for (const format of FORMATS) {
      const asked = request(format, "hi", { plugins: { dlp: { mode: "whatever" } } });
      const response = await gateway.post(PATHS[format], asked);
      const { error } = await response.json();
      assertEquals([response.status, error.code], [503, "dlp_unavailable"]);
      if (format !== "chat_completions") assertEquals(error.type, "invalid_request_error");
      assertEquals([response.headers.get("retry-after"), response.headers.get("x-should-retry")], [
        null,
        "false",
      ]);
      const other = await gateway.post(PATHS[format], request(format, MAIL));
      assertEquals(other.status, 200);
      await other.body?.cancel();
    }
  }));

Deno.test("screen() answers mistakes in plugins.dlp in each format's envelope", () =>
  withGateway({}, async (gateway) => {
    for (const format of FORMATS) {
      const response = await gateway.post(
        PATHS[format],
        request(format, "hi", { plugins: { dlp: { mode: "off" } } }),
      );
      const { error } = await response.json();
      assertEquals([response.status, error.code], [422, "validation_error"]);
      assert(error.message.includes("plugins.dlp.mode"), error.message);
    }
  }));

Deno.test("screen() runs patterns of policy and request, on disguised text too", () =>
  withGateway(
    keyed("mask", { regexes: [{ name: "ORDER", pattern: "AB-\\d{4}" }] }),
    async (gateway, provider) => {
      const plugins = {
        dlp: { mode: "mask", entity_types: [], regexes: [{ name: "room", pattern: "(?i)room \\d+" }] },
      };
      const text = "😀 AB-1234 in Room 12, ＡＢ-５６７８";
      const response = await gateway.post(PATHS.messages, request("messages", text, { plugins }));
      const body = await response.json();
      assertEquals(lastText(provider.seen[0].body), "😀 <ORDER_1> in <ROOM_1>, <ORDER_2>");
      // deno-lint-ignore no-explicit-any
      assertEquals(body.details.dlp.map((f: any) => [f.category, f.entity_type, f.start, f.end]), [
        ["regex", "ORDER", 3, 10],
        ["regex", "room", 14, 21],
        ["regex", "ORDER", 23, 30],
      ]);
      const encoded = await gateway.post(
        PATHS.messages,
        request("messages", `see ${btoa("the order AB-9999 of today")}`),
      );
      await encoded.body?.cancel();
      assertEquals(lastText(provider.seen[1].body), "see <ORDER_1>");
      const bad = { dlp: { regexes: [{ name: "x", pattern: "(?<=a)b" }] } };
      const refused = await gateway.post(PATHS.messages, request("messages", "hi", { plugins: bad }));
      const { error } = await refused.json();
      assertEquals([refused.status, error.code], [422, "validation_error"]);
      assert(error.message.startsWith("Cannot read plugins.dlp.regexes[0].pattern"), error.message);
    },
  ));

Deno.test("screen() scans long requests in slices, with the same result", () =>
  withGateway(keyed("mask"), async (gateway, provider) => {
    const filler = "All work and no play makes a dull text for a scanner. ".repeat(2000);
    const response = await gateway.post(PATHS.responses, request("responses", `${filler}${MAIL} ${filler}`));
    await response.body?.cancel();
    assertEquals(response.headers.get("x-svc-dlp-findings"), "1");
    assertEquals(lastText(provider.seen[0].body), `${filler}<EMAIL_ADDRESS_1> ${filler}`);
  }, () => "ok"));

Deno.test("screen() refuses a text over the limit before it looks into it", () =>
  withGateway({ ...keyed("block"), server: { max_text_chars: 1000 } }, async (gateway, provider) => {
    const text = `${MAIL} ${"x".repeat(1000)}`;
    const response = await gateway.post(PATHS.responses, request("responses", text));
    assertEquals([response.status, (await response.json()).error.code], [413, "text_content_too_large"]);
    assertEquals(provider.seen.length, 0);
  }, () => "ok"));

Deno.test("screen() says of images that they were not scanned, and refuses them where the policy wants that", async () => {
  const image = (more: object = {}) => ({
    model: "p/model",
    messages: [{
      role: "user",
      content: [{ type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } }],
    }],
    ...more,
  });
  await withGateway(keyed("block"), async (gateway) => {
    const response = await gateway.post(PATHS.chat_completions, image());
    await response.body?.cancel();
    assertEquals([response.status, response.headers.get("x-svc-dlp-unscanned")], [200, "1"]);
  }, () => "ok");
  await withGateway({ ...keyed("block"), dlp: { on_unscannable: "block" } }, async (gateway) => {
    const response = await gateway.post(PATHS.chat_completions, image());
    const { error } = await response.json();
    assertEquals([response.status, error.code, error.extra.findings_count], [403, "dlp_violation", 0]);
    assertEquals(error.extra.unscanned, [{ message_index: 0, location: "content[0].image_url.url" }]);
  });
});

Deno.test("a search query is screened before it leaves: masked, or not sent", async () => {
  for (
    const [mode, sent] of [["alert", `who is ${MAIL}`], ["mask", "who is <EMAIL_ADDRESS_1>"], ["block", null]]
  ) {
    const queries: (string | null)[] = [];
    const engine = loopbackProvider(({ path }) => {
      queries.push(new URL(path, "http://x").searchParams.get("q"));
      return Response.json({ results: [] });
    });
    const provider = loopbackProvider((_, nth) => {
      const call = {
        id: "c1",
        type: "function",
        function: { name: "web_search", arguments: JSON.stringify({ query: `who is ${MAIL}` }) },
      };
      return Response.json({
        id: "c",
        choices: [{
          index: 0,
          message: nth === 0
            ? { role: "assistant", content: null, tool_calls: [call] }
            : { role: "assistant", content: "done" },
          finish_reason: nth === 0 ? "tool_calls" : "stop",
        }],
        usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
      });
    });
    const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } }, {
      ...keyed(mode!),
      search: { engine: "searxng", base_url: engine.url },
    });
    try {
      const response = await gateway.post(
        PATHS.chat_completions,
        request("chat_completions", "hi", { web_search_options: {} }),
      );
      assertEquals((await response.json()).choices[0].message.content, "done");
      assertEquals(queries, sent === null ? [] : [sent]);
    } finally {
      await gateway.close();
      await provider.close();
      await engine.close();
    }
  }
});

const FORMAT_OF: Record<string, Format> = {
  chat: "chat_completions",
  messages: "messages",
  responses: "responses",
};
const API_OF = {
  chat_completions: "openai-chat",
  messages: "anthropic-messages",
  responses: "openai-responses",
} as const;

sharedTest(
  "dlp/locations.json",
  "screen() finds and masks a value in every place of the three formats",
  async (t) => {
    const text = await Deno.readTextFile(shared("dlp/locations.json"));
    for (const format of FORMATS) {
      // A provider of the caller's own format gets every field, also those that nobody knows. What it answers is no matter.
      const provider = loopbackProvider(() => Response.json({ error: { message: "seen" } }, { status: 400 }));
      const gateway = await testGateway({ p: { api: API_OF[format], url: provider.url } });
      try {
        for (const row of JSON.parse(text).filter((row: Loose) => FORMAT_OF[row.format] === format)) {
          if (row.expect_found === false || row.id === "cc-split-msgs") continue;
          await t.step(`${row.id}: ${row.note}`, async () => {
            const entity_types = ["CREDIT_CARD", "EMAIL_ADDRESS"];
            const post = (mode: string) =>
              gateway.post(PATHS[format], {
                ...row.body,
                model: "p/model",
                plugins: { dlp: { mode, entity_types } },
              });
            const response = await post("block");
            const error = await response.json();
            assertEquals([response.status, error.error.code], [403, "dlp_violation"]);
            const { dlp } = blockOf(format, error);
            assertEquals(dlp.length, 1);
            assert(`messages[0].${dlp[0].location}`.includes(row.expect_location), dlp[0].location);
            assertEquals(provider.seen.length, 0);
            const masked = await post("mask");
            await masked.body?.cancel();
            // Signed reasoning and numbers cannot be masked, so they are refused.
            if (masked.status !== 403) {
              assertEquals(provider.seen.length, 1);
              const sent = JSON.stringify(provider.seen.splice(0)[0].body);
              const read = decodedToo(sent);
              assert(!tellsNumber(read, CARD) && !read.includes("jane.doe@"), sent);
            }
          });
        }
      } finally {
        await gateway.close();
        await provider.close();
      }
    }
  },
);

/** A text and what its base64 runs hold. */
function decodedToo(text: string): string {
  return text + [...text.matchAll(/[A-Za-z0-9+/]{16,}={0,2}/g)].map(([run]) => {
    try {
      return atob(run);
    } catch {
      return "";
    }
  }).join(" ");
}

Deno.test("screen()'s headers stand on refusals too, before and at the provider", async () => {
  const provider = loopbackProvider(() => new Response("{}", { status: 500 }));
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } });
  for (const [model, status] of [["p/none", 404], ["p/model", 502]] as const) {
    for (const stream of [false, true]) {
      const response = await gateway.post(PATHS.chat_completions, {
        model,
        stream,
        messages: [{ role: "user", content: `write to ${MAIL}` }],
        plugins: { dlp: { mode: "alert" } },
      });
      assertEquals(
        [response.status, response.headers.get("x-svc-dlp-mode"), response.headers.get("x-svc-dlp-findings")],
        [status, "alert", "1"],
      );
      await response.body?.cancel();
    }
  }
  await gateway.close();
  await provider.close();
});
