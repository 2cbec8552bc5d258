/** Texts that a client cut in the middle of a character reach providers as JSON that every parser takes. */
import { assertEquals } from "@std/assert";
import { wellFormed } from "../../src/exchange/json.ts";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";

Deno.test("wellFormed() replaces halves of pairs, and nothing that only looks like one", () => {
  const cases: [unknown, unknown][] = [
    ["a\ud83d", "a\ufffd"],
    ["\ude00b", "\ufffdb"],
    ["\ud83d\ude00", "\ud83d\ude00"],
    ["\\ud83d", "\\ud83d"],
    ["\\\ud83d", "\\\ufffd"],
    ['"\ud83d"\n', '"\ufffd"\n'],
    [{ "\ud83d": "\ud7ff\ue000" }, { "\ufffd": "\ud7ff\ue000" }],
  ];
  for (const [given, expected] of cases) {
    assertEquals(JSON.parse(wellFormed(JSON.stringify(given))), expected);
  }
});

Deno.test("half a character of a request does not reach a provider", async () => {
  for (
    const [api, path] of [["openai-chat", "/v1/chat/completions"], [
      "anthropic-messages",
      "/v1/messages",
    ]] as const
  ) {
    const provider = loopbackProvider(() => new Response("{}", { status: 400 }));
    const gateway = await testGateway({ p: { api, url: provider.url } });
    try {
      const content = "A smile \\\\ud83d: \ud83d";
      const body = { model: "p/model", max_tokens: 9, messages: [{ role: "user", content }] };
      await (await gateway.post(path, body)).body?.cancel();
      assertEquals(
        provider.seen[0].text.includes("A smile \\\\\\\\ud83d: \\ufffd"),
        true,
        provider.seen[0].text,
      );
    } finally {
      await gateway.close();
      await provider.close();
    }
  }
});
