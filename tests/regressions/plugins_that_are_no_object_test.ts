/** `plugins` asks for a check of the request: one that cannot be read must not pass unchecked. */
import { assertEquals } from "@std/assert";
import { testGateway } from "../support/gateway.ts";

const BODIES: Record<string, Record<string, unknown>> = {
  "/v1/chat/completions": { messages: [{ role: "user", content: "hi" }] },
  "/v1/messages": { max_tokens: 9, messages: [{ role: "user", content: "hi" }] },
  "/v1/messages/count_tokens": { messages: [{ role: "user", content: "hi" }] },
  "/v1/responses": { input: "hi" },
  "/v1/responses/input_tokens": { input: "hi" },
};

Deno.test("plugins that are no object are refused on every surface", async () => {
  const gateway = await testGateway({ demo: { api: "demo", url: "" } });
  try {
    for (const [path, body] of Object.entries(BODIES)) {
      for (const plugins of [7, "dlp", true, false, [], [{ dlp: { mode: "block" } }]]) {
        const response = await gateway.post(path, { model: "demo/model", ...body, plugins });
        const { error } = await response.json();
        const label = `${path} ${JSON.stringify(plugins)}`;
        assertEquals([response.status, error.code], [422, "validation_error"], label);
        assertEquals(/^Cannot read plugins: expected an object/.test(error.message), true, error.message);
      }
      const absent = await gateway.post(path, { model: "demo/model", ...body, plugins: null });
      assertEquals(absent.status, 200, await absent.text());
    }
  } finally {
    await gateway.close();
  }
});
