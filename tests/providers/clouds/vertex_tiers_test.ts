/** Vertex AI takes the service tier of Gemini in a header, and refuses the field of the Gemini API. */
import { assertEquals } from "@std/assert";
import type { Loose } from "../../../src/exchange/json.ts";
import { CALLERS, decode } from "../../formats/conversions.ts";
import { gemini } from "../../../src/formats/gemini/mod.ts";
import { VERTEX } from "../../../src/providers/clouds/vertex.ts";

const HEADER = "x-vertex-ai-llm-shared-request-type";
const SAID: Record<string, Loose> = {
  chat_completions: { messages: [{ role: "user", content: "Hi" }] },
  responses: { input: "Hi" },
  messages: { max_tokens: 9, messages: [{ role: "user", content: "Hi" }] },
};

function sent(caller: typeof CALLERS[number], tier: string, location: string | null) {
  const prompt = decode(caller, { model: "google/gemini", service_tier: tier, ...SAID[caller] });
  const context = {
    model: "gemini-3-flash-preview",
    stream: false,
    maxOutput: null,
    features: null,
    efforts: null,
  };
  const api = VERTEX.open({ api: null, project: "p", location, deployments: {} } as never)
    .api(undefined, context.model);
  const { body, headers, dropped } = api.finish!(
    gemini.encodeRequest(prompt, context),
    context.model,
    prompt,
  );
  return { field: body.serviceTier, header: headers?.[HEADER], dropped };
}

Deno.test("vertex: the service tier is a header where the location has it, and else left out", () => {
  for (const caller of CALLERS) {
    for (const location of [null, "global"]) {
      for (const tier of ["flex", "priority"]) {
        assertEquals(sent(caller, tier, location), { field: undefined, header: tier, dropped: [] });
      }
    }
    assertEquals(sent(caller, "priority", "eu").header, "priority");
    for (const [tier, location] of [["flex", "eu"], ["flex", "us-central1"], ["priority", "us-central1"]]) {
      const { field, header, dropped } = sent(caller, tier, location);
      assertEquals([field, header, dropped], [undefined, undefined, ["service_tier"]]);
    }
    const usual = sent(caller, caller === "messages" ? "standard_only" : "default", "global");
    assertEquals(usual, { field: undefined, header: undefined, dropped: [] });
  }
});
