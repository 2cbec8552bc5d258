/** A field named `ü€` was dropped and listed in a header, where no such letter may stand: a fault of the service. */
import { assertEquals } from "@std/assert";
import { leastAnswer } from "../support/answers.ts";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";

Deno.test("a dropped field may have any name", async () => {
  const provider = loopbackProvider(leastAnswer);
  const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } });
  const body =
    '{"model":"p/model","max_tokens":5,"messages":[{"role":"user","content":"hi"}],"ü€":1,"a\\r\\nb":2,"a,b":3}';
  const response = await gateway.post("/v1/messages", body);
  assertEquals(response.status, 200);
  assertEquals(response.headers.get("x-svc-dropped"), "??, a??b, a?b");
  await response.body?.cancel();
  await gateway.close();
  await provider.close();
});
