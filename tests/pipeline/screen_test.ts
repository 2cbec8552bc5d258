/** Screening of requests and answers in each format: modes, policies, mistakes, limits, headers. */
import { assert, assertEquals } from "@std/assert";
import { loopbackProvider } from "../support/provider.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { tellsNumber } from "../support/digits.ts";
import {
  blockOf,
  CARD,
  type Format,
  FORMATS,
  keyed,
  lastText,
  type Loose,
  MAIL,
  PATHS,
  request,
  withGateway,
} from "./screening.ts";

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
