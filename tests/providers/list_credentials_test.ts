/** Lists of models whose request is refused because of the credential: it is asked for again with a fresh one, as a call is. */
import { assertEquals, assertRejects } from "@std/assert";
import { apiNamed } from "../../src/providers/apis/mod.ts";
import { BEDROCK } from "../../src/providers/clouds/bedrock.ts";
import { BEDROCK_LIST } from "../../src/providers/clouds/lists.ts";
import { type AuthSettings, Credentials } from "../../src/providers/credentials/open_credential.ts";
import type { Surroundings } from "../../src/providers/credentials/surroundings.ts";
import { listModels } from "../../src/providers/list_models.ts";
import type { Provider } from "../../src/providers/provider.ts";
import { type Cloud, cloud, machine, NOW } from "./credentials/cloud.ts";

async function listed(upstream: Cloud, auth: AuthSettings, at: Surroundings, more: Partial<Provider> = {}) {
  const [credential] = await new Credentials(at).open([{ name: "p", auth }]);
  const models = await listModels({
    name: "p",
    api: apiNamed("openai-chat"),
    baseUrl: `${upstream.origin}/v1`,
    credential,
    headers: {},
    maxVersion: null,
    firstByteMs: 60_000,
    idleMs: 60_000,
    retries: 0,
    breaker: { failures: 1, windowMs: 1, openMs: 1 },
    maxConcurrent: null,
    ...more,
  }, { preset: null, signal: new AbortController().signal });
  return models?.map(({ id }) => id);
}

Deno.test("a list is asked for again with a fresh token where the first one is refused, and only once", async () => {
  let given = 0;
  await using metadata = cloud(() => ({ access_token: `t${++given}`, expires_in: 3599 }));
  let good = "Bearer t2";
  await using upstream = cloud(({ headers }) =>
    headers.get("authorization") === good
      ? { data: [{ id: "m" }] }
      : Response.json({ error: "expired" }, { status: 401 })
  );
  const at = machine({ GCE_METADATA_HOST: metadata.origin.slice("http://".length) });
  const google: AuthSettings = { type: "google", credentialsFile: null };
  assertEquals(await listed(upstream, google, at), ["m"]);
  assertEquals([given, upstream.seen.length], [2, 2]);
  good = "none";
  await assertRejects(() => listed(upstream, google, at), Error, "status 401");
  assertEquals(upstream.seen.length, 4);
});

Deno.test("Bedrock's lists come although the machine's clock is off and nobody has called Bedrock before", async () => {
  const SKEW = 7 * 60_000;
  await using upstream = cloud(({ headers }, path) => {
    const date = new Date(NOW + SKEW).toUTCString();
    const signed = headers.get("x-amz-date")!.replace(/(....)(..)(..T..)(..)(..Z)/, "$1-$2-$3:$4:$5");
    if (Math.abs(Date.parse(signed) - NOW - SKEW) > 300_000) {
      return Response.json({ message: `Signature expired: ${signed} is now earlier than ${date}` }, {
        status: 403,
        headers: { date, "x-amzn-errortype": "InvalidSignatureException" },
      });
    }
    return path === "/foundation-models"
      ? { modelSummaries: [{ modelId: "amazon.nova-lite-v1:0", inferenceTypesSupported: ["ON_DEMAND"] }] }
      : { inferenceProfileSummaries: [{ inferenceProfileId: "eu.amazon.nova-lite-v1:0", status: "ACTIVE" }] };
  });
  const at = machine({ AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "secret" });
  const aws: AuthSettings = {
    type: "aws",
    region: "eu-central-1",
    service: "bedrock",
    profile: null,
    roleArn: null,
    externalId: null,
  };
  const open = BEDROCK.open({
    api: null,
    region: "eu-central-1",
    project: null,
    location: null,
    resource: null,
    deployments: {},
  });
  const models = await listed(upstream, aws, at, {
    cloud: open,
    api: { ...open.api(undefined, ""), modelsList: BEDROCK_LIST },
    baseUrl: upstream.origin,
  });
  assertEquals(models, ["amazon.nova-lite-v1:0", "eu.amazon.nova-lite-v1:0"]);
  assertEquals(upstream.seen.length, 3);
});
