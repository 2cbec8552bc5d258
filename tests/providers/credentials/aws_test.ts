import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { Failure } from "../../../src/exchange/failure.ts";
import { awsCredential, type AwsSettings } from "../../../src/providers/credentials/aws/mod.ts";
import { cloud, isoAfter, type Machine, machine, NOW } from "./cloud.ts";
import { signatureFault } from "./sigv4.ts";

const SETTINGS: AwsSettings = {
  region: "eu-central-1",
  service: "bedrock",
  profile: null,
  roleArn: null,
  externalId: null,
};
const URL_OF_CALL =
  "https://bedrock-runtime.eu-central-1.amazonaws.com/model/eu.anthropic.claude-v1%3A0/converse";
const CALL = {
  method: "POST" as const,
  url: URL_OF_CALL,
  headers: { "x-from-caller": "1" },
  body: '{"a":"ä"}',
};

async function signedBy(at: Machine, settings = SETTINGS, call = CALL): Promise<Headers> {
  return new Headers(await awsCredential("bedrock", settings, at).sign!(call));
}

function faultOf(headers: Headers, secret: string, call = CALL): string | null {
  const { host, pathname, search } = new URL(call.url);
  const all = new Headers(headers);
  all.set("host", host);
  return signatureFault(
    { method: call.method, path: pathname + search, headers: all, body: call.body },
    secret,
  );
}

function accessKeyOf(headers: Headers): string {
  return /Credential=([^/]+)\//.exec(headers.get("authorization")!)![1];
}

const KEYS_JSON = (id: string, lifeMs = 3_600_000) => ({
  AccessKeyId: id,
  SecretAccessKey: `secret of ${id}`,
  Token: `token of ${id}`,
  Expiration: isoAfter(lifeMs),
});
const KEYS_XML = (id: string) =>
  `<R xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Result><Credentials><AccessKeyId>${id}</AccessKeyId>` +
  `<SecretAccessKey>secret of ${id}</SecretAccessKey><SessionToken>token of ${id}</SessionToken>` +
  `<Expiration>${isoAfter(3_600_000)}</Expiration></Credentials></Result></R>`;
const NO_METADATA = { AWS_EC2_METADATA_DISABLED: "true" };

Deno.test("awsCredential() signs with the keys of the environment, and nothing of the caller's", async () => {
  const at = machine({
    AWS_ACCESS_KEY_ID: "AKID",
    AWS_SECRET_ACCESS_KEY: "s3cret",
    AWS_SESSION_TOKEN: "tok",
  });
  const headers = await signedBy(at);
  assertEquals(faultOf(headers, "s3cret"), null);
  assertEquals(headers.get("x-amz-security-token"), "tok");
  assertEquals(headers.get("x-amz-date"), "20261121T120000Z");
  assertMatch(headers.get("authorization")!, /Credential=AKID\/20261121\/eu-central-1\/bedrock\//);
  assert(!headers.get("authorization")!.includes("x-from-caller"));
});

Deno.test("awsCredential() signs the bytes of a large request as it signs their text", async () => {
  const at = machine({ AWS_ACCESS_KEY_ID: "AKID", AWS_SECRET_ACCESS_KEY: "s3cret" });
  const room = new TextEncoder().encode(`before${CALL.body}behind`);
  const body = room.subarray("before".length, room.length - "behind".length);
  const headers = await awsCredential("bedrock", SETTINGS, at).sign!({ ...CALL, body });
  assertEquals(faultOf(new Headers(headers), "s3cret"), null);
});

Deno.test("the check of signatures finds each part that was changed", async () => {
  const at = machine({ AWS_ACCESS_KEY_ID: "AKID", AWS_SECRET_ACCESS_KEY: "s3cret" });
  const headers = await signedBy(at);
  assert(faultOf(headers, "other") !== null);
  assert(faultOf(headers, "s3cret", { ...CALL, body: "{}" }) !== null);
  assert(faultOf(headers, "s3cret", { ...CALL, url: `${URL_OF_CALL}-stream` }) !== null);
});

Deno.test("awsCredential() sends a bearer key of Bedrock as it is", () => {
  const at = machine({
    AWS_BEARER_TOKEN_BEDROCK: "bedrock-key",
    AWS_ACCESS_KEY_ID: "A",
    AWS_SECRET_ACCESS_KEY: "b",
  });
  const credential = awsCredential("bedrock", SETTINGS, at);
  assertEquals(credential.headers, { authorization: "Bearer bedrock-key" });
  assertEquals(credential.sign, undefined);
});

Deno.test("awsCredential() takes variables that end with a line break, as files of secrets do", async () => {
  const bearer = awsCredential("bedrock", SETTINGS, machine({ AWS_BEARER_TOKEN_BEDROCK: "bedrock-key\n" }));
  assertEquals(bearer.headers, { authorization: "Bearer bedrock-key" });
  const headers = await signedBy(machine({
    AWS_ACCESS_KEY_ID: "AKID\n",
    AWS_SECRET_ACCESS_KEY: "s3cret\n",
    AWS_SESSION_TOKEN: "tok\r\n",
  }));
  assertEquals(faultOf(headers, "s3cret"), null);
  assertEquals(headers.get("x-amz-security-token"), "tok");
});

Deno.test("awsCredential() names a variable that no header can have, and nothing of it", async () => {
  const variables: [Record<string, string>, RegExp][] = [
    [{ AWS_BEARER_TOKEN_BEDROCK: "bedrock\nkey" }, /AWS_BEARER_TOKEN_BEDROCK .*printable ASCII/],
    [{ AWS_ACCESS_KEY_ID: "AKÏD", AWS_SECRET_ACCESS_KEY: "s3cret" }, /access key id .*printable ASCII/],
    [
      { AWS_ACCESS_KEY_ID: "AKID", AWS_SECRET_ACCESS_KEY: "s3cret", AWS_SESSION_TOKEN: "to\nken" },
      /session token .*printable ASCII/,
    ],
  ];
  for (const [env, told] of variables) {
    const failure = await assertRejects(async () => await signedBy(machine(env)), Failure);
    assertEquals([failure.code, failure.lasting], ["provider_unavailable", true]);
    assertMatch(failure.operator!, told);
    assert(!/bedrock\nkey|AKÏD|to\nken/.test(failure.operator!), failure.operator);
  }
});

Deno.test("awsCredential() exchanges a web identity, whose file it reads anew", async () => {
  await using sts = cloud(({ body }) => KEYS_XML(`AS${new URLSearchParams(body).get("WebIdentityToken")}`));
  const at = machine({
    AWS_ROLE_ARN: "arn:aws:iam::1:role/r",
    AWS_WEB_IDENTITY_TOKEN_FILE: "/token",
    AWS_ENDPOINT_URL_STS: sts.origin,
    ...NO_METADATA,
  }, { "/token": "jwt1\n" });
  const credential = awsCredential("bedrock", SETTINGS, at);
  const first = new Headers(await credential.sign!(CALL));
  assertEquals([accessKeyOf(first), faultOf(first, "secret of ASjwt1")], ["ASjwt1", null]);
  assertEquals(new URLSearchParams(sts.seen[0].body).get("Action"), "AssumeRoleWithWebIdentity");
  at.files.set("/token", "jwt2");
  at.clock.move(3_600_000);
  assertEquals(accessKeyOf(new Headers(await credential.sign!(CALL))), "ASjwt2");
  assertEquals(sts.seen.length, 2);
});

Deno.test("awsCredential() asks the container's service with the token of its file", async () => {
  await using service = cloud(({ headers }) => KEYS_JSON(`C-${headers.get("authorization")}`));
  const at = machine({
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${service.origin}/v1/credentials`,
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: "/pod",
  }, { "/pod": "pod-token" });
  const headers = await signedBy(at);
  assertEquals([accessKeyOf(headers), service.seen[0].path], ["C-pod-token", "/v1/credentials"]);
  assertEquals(faultOf(headers, "secret of C-pod-token"), null);
});

Deno.test("awsCredential() asks the instance's metadata by session", async () => {
  await using imds = cloud(({ method, headers }, path) => {
    if (path === "/latest/api/token") {
      return method === "PUT" ? "session" : new Response(null, { status: 405 });
    }
    if (headers.get("x-aws-ec2-metadata-token") !== "session") return new Response(null, { status: 401 });
    return path.endsWith("/security-credentials/") ? "the-role" : KEYS_JSON("INSTANCE");
  });
  const at = machine({ AWS_EC2_METADATA_SERVICE_ENDPOINT: imds.origin });
  assertEquals(accessKeyOf(await signedBy(at)), "INSTANCE");
  assertEquals(imds.seen.at(-1)!.path, "/latest/meta-data/iam/security-credentials/the-role");
});

Deno.test("awsCredential() assumes the role of a profile from another profile", async () => {
  const faults: (string | null)[] = [];
  await using sts = cloud((seen) => {
    faults.push(signatureFault(seen, "base secret"));
    return KEYS_XML(`ROLE-${new URLSearchParams(seen.body).get("ExternalId")}`);
  });
  const at = machine({
    AWS_PROFILE: "work",
    AWS_SHARED_CREDENTIALS_FILE: "/credentials",
    AWS_CONFIG_FILE: "/config",
    AWS_ENDPOINT_URL_STS: sts.origin,
  }, {
    "/credentials": "[base]\naws_access_key_id = BASE\naws_secret_access_key=base secret # a comment\n",
    "/config":
      "; a comment\n[profile work]\nrole_arn = arn:aws:iam::1:role/w\nsource_profile = base\nexternal_id=42\n" +
      "s3 =\n  addressing_style = path\n",
  });
  assertEquals(accessKeyOf(await signedBy(at)), "ROLE-42");
  assertEquals(faults, [null]);
});

Deno.test("awsCredential() reads the keys of a profile, and says which profile is not there", async () => {
  const env = { AWS_SHARED_CREDENTIALS_FILE: "/c", ...NO_METADATA };
  const files = { "/c": "[default]\naws_access_key_id=D\naws_secret_access_key=d\n" };
  assertEquals(accessKeyOf(await signedBy(machine(env, files), { ...SETTINGS, profile: "default" })), "D");
  const at = machine(env, files);
  const failure = await assertRejects(() => signedBy(at, { ...SETTINGS, profile: "none" }), Failure);
  assertStringIncludes(failure.operator!, 'no AWS profile "none"');
});

Deno.test("awsCredential() takes what aws configure wrote where no variable says anything, and no more than that", async () => {
  const KEYS = "aws_access_key_id=DEFAULT\naws_secret_access_key=d\n";
  await using imds = cloud(({ method, path }) =>
    method === "PUT" ? "session" : path.endsWith("/") ? "the-role" : KEYS_JSON("INSTANCE")
  );
  await using container = cloud(() => KEYS_JSON("CONTAINER"));
  const home = { HOME: "/home/u", AWS_EC2_METADATA_SERVICE_ENDPOINT: imds.origin };
  const found = async (files: Record<string, string>, env: Record<string, string> = {}) =>
    accessKeyOf(await signedBy(machine({ ...home, ...env }, files)));
  assertEquals(await found({ "/home/u/.aws/credentials": `[default]\n${KEYS}` }), "DEFAULT");
  assertEquals(await found({ "/home/u/.aws/config": `[profile default]\n${KEYS}` }), "DEFAULT");
  assertEquals(await found({ "/home/u/.aws/credentials": `[other]\n${KEYS}` }), "INSTANCE");
  assertEquals(await found({ "/home/u/.aws/config": "[default]\nregion=r\nsource_profile=s\n" }), "INSTANCE");
  const named = { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${container.origin}/k` };
  assertEquals(await found({ "/home/u/.aws/credentials": `[default]\n${KEYS}` }, named), "CONTAINER");
  const none = await assertRejects(() => signedBy(machine({ HOME: "/home/u", ...NO_METADATA })), Failure);
  assertStringIncludes(none.operator!, "no source of AWS credentials");
});

Deno.test("awsCredential() reads the default profile anew when its keys are refused", async () => {
  const file = "/home/u/.aws/credentials";
  const keys = (id: string) =>
    `[default]\naws_access_key_id=${id}\naws_secret_access_key=s\naws_session_token=t\n`;
  const at = machine({ HOME: "/home/u", ...NO_METADATA }, { [file]: keys("OLD") });
  const credential = awsCredential("bedrock", SETTINGS, at);
  const first = await credential.sign!(CALL);
  at.files.set(file, keys("NEW"));
  assertEquals(accessKeyOf(new Headers(await credential.sign!(CALL))), "OLD");
  const expired = { status: 403, header: () => null, text: '{"message":"ExpiredTokenException"}' };
  assertEquals(credential.refused!(expired, first), true);
  assertEquals(accessKeyOf(new Headers(await credential.sign!(CALL))), "NEW");
});

Deno.test("awsCredential() does not follow profiles in a circle", async () => {
  const at = machine({ AWS_CONFIG_FILE: "/c" }, {
    "/c": "[profile a]\nrole_arn=r\nsource_profile=b\n[profile b]\nrole_arn=r\nsource_profile=a\n",
  });
  const failure = await assertRejects(() => signedBy(at, { ...SETTINGS, profile: "a" }), Failure);
  assertStringIncludes(failure.operator!, "chain of source profiles");
});

Deno.test("awsCredential() assumes the role of the configuration with the keys that it finds", async () => {
  await using sts = cloud((seen) => KEYS_XML(signatureFault(seen, "s") ?? "ASSUMED"));
  const at = machine({
    AWS_ACCESS_KEY_ID: "A",
    AWS_SECRET_ACCESS_KEY: "s",
    AWS_ENDPOINT_URL_STS: sts.origin,
  });
  assertEquals(accessKeyOf(await signedBy(at, { ...SETTINGS, roleArn: "arn:aws:iam::2:role/x" })), "ASSUMED");
});

Deno.test("awsCredential() sends no bearer key of the environment for a role of the configuration", async () => {
  await using sts = cloud((seen) => KEYS_XML(signatureFault(seen, "s") ?? "ASSUMED"));
  const at = machine({
    AWS_BEARER_TOKEN_BEDROCK: "key of another account",
    AWS_ACCESS_KEY_ID: "A",
    AWS_SECRET_ACCESS_KEY: "s",
    AWS_ENDPOINT_URL_STS: sts.origin,
  });
  const settings = { ...SETTINGS, roleArn: "arn:aws:iam::2:role/x" };
  assertEquals(awsCredential("bedrock", settings, at).headers, {});
  assertEquals(accessKeyOf(await signedBy(at, settings)), "ASSUMED");
});

Deno.test("awsCredential() signs by the service's time after a refusal tells it", async () => {
  const at = machine({ AWS_ACCESS_KEY_ID: "A", AWS_SECRET_ACCESS_KEY: "s" });
  const credential = awsCredential("bedrock", SETTINGS, at);
  const sent = await credential.sign!(CALL);
  const refusal = (text: string) => ({
    status: 403,
    header: (name: string) => name === "date" ? new Date(NOW + 9 * 60_000).toUTCString() : null,
    text,
  });
  assertEquals(
    credential.refused!(refusal('{"message":"Signature expired: 2026 is now earlier"}'), sent),
    true,
  );
  const again = new Headers(await credential.sign!(CALL));
  assertEquals(again.get("x-amz-date"), "20261121T120900Z");
  assertEquals(faultOf(again, "s"), null);
  // What the role may not do, no other signature will let it do.
  assertEquals(credential.refused!(refusal('{"message":"User is not authorized to perform"}'), sent), false);
});

Deno.test("awsCredential() drops keys that are refused, and keeps newer ones", async () => {
  let given = 0;
  await using service = cloud(() => KEYS_JSON(`K${++given}`));
  const at = machine({ AWS_CONTAINER_CREDENTIALS_FULL_URI: service.origin });
  const credential = awsCredential("bedrock", SETTINGS, at);
  const refusal = {
    status: 403,
    header: (name: string) => name === "x-amzn-errortype" ? "ExpiredTokenException:http://x" : null,
    text: "{}",
  };
  const first = await credential.sign!(CALL);
  assert(credential.refused!(refusal, first));
  assertEquals(accessKeyOf(new Headers(await credential.sign!(CALL))), "K2");
  assert(credential.refused!(refusal, first));
  assertEquals(accessKeyOf(new Headers(await credential.sign!(CALL))), "K2");
});

Deno.test("awsCredential() without any source or region is this gateway's fault, without a secret", async () => {
  for (const [env, settings] of [[NO_METADATA, SETTINGS], [{}, { ...SETTINGS, region: null }]] as const) {
    const at = machine(env as Record<string, string>);
    const failure = await assertRejects(async () => await signedBy(at, settings), Failure);
    assertEquals([failure.code, failure.lasting], ["provider_unavailable", true]);
    assertMatch(failure.operator!, /token|credential/);
  }
});
