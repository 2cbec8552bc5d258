/** Screening beside a call's texts: images, search queries, and values in every disguise of the shared cases. */
import { assert, assertEquals } from "@std/assert";
import { loopbackProvider } from "../support/provider.ts";
import { testGateway } from "../support/gateway.ts";
import { tellsNumber } from "../support/digits.ts";
import { shared, sharedTest } from "../support/shared.ts";
import {
  blockOf,
  CARD,
  type Format,
  FORMATS,
  keyed,
  type Loose,
  MAIL,
  PATHS,
  request,
  withGateway,
} from "./screening.ts";

const ADMIN = "the-admin-key-of-the-test";

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

Deno.test("a search query is screened before it leaves: masked, or not sent, and recorded in the audit log", async () => {
  for (
    const [mode, sent, action] of [
      ["alert", `who is ${MAIL}`, "alerted"],
      ["mask", "who is <EMAIL_ADDRESS_1>", "masked"],
      ["block", null, "refused"],
    ]
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
      admin_key: ADMIN,
      search: { engine: "searxng", base_url: engine.url },
    });
    try {
      const response = await gateway.post(
        PATHS.chat_completions,
        request("chat_completions", "hi", { web_search_options: {} }),
      );
      assertEquals((await response.json()).choices[0].message.content, "done");
      assertEquals(queries, sent === null ? [] : [sent]);
      const headers = { authorization: `Bearer ${ADMIN}` };
      const audit = await (await fetch(`${gateway.url}/admin/audit?kind=dlp`, { headers })).json();
      const entries = audit.data.map((entry: Loose) => [entry.of, entry.mode, entry.action, entry.places]);
      assertEquals(entries, [["answer", mode, action, { "answer.search.query": 1 }]]);
      assert(!JSON.stringify(audit).includes(MAIL));
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
