import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { exportPKCS8, generateKeyPair, jwtVerify } from "jose";
import { Failure } from "../../../src/exchange/failure.ts";
import { googleCredential } from "../../../src/providers/credentials/google/mod.ts";
import { cloud, isoAfter, type Machine, machine, NOW } from "./cloud.ts";

const CALL = { method: "POST" as const, url: "http://127.0.0.1:1/", headers: {}, body: "" };
const { publicKey, privateKey } = await generateKeyPair("RS256", { extractable: true });
const PEM = await exportPKCS8(privateKey);
const NO_FILE = { credentialsFile: null };

function signed(at: Machine, settings = NO_FILE): Promise<Record<string, string>> {
  return googleCredential("vertex", settings, at).sign!(CALL);
}

function withFile(file: object, env: Record<string, string> = {}): Machine {
  return machine({ GOOGLE_APPLICATION_CREDENTIALS: "/key.json", ...env }, {
    "/key.json": JSON.stringify(file),
  });
}

Deno.test("googleCredential() signs a statement for the token service that the key file names", async () => {
  await using google = cloud(() => ({ access_token: "ya29.a", expires_in: 3599, token_type: "Bearer" }));
  const at = withFile({
    type: "service_account",
    client_email: "me@project.iam.gserviceaccount.com",
    private_key: PEM,
    private_key_id: "kid1",
    token_uri: `${google.origin}/token`,
    quota_project_id: "payer",
  });
  assertEquals(await signed(at), { "authorization": "Bearer ya29.a", "x-goog-user-project": "payer" });
  const form = new URLSearchParams(google.seen[0].body);
  assertEquals(form.get("grant_type"), "urn:ietf:params:oauth:grant-type:jwt-bearer");
  const { payload, protectedHeader } = await jwtVerify(form.get("assertion")!, publicKey, {
    audience: `${google.origin}/token`,
    issuer: "me@project.iam.gserviceaccount.com",
    currentDate: new Date(NOW),
  });
  assertEquals(protectedHeader.kid, "kid1");
  assertEquals([payload.iat, payload.exp], [NOW / 1000, NOW / 1000 + 3600]);
  assertEquals(payload.scope, "https://www.googleapis.com/auth/cloud-platform");
});

Deno.test("googleCredential() states the service's time where this machine's clock is off", async () => {
  const ahead = NOW + 8 * 60_000;
  await using google = cloud(async ({ body }) => {
    const statement = new URLSearchParams(body).get("assertion")!;
    const headers = { date: new Date(ahead).toUTCString() };
    try {
      await jwtVerify(statement, publicKey, { currentDate: new Date(ahead), maxTokenAge: 120 });
      return Response.json({ access_token: "good" }, { headers });
    } catch {
      return Response.json({ error: "invalid_grant" }, { status: 400, headers });
    }
  });
  const at = withFile({
    type: "service_account",
    client_email: "e",
    private_key: PEM,
    token_uri: google.origin,
  });
  assertEquals(await signed(at), { authorization: "Bearer good" });
  assertEquals(google.seen.length, 2);
});

Deno.test("googleCredential() exchanges the token of another identity provider, and acts as an account", async () => {
  await using google = cloud(({ body, headers }, path) => {
    if (path === "/sts") {
      const form = new URLSearchParams(body);
      return {
        access_token: `federated ${form.get("subject_token")} ${form.get("audience")}`,
        expires_in: 60,
      };
    }
    if (path === "/subject") return { id_token: `from url for ${headers.get("x-who")}` };
    return { accessToken: `account of ${headers.get("authorization")}`, expireTime: isoAfter(3_600_000) };
  });
  const file = {
    type: "external_account",
    audience: "//iam/pool",
    subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    token_url: `${google.origin}/sts`,
  };
  const fromFile = withFile({ ...file, credential_source: { file: "/subject" } });
  fromFile.files.set("/subject", "jwt\n");
  assertEquals(await signed(fromFile), { authorization: "Bearer federated jwt //iam/pool" });
  const fromUrl = withFile({
    ...file,
    credential_source: {
      url: `${google.origin}/subject`,
      headers: { "x-who": "me" },
      format: { type: "json", subject_token_field_name: "id_token" },
    },
    service_account_impersonation_url: `${google.origin}/sa:generateAccessToken`,
  });
  assertEquals(await signed(fromUrl), {
    authorization: "Bearer account of Bearer federated from url for me //iam/pool",
  });
});

Deno.test("googleCredential() tells the operator which step of a chain was refused, and why", async () => {
  await using google = cloud((_, path) =>
    path === "/sts" ? { access_token: "federated", expires_in: 60 } : Response.json({
      error: { code: 403, message: "Permission denied for federated", status: "PERMISSION_DENIED" },
    }, { status: 403 })
  );
  const at = withFile({
    type: "external_account",
    audience: "//iam/pool",
    subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    token_url: `${google.origin}/sts`,
    credential_source: { file: "/subject" },
    service_account_impersonation_url: `${google.origin}/sa:generateAccessToken`,
  });
  at.files.set("/subject", "jwt");
  const failure = await assertRejects(() => signed(at), Failure);
  assertMatch(
    failure.operator!,
    /the service account credentials service of Google answered 403 \(PERMISSION_DENIED\)$/,
  );
});

Deno.test("googleCredential() uses a person's own login, and the metadata server where there is no file", async () => {
  await using google = cloud(({ body, headers }, path) => {
    if (path === "/token") {
      return { access_token: `user ${new URLSearchParams(body).get("refresh_token")}`, expires_in: "3599" };
    }
    if (headers.get("metadata-flavor") !== "Google") return new Response(null, { status: 403 });
    return { access_token: "of the machine", expires_in: 3599 };
  });
  const login = { type: "authorized_user", client_id: "c", client_secret: "s", refresh_token: "r" };
  const at = machine({ HOME: "/home/me" }, {
    "/home/me/.config/gcloud/application_default_credentials.json": JSON.stringify({
      ...login,
      token_uri: `${google.origin}/token`,
    }),
  });
  assertEquals(await signed(at), { authorization: "Bearer user r" });
  const bare = machine({ GCE_METADATA_HOST: google.origin.slice("http://".length) });
  assertEquals(await signed(bare), { authorization: "Bearer of the machine" });
  assertEquals(google.seen.at(-1)!.path, "/computeMetadata/v1/instance/service-accounts/default/token");
});

Deno.test("googleCredential() discards a token that gets a 401, and no other", async () => {
  let given = 0;
  await using google = cloud(() => ({ access_token: `t${++given}`, expires_in: 3599 }));
  const at = machine({ GCE_METADATA_HOST: google.origin.slice(7) });
  const credential = googleCredential("vertex", NO_FILE, at);
  const sent = await credential.sign!(CALL);
  const refusal = (status: number) => ({ status, header: () => null, text: "{}" });
  assertEquals(credential.refused!(refusal(403), sent), false);
  assertEquals(await credential.sign!(CALL), sent);
  assertEquals(credential.refused!(refusal(401), sent), true);
  assertEquals(await credential.sign!(CALL), { authorization: "Bearer t2" });
});

Deno.test("googleCredential() says what is wrong with a credentials file, and nothing that stands in it", async () => {
  const files = [
    { type: "service_account", client_email: "secret-mail", private_key: "secret-key" },
    { type: "external_account", audience: "secret-a", subject_token_type: "t", credential_source: {} },
    { type: "unheard", private_key: "secret-key" },
  ];
  for (const file of files) {
    const at = withFile(file);
    const failure = await assertRejects(() => signed(at), Failure);
    assertMatch(failure.operator!, /credentials file/);
    assertEquals(`${failure.operator} ${at.lines}`.includes("secret"), false, failure.operator);
  }
  const missing = await assertRejects(
    () => signed(machine({ GOOGLE_APPLICATION_CREDENTIALS: "/none" })),
    Failure,
  );
  assertMatch(missing.operator!, /cannot be read/);
});

/** What google-auth-library 10.9.1 sends for the same files. */
Deno.test("googleCredential() sends what each file says of its program, of who pays and of how long a token lives", async () => {
  await using google = cloud((_, path) =>
    path.includes(":generateAccessToken")
      ? { accessToken: "account", expireTime: isoAfter(600_000) }
      : { access_token: "token", expires_in: 3599 }
  );
  const asked = () =>
    google.seen.splice(0).map(({ path, headers, body }) => {
      const said = body.startsWith("{") ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(body));
      return [path, headers.get("authorization"), said];
    });
  const url = (path: string) => `${google.origin}${path}`;
  const client = { client_id: "c", client_secret: "s" };
  const CLIENT = `Basic ${btoa("c:s")}`;
  const SCOPE = "https://www.googleapis.com/auth/cloud-platform";

  const person = { type: "external_account_authorized_user", ...client, refresh_token: "r" };
  assertEquals(await signed(withFile({ ...person, token_url: url("/token"), quota_project_id: "file" })), {
    authorization: "Bearer token",
    "x-goog-user-project": "file",
  });
  assertEquals(asked(), [["/token", CLIENT, { grant_type: "refresh_token", refresh_token: "r" }]]);

  const pool = {
    type: "external_account",
    audience: "//iam/pool",
    subject_token_type: "jwt",
    token_url: url("/sts"),
    workforce_pool_user_project: "payer",
    credential_source: { file: "/subject" },
    service_account_impersonation_url: url("/a:generateAccessToken"),
    service_account_impersonation: { token_lifetime_seconds: 600 },
  };
  for (
    const [more, authorization, options] of [[{}, null, '{"userProject":"payer"}'], [
      client,
      CLIENT,
      undefined,
    ]]
  ) {
    const at = withFile({ ...pool, ...more as object });
    at.files.set("/subject", "jwt");
    assertEquals(await signed(at), { authorization: "Bearer account" });
    const [sts, account] = asked();
    assertEquals([sts[1], sts[2].options], [authorization, options]);
    assertEquals(account, ["/a:generateAccessToken", "Bearer token", { scope: [SCOPE], lifetime: "600s" }]);
  }

  const source = { type: "authorized_user", ...client, refresh_token: "r", token_uri: url("/token") };
  const through = {
    type: "impersonated_service_account",
    source_credentials: source,
    delegates: ["d@example"],
  };
  const charged = withFile(
    {
      ...through,
      service_account_impersonation_url: url("/b:generateAccessToken"),
      quota_project_id: "file",
    },
    { GOOGLE_CLOUD_QUOTA_PROJECT: "variable" },
  );
  assertEquals(await signed(charged), {
    authorization: "Bearer account",
    "x-goog-user-project": "variable",
  });
  assertEquals(asked()[1][2], { delegates: ["d@example"], scope: [SCOPE], lifetime: "3600s" });
});
