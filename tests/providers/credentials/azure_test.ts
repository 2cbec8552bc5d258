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
    Response.json({ error: "invalid_client", error_description: "AADSTS7000215: s3cret is wrong" }, {
      status: 401,
    })
  );
  const at = machine({ AZURE_TENANT_ID: "t", AZURE_CLIENT_ID: "c", AZURE_AUTHORITY_HOST: service.origin });
  const failure = await assertRejects(() => signed(at, { ...SETTINGS, clientSecret: "s3cret" }), Failure);
  assertMatch(failure.operator!, /Entra answered 401 \(invalid_client\)/);
  assertEquals(`${failure.operator} ${at.lines}`.includes("s3cret"), false);
});
