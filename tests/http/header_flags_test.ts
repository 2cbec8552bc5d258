/** Headers of a request that are `true` or `false`. */
import { assertEquals } from "@std/assert";
import { testGateway } from "../support/gateway.ts";
import { scriptedProvider } from "../support/script/mod.ts";

const MESSAGES = [{ role: "user", content: "hi" }];
const BODIES = {
  "/v1/chat/completions": { model: "p/model", messages: MESSAGES },
  "/v1/messages": { model: "p/model", max_tokens: 10, messages: MESSAGES },
  "/v1/responses": { model: "p/model", input: "hi" },
};
const NAMES = ["x-svc-resume", "x-svc-join", "x-svc-hold", "x-svc-repair"];

Deno.test("a header that is neither true nor false is refused in every format, and its value is named", async () => {
  const provider = scriptedProvider("openai-chat", [{ text: "Hello." }]);
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } });
  for (const [path, body] of Object.entries(BODIES)) {
    for (const name of NAMES) {
      const response = await gateway.post(path, body, { headers: { [name]: "yes" } });
      const { error } = await response.json();
      assertEquals([response.status, error.code], [422, "validation_error"], `${path} ${name}`);
      assertEquals(error.message, `Cannot read the header ${name}: expected true or false, got "yes".`);
    }
  }
  assertEquals(provider.seen.length, 0);
  const headers = Object.fromEntries(NAMES.map((name) => [name, "false"]));
  const response = await gateway.post("/v1/chat/completions", BODIES["/v1/chat/completions"], { headers });
  assertEquals(response.status, 200);
  await response.body?.cancel();
  await gateway.close();
  await provider.close();
});
