import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { Failure } from "../../../src/exchange/failure.ts";
import { azureCredential, type AzureSettings } from "../../../src/providers/credentials/azure/mod.ts";
import { cloud, type Machine, machine, NOW } from "./cloud.ts";

const CALL = { method: "POST" as const, url: "http://127.0.0.1:1/", headers: {}, body: "" };
const SETTINGS: AzureSettings = {
  scope: "https://cognitiveservices.azure.com/.default",
  tenantId: null,
  clientId: null,
  clientSecret: null,
};

function signed(at: Machine, settings = SETTINGS): Promise<Record<string, string>> {
  return azureCredential("azure", settings, at).sign!(CALL);
}

const entra = () =>
  cloud(({ body }, path) => {
    const form = Object.fromEntries(new URLSearchParams(body));
    const proof = form.client_secret ?? `${form.client_assertion_type} ${form.client_assertion}`;
    return { access_token: `${path} ${form.client_id} ${form.scope} ${proof}`, expires_in: 3599 };
  });

Deno.test("azureCredential() proves itself by a client secret before anything else", async () => {
  await using service = entra();
  const at = machine({
    AZURE_TENANT_ID: "tenant",
    AZURE_CLIENT_ID: "client",
    AZURE_CLIENT_SECRET: "s",
    AZURE_FEDERATED_TOKEN_FILE: "/token",
    AZURE_AUTHORITY_HOST: `${service.origin}/`,
  });
  assertEquals(await signed(at), {
    authorization: `Bearer /tenant/oauth2/v2.0/token client ${SETTINGS.scope} s`,
  });
});

Deno.test("azureCredential() takes what the configuration names before the environment", async () => {
  await using service = entra();
  const at = machine({ AZURE_TENANT_ID: "other", AZURE_AUTHORITY_HOST: service.origin });
  const settings = { ...SETTINGS, tenantId: "mine", clientId: "c", clientSecret: "s" };
  assertEquals(await signed(at, settings), {
    authorization: `Bearer /mine/oauth2/v2.0/token c ${SETTINGS.scope} s`,
  });
});

Deno.test("azureCredential() proves itself by the token file of a workload, read anew", async () => {
  await using service = entra();
  const at = machine({
    AZURE_TENANT_ID: "t",
    AZURE_CLIENT_ID: "c",
    AZURE_FEDERATED_TOKEN_FILE: "/token",
    AZURE_AUTHORITY_HOST: service.origin,
  }, { "/token": "jwt1\n" });
  const credential = azureCredential("azure", SETTINGS, at);
  assertMatch((await credential.sign!(CALL)).authorization, /jwt-bearer jwt1$/);
  at.files.set("/token", "jwt2");
  at.clock.move(3_600_000);
  assertMatch((await credential.sign!(CALL)).authorization, /jwt-bearer jwt2$/);
});

Deno.test("azureCredential() asks App Service's address, else the machine's, for its managed identity", async () => {
  await using service = cloud(({ path, headers }) => {
    const proof = headers.get("x-identity-header") ?? `metadata ${headers.get("metadata")}`;
    return { access_token: `${path} ${proof}`, expires_on: String(NOW / 1000 + 3600) };
  });
  const app = machine({
    IDENTITY_ENDPOINT: `${service.origin}/msi`,
    IDENTITY_HEADER: "h",
    AZURE_CLIENT_ID: "me",
  });
  const resource = encodeURIComponent("https://cognitiveservices.azure.com");
  assertEquals(await signed(app), {
    authorization: `Bearer /msi?resource=${resource}&client_id=me&api-version=2019-08-01 h`,
  });
  const vm = machine({ AZURE_POD_IDENTITY_AUTHORITY_HOST: service.origin });
  const credential = azureCredential("azure", SETTINGS, vm);
  assertEquals(await credential.sign!(CALL), {
    authorization:
      `Bearer /metadata/identity/oauth2/token?resource=${resource}&api-version=2018-02-01 metadata true`,
  });
  const asked = service.seen.length;
  vm.clock.move(1_800_000);
  await credential.sign!(CALL);
  assertEquals(service.seen.length, asked);
});

Deno.test("azureCredential() tells the operator what Entra refused, without the secret", async () => {
  await using service = cloud(() =>
    Response.json({
      error: "invalid_client",
      error_description: "AADSTS7000215: s3cret is wrong",
      error_codes: [7000215],
    }, { status: 401 })
  );
  const at = machine({ AZURE_TENANT_ID: "t", AZURE_CLIENT_ID: "c", AZURE_AUTHORITY_HOST: service.origin });
  const failure = await assertRejects(() => signed(at, { ...SETTINGS, clientSecret: "s3cret" }), Failure);
  assertMatch(failure.operator!, /Entra answered 401 \(invalid_client, AADSTS7000215\)/);
  assertEquals(`${failure.operator} ${at.lines}`.includes("s3cret"), false);
});

const KEY_PATH = "/var/opt/azcmagent/tokens/1b2c-4.key";

/** The agent of Azure Arc: it wants what stands in a file. */
const arc = (challenge: string, status = 401) =>
  cloud(({ path, headers }) => {
    const authorization = headers.get("authorization");
    if (authorization === null) {
      return new Response("", { status, headers: { "www-authenticate": challenge } });
    }
    return { access_token: `${path} ${headers.get("metadata")} ${authorization}`, expires_in: "3600" };
  });

const arcMachine = (origin: string, files: Record<string, string>) =>
  machine({ IDENTITY_ENDPOINT: `${origin}/token`, IMDS_ENDPOINT: origin, AZURE_CLIENT_ID: "me" }, files);

Deno.test("azureCredential() proves to the agent of Azure Arc that it can read its file", async () => {
  for (const challenge of [`Basic realm=${KEY_PATH}`, `Basic realm="${KEY_PATH}"`]) {
    await using agent = arc(challenge);
    const on = arcMachine(agent.origin, { [KEY_PATH]: "c2VjcmV0\n" });
    const resource = encodeURIComponent("https://cognitiveservices.azure.com");
    assertEquals(await signed(on), {
      authorization: `Bearer /token?resource=${resource}&api-version=2020-06-01 true Basic c2VjcmV0`,
    });
    assertEquals(agent.seen.length, 2);
  }
});

Deno.test("azureCredential() reads no other file for an agent of Azure Arc, and sends none", async () => {
  const others = [
    "/etc/passwd",
    "/var/opt/azcmagent/tokens/../../../etc/passwd.key",
    "/var/opt/azcmagent/tokens/a.txt",
    "/var/opt/azcmagent/tokens/.key",
    "/var/opt/azcmagent/tokens/b/a.key",
    "/var/opt/azcmagent/tokens/a.key/",
  ];
  for (const path of others) {
    await using agent = arc(`Basic realm=${path}`);
    const on = arcMachine(agent.origin, { [path]: "hidden" });
    const failure = await assertRejects(() => signed(on), Failure);
    assertMatch(failure.operator!, /names a file that is not in its folder/);
    assertEquals(agent.seen.some(({ headers }) => headers.has("authorization")), false, path);
  }
  const wrong: [string, number, string, RegExp][] = [
    ["Bearer realm=x", 401, "k", /answered 401 without a challenge/],
    [`Basic realm=${KEY_PATH}`, 404, "k", /answered 404 without a challenge/],
    [`Basic realm=${KEY_PATH}`, 401, " \n", /holds no secret/],
    [`Basic realm=${KEY_PATH}`, 401, "a\r\nx: y", /holds no secret/],
    [`Basic realm=${KEY_PATH}`, 401, "x".repeat(4097), /holds no secret/],
  ];
  for (const [challenge, status, text, why] of wrong) {
    await using agent = arc(challenge, status);
    const failure = await assertRejects(
      () => signed(arcMachine(agent.origin, { [KEY_PATH]: text })),
      Failure,
    );
    assertMatch(failure.operator!, why);
    assertEquals(failure.operator!.includes("x: y"), false);
  }
  await using agent = arc(`Basic realm=${KEY_PATH}`);
  const failure = await assertRejects(() => signed(arcMachine(agent.origin, {})), Failure);
  assertMatch(failure.operator!, /cannot be read: this user must be in the group himds/);
});

Deno.test("azureCredential() asks Azure Machine Learning's endpoint for its managed identity", async () => {
  await using service = cloud(({ path, headers }) => ({
    access_token: `${path} ${headers.get("secret")}`,
    expires_on: String(NOW / 1000 + 3600),
  }));
  const env = { MSI_ENDPOINT: `${service.origin}/msi`, MSI_SECRET: "s", DEFAULT_IDENTITY_CLIENT_ID: "usual" };
  const resource = encodeURIComponent("https://cognitiveservices.azure.com");
  for (const [more, client] of [[{}, "usual"], [{ AZURE_CLIENT_ID: "me" }, "me"]] as const) {
    assertEquals(await signed(machine({ ...env, ...more })), {
      authorization: `Bearer /msi?resource=${resource}&clientid=${client}&api-version=2017-09-01 s`,
    });
  }
});
