/** Tokens and keys through a whole gateway: shared, renewed, lost, refused, and made by a clock that is off. */
import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { eventually, StoppedClock } from "../../support/time.ts";
import { cloud, isoAfter, NOW } from "../credentials/cloud.ts";
import { answerOf, bedrock, models, type Rig, rig } from "./impostors.ts";

const HI = { messages: [{ role: "user", content: "Hi" }] };

async function ask(gateway: Rig, model = "m/0") {
  const { status, text, headers } = await gateway.ask("/v1/chat/completions", { model, ...HI });
  return { status, text, code: status === 200 ? null : JSON.parse(text).error.code as string, headers };
}

const VERTEX = { provider: "vertex", model: "gemini-3-pro" };

/** Vertex AI that takes the tokens that its metadata server gave last, and the machine that has it. */
function google() {
  const state = {
    given: 0,
    good: (n: number) => n === state.given,
    out: false,
    life: 3600,
    wait: Promise.resolve(),
  };
  const metadata = cloud(async () => {
    await state.wait;
    if (state.out) return new Response("<html>out of order: ya29.secret", { status: 503 });
    return { access_token: `ya29.secret-token-number-${++state.given}`, expires_in: state.life };
  });
  const vertex = cloud((seen) => {
    const n = Number(
      /^Bearer ya29\.secret-token-number-(\d+)$/.exec(seen.headers.get("authorization") ?? "")?.[1],
    );
    if (state.good(n)) return answerOf(seen, "plain_text")!;
    const message = `Request had invalid authentication credentials: ${seen.headers.get("authorization")}`;
    return Response.json({ error: { code: 401, message, status: "UNAUTHENTICATED" } }, { status: 401 });
  });
  return { state, metadata, vertex };
}

async function withGoogle(
  body: (at: ReturnType<typeof google> & { gateway: Rig; clock: { time: number } }) => Promise<void>,
  options: { clock?: StoppedClock } = {},
): Promise<void> {
  const at = google();
  const clock = { time: NOW };
  await using _metadata = at.metadata;
  await using vertex = at.vertex;
  await using gateway = await rig(
    {
      providers: { vertex: { project: "p", base_url: vertex.origin, retries: 0 } },
      models: models([VERTEX]),
    },
    { GCE_METADATA_HOST: at.metadata.origin.slice("http://".length) },
    { now: () => clock.time, ...options },
  );
  await body({ ...at, gateway, clock });
}

Deno.test("all that wait for a token share one request for it", () =>
  withGoogle(async ({ state, metadata, gateway }) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    state.wait = promise;
    const calls = Promise.all(Array.from({ length: 20 }, () => ask(gateway)));
    await eventually(() => metadata.seen.length > 0);
    resolve();
    assertEquals(new Set((await calls).map(({ status }) => status)), new Set([200]));
    assertEquals(metadata.seen.length, 1);
  }));

Deno.test("a token is renewed before it ends, and an outage of its service harms nobody until then", () =>
  withGoogle(async ({ state, metadata, gateway, clock }) => {
    state.good = () => true;
    state.life = 40;
    assertEquals((await ask(gateway)).status, 200);
    state.out = true;
    clock.time += 31_000;
    // Renewal is due and fails in the background, three times in a row.
    for (let i = 0; i < 3; i++) assertEquals((await ask(gateway)).status, 200);
    await eventually(() => metadata.seen.length === 4);
    state.out = false;
    await eventually(async () => {
      clock.time += 1000;
      assertEquals((await ask(gateway)).status, 200);
      return state.given === 2;
    });
    const asked = metadata.seen.length;
    clock.time += 10_000;
    assertEquals((await ask(gateway)).status, 200);
    assertEquals(metadata.seen.length, asked);
  }));

Deno.test("however short tokens live, not each call asks for one", () =>
  withGoogle(async ({ state, gateway }) => {
    state.life = 0;
    state.good = () => true;
    for (let i = 0; i < 10; i++) assertEquals((await ask(gateway)).status, 200);
    assertEquals(state.given, 1);
  }, { clock: new StoppedClock() }));

Deno.test("without a token calls fail with words for the operator and no secret, until the service is back", () =>
  withGoogle(async ({ state, gateway, metadata, vertex }) => {
    state.out = true;
    const { status, text, code } = await ask(gateway);
    assertEquals([status, code], [502, "provider_unavailable"]);
    const origins = [metadata.origin, vertex.origin].map((origin) => origin.slice("http://".length));
    for (const secret of ["ya29", "out of order", ...origins]) assertFalse(text.includes(secret), text);
    const said = gateway.logged.filter((line) => line.includes("token"));
    assert(said.length > 0);
    assertMatch(said[0], /no token for the Google credential of provider vertex: .* answered 503/);
    assertFalse(gateway.logged.some((line) => line.includes("ya29")));
    state.out = false;
    assertEquals((await ask(gateway)).status, 200);
    assertEquals(vertex.seen.length, 1);
  }));

Deno.test("a token that is refused is replaced and the call tried once more, with no retries at all", () =>
  withGoogle(async ({ state, gateway, vertex }) => {
    state.good = (n) => n >= 2;
    assertEquals((await ask(gateway)).status, 200);
    assertEquals([state.given, vertex.seen.length], [2, 2]);
    assertEquals((await ask(gateway)).status, 200);
    assertEquals(vertex.seen.length, 3);
  }));

Deno.test("a credential that stays refused is nobody's secret, and the next route answers", async () => {
  const at = google();
  at.state.good = () => false;
  await using _metadata = at.metadata;
  await using vertex = at.vertex;
  await using other = cloud((seen) => answerOf(seen, "plain_text")!);
  const env = { GCE_METADATA_HOST: at.metadata.origin.slice("http://".length) };
  const providers = {
    vertex: { project: "p", base_url: vertex.origin, retries: 0 },
    other: { api: "openai-chat", base_url: `${other.origin}/v1` },
  };
  const both = models([VERTEX, VERTEX]) as { routes: object[] }[];
  both[1].routes.push({ provider: "other", model: "m" });
  await using gateway = await rig({ providers, models: both }, env);
  const { status, text, code } = await ask(gateway);
  assertEquals([status, code], [502, "provider_unavailable"]);
  assertFalse(/ya29|127\.0\.0\.1|invalid authentication/.test(text), text);
  assertEquals(vertex.seen.length, 2);
  assertEquals((await ask(gateway, "m/1")).status, 200);
  assert(
    gateway.logged.some((line) => line.includes("vertex (gemini-3-pro)") && line.includes("credential")),
  );
  assertFalse(gateway.logged.some((line) => line.includes("ya29")));
});

const BEDROCK = { provider: "bedrock", model: "amazon.nova-lite-v1:0" };
const KEYS = { AWS_ACCESS_KEY_ID: "AKID", AWS_SECRET_ACCESS_KEY: "s3cret" };

for (const minutes of [-9.5, 9.5]) {
  Deno.test(`a clock that is ${minutes} minutes off is corrected by the Date of Bedrock's refusal`, async () => {
    const service = () => NOW + minutes * 60_000;
    await using aws = bedrock({ AKID: "s3cret" }, (seen) => answerOf(seen, "plain_text"), service);
    await using gateway = await rig({
      providers: { bedrock: { region: "eu-central-1", base_url: aws.origin, retries: 0 } },
      models: models([BEDROCK, { ...BEDROCK, model: "claude-3-5", api: "anthropic-messages" }]),
    }, KEYS);
    assertEquals((await ask(gateway)).status, 200);
    assertEquals(aws.seen.length, 2);
    for (const model of ["m/0", "m/1"]) assertEquals((await ask(gateway, model)).status, 200);
    assertEquals(aws.seen.length, 4);
  });
}

Deno.test("keys of an instance's role that were replaced are asked for anew, and wrong ones are the gateway's fault", async () => {
  let role = "ASIA1";
  await using imds = cloud(({ method }, path) => {
    if (method === "PUT") return "session";
    if (path.endsWith("/security-credentials/")) return "role";
    const keys = { AccessKeyId: role, SecretAccessKey: `secret of ${role}`, Token: "t" };
    return { ...keys, Expiration: isoAfter(3_600_000) };
  });
  const secrets: Record<string, string> = { ASIA1: "secret of ASIA1" };
  await using aws = bedrock(secrets, (seen) => answerOf(seen, "plain_text"));
  await using gateway = await rig({
    providers: { bedrock: { region: "eu-central-1", base_url: aws.origin, retries: 0 } },
    models: models([BEDROCK]),
  }, { AWS_EC2_METADATA_SERVICE_ENDPOINT: imds.origin });
  assertEquals((await ask(gateway)).status, 200);
  delete secrets.ASIA1;
  secrets.ASIA2 = "secret of ASIA2";
  role = "ASIA2";
  assertEquals((await ask(gateway)).status, 200);
  assertEquals(aws.seen.length, 3);
  delete secrets.ASIA2;
  const { status, text, code } = await ask(gateway);
  assertEquals([status, code], [502, "provider_unavailable"]);
  assertFalse(/ASIA|secret|security token|127\.0\.0\.1/.test(text), text);
  assert(gateway.logged.some((line) => line.includes("credential")));
  assertFalse(gateway.logged.some((line) => line.includes("secret of")));
  secrets.ASIA2 = "secret of ASIA2";
  assertEquals((await ask(gateway)).status, 200);
});

Deno.test("the time of the source of keys does not overrule the provider's", async () => {
  const service = () => NOW + 9 * 60_000;
  // This one's time is right, and it is asked between the two tries.
  await using container = cloud(() => ({ AccessKeyId: "AKID", SecretAccessKey: "s3cret", Token: "t" }));
  await using aws = bedrock({ AKID: "s3cret" }, (seen) => answerOf(seen, "plain_text"), service);
  await using gateway = await rig({
    providers: { bedrock: { region: "eu-central-1", base_url: aws.origin, retries: 0 } },
    models: models([BEDROCK]),
  }, { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${container.origin}/keys` });
  for (let i = 0; i < 3; i++) assertEquals((await ask(gateway)).status, 200);
  assertEquals(aws.seen.length, 4);
});

Deno.test("a 403 about the token itself is tried again, one about rights is not", async () => {
  let given = 0;
  await using entra = cloud(() => ({ access_token: `entra-token-${++given}`, expires_in: 3600 }));
  let refusal: Response | undefined;
  await using azure = cloud((seen) => refusal?.clone() ?? answerOf(seen, "plain_text")!);
  await using gateway = await rig({
    providers: { azure: { resource: "r", base_url: azure.origin, retries: 0 } },
    models: models([{ provider: "azure", model: "gpt-5" }]),
  }, { IDENTITY_ENDPOINT: `${entra.origin}/token`, IDENTITY_HEADER: "h" });
  assertEquals((await ask(gateway)).status, 200);
  const error = (message: string) => ({ error: { code: "Forbidden", message } });
  refusal = Response.json(error("The principal lacks the required data action."), { status: 403 });
  assertEquals((await ask(gateway)).code, "provider_unavailable");
  assertEquals([given, azure.seen.length], [1, 2]);
  const headers = { "www-authenticate": 'Bearer error="invalid_token"' };
  refusal = Response.json(error("no"), { status: 403, headers });
  assertEquals((await ask(gateway)).code, "provider_unavailable");
  assertEquals([given, azure.seen.length], [2, 4]);
  assertStringIncludes(gateway.logged.join("\n"), "credential");
});
