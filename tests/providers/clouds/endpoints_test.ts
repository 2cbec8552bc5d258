/**
 * Every endpoint of every cloud through a whole gateway: the URL, the credential and the body that it requires, for each
 * caller, streamed and whole, with tools and a proof that comes back.
 */
import { assert, assertEquals, assertFalse } from "@std/assert";
import { readCaller } from "../../corpus/caller.ts";
import { checkConverseRequest } from "../../corpus/check_converse_request.ts";
import { checkMessagesRequest } from "../../corpus/check_messages_request.ts";
import { checkRequest as checkGeminiRequest } from "../../formats/gemini/request_checker.ts";
import { SECRET } from "../../support/gateway.ts";
import { CALLERS } from "../../support/scenarios.ts";
import { cloud } from "../credentials/cloud.ts";
import { answerOf, bedrock, models, type Rig, rig, type Seen } from "./impostors.ts";
import { type Any, next, PATHS, PROOF, question } from "./two_turns.ts";

/** Two turns of a conversation by every caller; what the cloud saw of each. */
async function converses(gateway: Rig, model: string, seen: Seen[]): Promise<Seen[]> {
  const from = seen.length;
  for (const caller of CALLERS) {
    for (const stream of [true, false]) {
      const { status, text, headers } = await gateway.ask(PATHS[caller], question(caller, model, stream));
      assertEquals(status, 200, text);
      const reading = await readCaller(caller, new Response(text, { headers }), stream);
      if (reading.kind === "error") throw new Error(text);
      const [choice] = reading.choices;
      assertEquals(choice.text, "Zażółć gęślą 🎈 jaźń.");
      assertEquals(choice.reasoning.join(""), "First I look.");
      assertEquals(choice.calls.map((c) => [c.name, JSON.parse(c.arguments)]), [
        ["weather", { city: "Łódź" }],
        ["clock", {}],
      ]);
      assertEquals([reading.usage?.input, reading.usage?.output], [30, 20]);
      if (stream) continue;
      const again = await gateway.ask(
        PATHS[caller],
        next(caller, question(caller, model, false), JSON.parse(text)),
      );
      assertEquals(again.status, 200, again.text);
      assert(seen.at(-1)!.body.includes(PROOF), `${caller}: the proof is lost`);
    }
  }
  const { data } = await gateway.gateway.accounts.generations({});
  assertEquals(new Set(data.map((r) => [r.status, r.usage?.input_tokens].join())), new Set(["completed,30"]));
  return seen.slice(from);
}

const bodyOf = ({ body }: Seen) => JSON.parse(body) as Any;

Deno.test("Bedrock: each endpoint gets a valid signature and the body that it requires", async () => {
  await using aws = bedrock({ AKID: "s3cret" }, (seen) => answerOf(seen, "full"));
  const arn =
    "arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0";
  await using gateway = await rig({
    providers: { bedrock: { region: "eu-central-1", base_url: aws.origin } },
    models: models([
      { provider: "bedrock", model: "eu.anthropic.claude-sonnet-4-5-20250929-v1:0" },
      { provider: "bedrock", model: arn },
      {
        provider: "bedrock",
        model: "eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
        api: "anthropic-messages",
      },
      { provider: "bedrock", model: arn, api: "anthropic-messages" },
      { provider: "bedrock", model: "anthropic.claude-opus-4-7", api: "anthropic-messages" },
    ]),
  }, { AWS_ACCESS_KEY_ID: "AKID", AWS_SECRET_ACCESS_KEY: "s3cret" });
  const encodedArn = encodeURIComponent(arn);

  for (const model of ["m/0", "m/1"]) {
    for (const seen of await converses(gateway, model, aws.seen)) {
      assert(/^\/model\/[^/]+\/converse(?:-stream)?$/.test(seen.path), seen.path);
      checkConverseRequest(bodyOf(seen), "us.anthropic.claude-sonnet-4-5-20250929-v1:0");
      if (model === "m/1") assert(seen.path.startsWith(`/model/${encodedArn}/`), seen.path);
    }
  }
  for (const model of ["m/2", "m/3"]) {
    for (const seen of await converses(gateway, model, aws.seen)) {
      assert(/^\/model\/[^/]+\/invoke(?:-with-response-stream)?$/.test(seen.path), seen.path);
      const { anthropic_version, ...body } = bodyOf(seen);
      assertEquals(anthropic_version, "bedrock-2023-05-31");
      assertFalse("model" in body || "stream" in body, seen.body);
      assertEquals(seen.headers.get("anthropic-version"), null);
      checkMessagesRequest({ ...body, model: "m" });
    }
  }
  for (const seen of await converses(gateway, "m/4", aws.seen)) {
    assertEquals(seen.path, "/anthropic/v1/messages");
    assertEquals(bodyOf(seen).model, "anthropic.claude-opus-4-7");
    assertEquals(seen.headers.get("anthropic-version"), "2023-06-01");
  }
  assertEquals(gateway.logged.filter((line) => /credential|bedrock/.test(line)), []);
});

Deno.test("Bedrock: OpenAI's address, and a bearer key at every endpoint", async () => {
  await using aws = cloud((seen) =>
    seen.headers.get("authorization") === "Bearer bedrock-api-key-1"
      ? answerOf(seen, "plain_text")!
      : Response.json({ Message: "Authentication failed" }, { status: 403 })
  );
  await using gateway = await rig({
    providers: { bedrock: { region: "eu-central-1", base_url: aws.origin } },
    models: models([
      { provider: "bedrock", model: "openai.gpt-5.5", api: "openai-responses" },
      { provider: "bedrock", model: "openai.gpt-oss-120b-1:0", api: "openai-chat" },
      { provider: "bedrock", model: "amazon.nova-pro-v1:0" },
      { provider: "bedrock", model: "anthropic.claude-3-haiku-20240307-v1:0", api: "anthropic-messages" },
    ]),
  }, { AWS_BEARER_TOKEN_BEDROCK: "bedrock-api-key-1" });
  for (const model of ["m/0", "m/1", "m/2", "m/3"]) {
    for (const stream of [true, false]) {
      const { status, text } = await gateway.ask("/v1/chat/completions", {
        model,
        stream,
        messages: [{ role: "user", content: "Hi" }],
      });
      assertEquals(status, 200, text);
    }
  }
  assertEquals([...new Set(aws.seen.map(({ path }) => path))], [
    "/openai/v1/responses",
    "/openai/v1/chat/completions",
    "/model/amazon.nova-pro-v1%3A0/converse-stream",
    "/model/amazon.nova-pro-v1%3A0/converse",
    "/model/anthropic.claude-3-haiku-20240307-v1%3A0/invoke-with-response-stream",
    "/model/anthropic.claude-3-haiku-20240307-v1%3A0/invoke",
  ]);
});

Deno.test("Bedrock: InvokeModel gets the beta features that it knows, in the body", async () => {
  await using aws = bedrock({ AKID: "s3cret" }, (seen) => answerOf(seen, "plain_text"));
  await using gateway = await rig({
    providers: { bedrock: { region: "eu-central-1", base_url: aws.origin } },
    models: models([{
      provider: "bedrock",
      model: "anthropic.claude-sonnet-4-5-v1:0",
      api: "anthropic-messages",
    }]),
  }, { AWS_ACCESS_KEY_ID: "AKID", AWS_SECRET_ACCESS_KEY: "s3cret" });
  const response = await gateway.gateway.handle(
    new Request("http://gateway/v1/messages", {
      method: "POST",
      headers: {
        "x-api-key": SECRET,
        "anthropic-version": "2023-06-01",
        "anthropic-beta": "interleaved-thinking-2025-05-14, claude-code-20250219",
      },
      body: JSON.stringify({ model: "m/0", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] }),
    }) as never,
  );
  assertEquals(response.status, 200, await response.text());
  assertEquals(response.headers.get("x-svc-dropped"), "anthropic-beta");
  const [seen] = aws.seen;
  assertEquals(bodyOf(seen).anthropic_beta, ["interleaved-thinking-2025-05-14"]);
  assertEquals([seen.headers.get("anthropic-beta"), seen.headers.get("anthropic-version")], [null, null]);
});

Deno.test("Vertex AI: Gemini and Claude at their own addresses, with a token of the metadata server", async () => {
  let given = 0;
  await using metadata = cloud(() => ({
    access_token: `ya29.${++given}`,
    expires_in: 3599,
    token_type: "Bearer",
  }));
  await using vertex = cloud((seen) =>
    seen.headers.get("authorization") === "Bearer ya29.1"
      ? answerOf(seen, "full") ?? new Response("no such path", { status: 404 })
      : Response.json({ error: { code: 401, message: "no token", status: "UNAUTHENTICATED" } }, {
        status: 401,
      })
  );
  await using gateway = await rig({
    providers: { vertex: { project: "p-1", location: "eu", base_url: vertex.origin } },
    models: models([
      { provider: "vertex", model: "gemini-3-pro-preview" },
      { provider: "vertex", model: "claude-sonnet-4-5@20250929" },
    ]),
  }, { GCE_METADATA_HOST: metadata.origin.slice("http://".length) });
  const place = "/v1/projects/p-1/locations/eu/publishers";
  for (const seen of await converses(gateway, "m/0", vertex.seen)) {
    assert(seen.path.startsWith(`${place}/google/models/gemini-3-pro-preview:`), seen.path);
    checkGeminiRequest(bodyOf(seen));
  }
  for (const seen of await converses(gateway, "m/1", vertex.seen)) {
    assert(seen.path.startsWith(`${place}/anthropic/models/claude-sonnet-4-5@20250929:`), seen.path);
    const { anthropic_version, ...body } = bodyOf(seen);
    assertEquals(anthropic_version, "vertex-2023-10-16");
    assertFalse("model" in body, seen.body);
    // The address says it, too.
    assertEquals(body.stream === true, seen.path.endsWith(":streamRawPredict"));
    checkMessagesRequest({ ...body, model: "m" });
  }
  assertEquals(given, 1);
});

Deno.test("Azure: OpenAI's APIs and Claude in Foundry, with a key", async () => {
  await using azure = cloud((seen) => {
    const key = seen.path.includes("/anthropic/") ? "x-api-key" : "api-key";
    return seen.headers.get(key) === "azure-key-1"
      ? answerOf(seen, "full")!
      : Response.json({ error: { code: "401", message: "Access denied" } }, { status: 401 });
  });
  await using gateway = await rig({
    providers: { azure: { resource: "r", base_url: azure.origin, deployments: { "gpt-5": "our-gpt-5" } } },
    models: models([
      { provider: "azure", model: "gpt-5" },
      { provider: "azure", model: "claude-sonnet-4-5" },
    ]),
  }, { AZURE_OPENAI_API_KEY: "azure-key-1" });
  for (const seen of await converses(gateway, "m/0", azure.seen)) {
    assertEquals([seen.path, bodyOf(seen).model], ["/openai/v1/responses", "our-gpt-5"]);
    assertEquals(seen.headers.get("authorization"), null);
  }
  for (const seen of await converses(gateway, "m/1", azure.seen)) {
    assertEquals([seen.path, bodyOf(seen).model], ["/anthropic/v1/messages", "claude-sonnet-4-5"]);
    assertEquals(seen.headers.get("anthropic-version"), "2023-06-01");
  }
});

Deno.test("a service tier goes to no Claude of a cloud whose address names the model", async () => {
  await using aws = bedrock({ AKID: "s3cret" }, (seen) => answerOf(seen, "plain_text"));
  await using gateway = await rig({
    providers: { bedrock: { region: "eu-central-1", base_url: aws.origin } },
    models: models([{ provider: "bedrock", model: "anthropic.claude-3-5-v1:0", api: "anthropic-messages" }]),
  }, { AWS_ACCESS_KEY_ID: "AKID", AWS_SECRET_ACCESS_KEY: "s3cret" });
  for (const path of [PATHS.messages, PATHS.chat_completions]) {
    const body = {
      model: "m/0",
      max_tokens: 9,
      messages: [{ role: "user", content: "Hi" }],
      service_tier: "auto",
    };
    const { status, headers } = await gateway.ask(path, body);
    assertEquals([status, headers.get("x-svc-dropped")], [200, "service_tier"]);
  }
  assertFalse(aws.seen.some(({ body }) => body.includes("service_tier")));
});
