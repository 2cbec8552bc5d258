/** The document's schemas of a compaction, on requests that are taken and on answers of every provider API. */
import { assert, assertEquals } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import { APIS, type Stage, stage } from "../clients/support.ts";
import { SECRET } from "../support/gateway.ts";
import type { Line } from "../support/script/mod.ts";
import { document, refused } from "./checking.ts";

const PATH = "/v1/responses/compact";
const { CompactRequest, CompactResponse } = document.components.schemas;
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(document, "openapi");
const takes = ajv.getSchema("openapi#/components/schemas/CompactRequest")!;

/** With every field that the document names. */
const ASKED = {
  model: "p/model",
  input: [{ role: "user", content: "Book a flight." }, { role: "assistant", content: "Booked." }],
  instructions: "Be brief.",
  tools: [{ type: "function", name: "book", parameters: { type: "object" } }],
  reasoning: { effort: "low" },
  max_output_tokens: 500,
  prompt_cache_key: "c",
  service_tier: "auto",
  metadata: { task: "1" },
  user: "u",
  safety_identifier: "s",
  plugins: { dlp: { mode: "alert", entity_types: ["email"] } },
};

async function post(at: Stage, body: unknown): Promise<Response> {
  return await fetch(at.url + PATH, {
    method: "POST",
    headers: { authorization: `Bearer ${SECRET}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

const NONE: Line = () => Response.json({ detail: "Not Found" }, { status: 404 });
const NATIVE: Line = () =>
  Response.json({
    id: "resp_001",
    object: "response.compaction",
    created_at: 1764967971,
    output: [{ id: "cmp_001", type: "compaction", encrypted_content: "gAAAAABpM0Yj" }],
    usage: {
      input_tokens: 139,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 438,
      output_tokens_details: { reasoning_tokens: 64 },
      total_tokens: 577,
    },
  });

for (const api of APIS) {
  const summary: Line = { text: "Booked; mail ada@example.org." };
  for (
    const [how, lines] of api === "openai-responses"
      ? [["its own", [NATIVE]], ["a summary", [NONE, summary]]] as const
      : [["a summary", [summary]]] as const
  ) {
    Deno.test(`the document's compaction is what is taken and given, ${how} from ${api}`, async () => {
      assertEquals(Object.keys(ASKED).sort(), Object.keys(CompactRequest.properties).sort());
      assertEquals(takes(ASKED), true);
      await using at = await stage(api, [...lines]);
      const response = await post(at, ASKED);
      const answer = await response.json();
      assertEquals([response.status, refused("POST", PATH, 200, answer)], [200, []]);
      assertEquals(Object.keys(answer).filter((name) => !(name in CompactResponse.properties)), []);
      for (const name of CompactResponse.required) {
        const { [name]: _, ...rest } = answer;
        assert(refused("POST", PATH, 200, rest).length > 0, name);
      }
    });
  }
}

Deno.test("what the document's compaction needs, or has as another kind, is refused", async () => {
  await using at = await stage("openai-chat", []);
  const wrong = [
    { ...ASKED, model: undefined },
    { ...ASKED, input: undefined },
    { ...ASKED, model: 5 },
    { ...ASKED, instructions: 5 },
    { ...ASKED, tools: "book" },
    { ...ASKED, max_output_tokens: "many" },
    { ...ASKED, metadata: "x" },
  ];
  for (const body of wrong) {
    const sent = JSON.parse(JSON.stringify(body));
    const response = await post(at, sent);
    await response.body?.cancel();
    assertEquals([takes(sent), response.status], [false, 422], JSON.stringify(sent));
  }
  // What asks for state is named, as in a request of the format.
  const stateful = await post(at, { ...ASKED, previous_response_id: "resp_1" });
  assertEquals([stateful.status, (await stateful.json()).error.param], [400, "previous_response_id"]);
});
