/** The lists of models that clouds have, asked with their own credentials at the place that the configuration names. */
import { assertEquals, assertThrows } from "@std/assert";
import { foundProviders } from "../../../src/config/demo.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { Credentials } from "../../../src/providers/credentials/open_credential.ts";
import { listModels } from "../../../src/providers/list_models.ts";
import { cloud, machine } from "../credentials/cloud.ts";
import { signatureFault } from "../credentials/sigv4.ts";

/** A configuration that names no models at all. */
async function listed(providers: object, env: Record<string, string>): Promise<string[] | undefined> {
  const at = machine(env);
  const { config } = loadConfig(JSON.stringify({ providers }), { env: at.env });
  const [{ auth: _, ...settings }] = config.providers;
  const [credential] = await new Credentials(at).open(config.providers);
  const signal = new AbortController().signal;
  const models = await listModels({ ...settings, credential }, { preset: settings.preset ?? null, signal });
  return models?.map(({ id }) => id);
}

Deno.test("Bedrock lists models that are called by their ids and the profiles of the others", async () => {
  const faults: (string | null)[] = [];
  await using aws = cloud((seen, path) => {
    faults.push(signatureFault(seen, "s3cret"));
    if (path === "/foundation-models") {
      const model = (modelId: string, type: string, status = "ACTIVE") => ({
        modelId,
        inferenceTypesSupported: [type],
        modelLifecycle: { status },
      });
      return {
        modelSummaries: [
          model("amazon.nova-lite-v1:0", "ON_DEMAND"),
          model("anthropic.claude-sonnet-4-5-20250929-v1:0", "INFERENCE_PROFILE"),
          model("anthropic.claude-v2", "ON_DEMAND", "LEGACY"),
        ],
      };
    }
    const profile = (inferenceProfileId: string, status = "ACTIVE") => ({ inferenceProfileId, status });
    return seen.path.includes("nextToken=a%2Bb%3D")
      ? { inferenceProfileSummaries: [profile("global.amazon.nova-2-lite-v1:0")] }
      : {
        inferenceProfileSummaries: [
          profile("eu.anthropic.claude-sonnet-4-5-20250929-v1:0"),
          profile("old", "INACTIVE"),
        ],
        nextToken: "a+b=",
      };
  });
  const models = await listed({ bedrock: { region: "eu-central-1", base_url: aws.origin } }, {
    AWS_ACCESS_KEY_ID: "AKID",
    AWS_SECRET_ACCESS_KEY: "s3cret",
  });
  assertEquals(models, [
    "amazon.nova-lite-v1:0",
    "eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "global.amazon.nova-2-lite-v1:0",
  ]);
  assertEquals(faults, [null, null, null]);
});

Deno.test("a list of Bedrock or Vertex AI that the role may not read leaves the other one", async () => {
  const statuses = new Map<string, number>();
  await using aws = cloud((_, path) => {
    const status = statuses.get(path);
    if (status !== undefined) return new Response('{"message":"not authorized"}', { status });
    if (path === "/foundation-models") {
      return {
        modelSummaries: [{ modelId: "amazon.nova-lite-v1:0", inferenceTypesSupported: ["ON_DEMAND"] }],
      };
    }
    return {
      inferenceProfileSummaries: [{ inferenceProfileId: "eu.amazon.nova-pro-v1:0", status: "ACTIVE" }],
    };
  });
  const bedrock = () =>
    listed({ bedrock: { region: "r", base_url: aws.origin, api_key: "k" } }, {})
      .catch((error) => error.message);
  const [own, profiles] = ["amazon.nova-lite-v1:0", "eu.amazon.nova-pro-v1:0"];
  assertEquals(await bedrock(), [own, profiles]);
  statuses.set("/inference-profiles", 403);
  assertEquals(await bedrock(), [own]);
  statuses.set("/foundation-models", 403);
  assertEquals(await bedrock(), "status 403");
  statuses.delete("/inference-profiles");
  assertEquals(await bedrock(), [profiles]);
  // A failure that will pass takes nothing away from the list of before.
  statuses.set("/foundation-models", 500);
  assertEquals(await bedrock(), "status 500");

  const refused = new Set<string>();
  await using google = cloud((_, path) => {
    const publisher = path.includes("/anthropic/") ? "anthropic" : "google";
    if (refused.has(publisher)) return new Response("", { status: 403 });
    return {
      publisherModels: [{
        name: publisher === "google" ? "models/gemini-2.5-pro" : "models/claude-opus-4-1",
      }],
    };
  });
  const vertex = () =>
    listed({ vertex: { project: "p", base_url: google.origin, api_key: "k" } }, {})
      .catch((error) => error.message);
  refused.add("google");
  assertEquals(await vertex(), ["claude-opus-4-1"]);
  refused.delete("google");
  refused.add("anthropic");
  assertEquals(await vertex(), ["gemini-2.5-pro"]);
  refused.add("google");
  assertEquals(await vertex(), "status 403");
});

Deno.test("Bedrock's list stands at the host of the control plane", () => {
  const { config } = loadConfig(JSON.stringify({ providers: { bedrock: { region: "eu-central-1" } } }), {
    env: () => undefined,
  });
  const { api, baseUrl } = config.providers[0];
  const at = api.modelsList!.origin!;
  assertEquals(at(baseUrl), "https://bedrock.eu-central-1.amazonaws.com");
  const fips = "https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com";
  assertEquals(at(fips), "https://bedrock-fips.us-gov-west-1.amazonaws.com");
  assertEquals(at("http://127.0.0.1:1"), "http://127.0.0.1:1");
});

Deno.test("Vertex AI lists Google's models that converse, and Anthropic's", async () => {
  await using metadata = cloud(() => ({ access_token: "t", expires_in: 3600 }));
  await using google = cloud((seen, path) => {
    if (seen.headers.get("authorization") !== "Bearer t") return new Response("", { status: 401 });
    const names = (publisher: string, ...list: string[]) =>
      list.map((name) => ({ name: `publishers/${publisher}/models/${name}` }));
    if (path.includes("/anthropic/")) return { publisherModels: names("anthropic", "claude-sonnet-4-5") };
    if (seen.path.includes("pageToken=n")) return { publisherModels: names("google", "gemini-3-pro") };
    const first = names("google", "gemini-2.5-pro", "gemini-embedding-001", "imagen-4");
    return { publisherModels: first, nextPageToken: "n" };
  });
  const env = { GCE_METADATA_HOST: metadata.origin.slice("http://".length) };
  const models = await listed({ vertex: { project: "p", base_url: google.origin } }, env);
  assertEquals(models, ["gemini-2.5-pro", "gemini-3-pro", "claude-sonnet-4-5"]);
});

Deno.test("Azure has no list of what is deployed, so its models are named in the file", () => {
  const { config } = loadConfig(
    JSON.stringify({
      providers: { azure: { resource: "r", api_key: "k" } },
      models: [{
        id: "openai/gpt-5",
        pricing: { prompt: "0", completion: "0" },
        routes: [{ provider: "azure", model: "gpt-5" }],
      }],
    }),
    { env: () => undefined },
  );
  assertEquals(config.providers[0].api.modelsList, null);
  // Without models and without deployments there is nothing to serve.
  const load = (deployments: unknown) => {
    const azure = { resource: "r", api_key: "k", deployments };
    return loadConfig(JSON.stringify({ providers: { azure } }), { env: () => undefined });
  };
  assertEquals(load({ "gpt-5": "ours" }).config.providers[0].cloud!.models, ["gpt-5"]);
  assertEquals(load(["gpt-5"]).config.providers[0].cloud!.models, ["gpt-5"]);
  for (const none of [{}, [], undefined]) assertThrows(() => load(none), Error, "at least one model");
});

Deno.test("a start without configuration serves the clouds that the environment has a place and a credential of", () => {
  const found = (env: Record<string, string>) => foundProviders((name) => env[name]).map(({ name }) => name);
  assertEquals(found({ AWS_REGION: "r", AWS_ACCESS_KEY_ID: "k" }), ["bedrock"]);
  assertEquals(found({ AWS_REGION: "r" }), []);
  assertEquals(found({ GOOGLE_CLOUD_PROJECT: "p", GOOGLE_APPLICATION_CREDENTIALS: "/f" }), ["vertex"]);
  assertEquals(found({ GOOGLE_APPLICATION_CREDENTIALS: "/f" }), []);
  assertEquals(found({ AZURE_RESOURCE_NAME: "r", AZURE_OPENAI_API_KEY: "k" }), []);
});
