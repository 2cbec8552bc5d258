/** 400,000 opening brackets took the tokenizer two minutes, in which nothing else was answered. */
import { assert, assertEquals } from "@std/assert";
import { testGateway } from "../support/gateway.ts";

Deno.test("runs of signs are counted while others are served", async () => {
  const gateway = await testGateway({ demo: { api: "demo", url: "" } });
  for (
    const run of ["[".repeat(400_000), "/\n".repeat(200_000), "a".repeat(400_000), "<|endoftext|>".repeat(9)]
  ) {
    // A short count may be done before a new connection is answered; one that holds up others always is.
    let first = "";
    for (let tries = 0; tries < 5 && first !== "ok\n"; tries++) {
      const counting = gateway.post("/v1/messages/count_tokens", {
        model: "demo/model",
        messages: [{ role: "user", content: run }],
      });
      first = await Promise.race([
        counting.then(() => "the count"),
        fetch(`${gateway.url}/healthz`).then((r) => r.text()),
      ]);
      const response = await counting;
      assertEquals(response.status, 200);
      assert((await response.json()).input_tokens > run.length / 50);
    }
    assert(first === "ok\n" || run.length < 1000, first);
  }
  await gateway.close();
});
