/** AWS identities in Google's workload identity federation, as google-auth-library makes their subject tokens. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { Failure } from "../../../src/exchange/failure.ts";
import { googleCredential } from "../../../src/providers/credentials/google/mod.ts";
import { type Cloud, cloud, isoAfter, machine } from "./cloud.ts";
import { signatureFault } from "./sigv4.ts";

const CALL = { method: "POST" as const, url: "http://127.0.0.1:1/", headers: {}, body: "" };
const AUDIENCE = "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/aws";
const SECRET = "the/secret+key";

/** AWS's metadata service and Google's exchange of tokens. @param refuses the path of a request that is refused */
function services(refuses?: string): Cloud {
  return cloud(({ method, headers, body }, path) => {
    if (path === refuses) return new Response("no", { status: 403 });
    if (path === "/latest/api/token") {
      return method === "PUT" && headers.has("x-aws-ec2-metadata-token-ttl-seconds")
        ? "session"
        : new Response("", { status: 405 });
    }
    if (path.startsWith("/latest/meta-data") && headers.get("x-aws-ec2-metadata-token") !== "session") {
      return new Response("", { status: 401 });
    }
    if (path.endsWith("/availability-zone")) return "eu-west-1b";
    if (path.endsWith("/security-credentials")) return "my-role";
    if (path.endsWith("/security-credentials/my-role")) {
      return { AccessKeyId: "ASIAX", SecretAccessKey: SECRET, Token: "t/1", Expiration: isoAfter(3_600_000) };
    }
    return { access_token: `of ${new URLSearchParams(body).get("subject_token_type")}`, expires_in: 3599 };
  });
}

function on(origin: string, env: Record<string, string> = {}, source: object = {}) {
  const file = {
    type: "external_account",
    audience: AUDIENCE,
    subject_token_type: "urn:ietf:params:aws:token-type:aws4_request",
    token_url: `${origin}/sts`,
    credential_source: {
      environment_id: "aws1",
      region_url: `${origin}/latest/meta-data/placement/availability-zone`,
      url: `${origin}/latest/meta-data/iam/security-credentials`,
      imdsv2_session_token_url: `${origin}/latest/api/token`,
      regional_cred_verification_url:
        "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15",
      ...source,
    },
  };
  return machine({ GOOGLE_APPLICATION_CREDENTIALS: "/adc.json", ...env }, {
    "/adc.json": JSON.stringify(file),
  });
}

const signed = (at: ReturnType<typeof on>) =>
  googleCredential("vertex", { credentialsFile: null }, at).sign!(CALL);

/** The request that Google would send, from the last subject token. */
function subjectOf({ seen }: Cloud) {
  const { body } = seen.find(({ path }) => path === "/sts")!;
  const { url, method, headers } = JSON.parse(
    decodeURIComponent(new URLSearchParams(body).get("subject_token")!),
  );
  const fields: [string, string][] = headers.map((
    { key, value }: { key: string; value: string },
  ) => [key, value]);
  return { url: new URL(url), method, headers: new Headers(fields) };
}

Deno.test("a machine with a role of AWS gets Google's token for a request that AWS accepts", async () => {
  await using service = services();
  assertEquals(await signed(on(service.origin)), {
    authorization: "Bearer of urn:ietf:params:aws:token-type:aws4_request",
  });
  const { url, method, headers } = subjectOf(service);
  assertEquals(url.href, "https://sts.eu-west-1.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15");
  assertEquals([headers.get("host"), headers.get("x-amz-security-token")], [url.host, "t/1"]);
  assertEquals(headers.get("x-goog-cloud-target-resource"), AUDIENCE);
  assertMatch(headers.get("authorization")!, /Credential=ASIAX\/20261121\/eu-west-1\/sts\/aws4_request/);
  assertEquals(signatureFault({ method, path: url.pathname + url.search, headers, body: "" }, SECRET), null);
});

Deno.test("keys and region of the environment are used before those of the machine", async () => {
  await using service = services();
  const env = { AWS_ACCESS_KEY_ID: "AKIAY", AWS_SECRET_ACCESS_KEY: SECRET, AWS_DEFAULT_REGION: "us-east-2" };
  await signed(on(service.origin, env));
  const { url, method, headers } = subjectOf(service);
  assertEquals([url.host, headers.has("x-amz-security-token")], ["sts.us-east-2.amazonaws.com", false]);
  assertEquals(signatureFault({ method, path: url.pathname + url.search, headers, body: "" }, SECRET), null);
  assertEquals(service.seen.map(({ path }) => path), ["/sts"]);
});

Deno.test("what is missing for an AWS identity is named to operators, without secrets", async () => {
  const cases: [Cloud, object, RegExp][] = [
    [services("/latest/api/token"), {}, /metadata service of AWS answered 403/],
    [
      services("/latest/meta-data/iam/security-credentials/my-role"),
      {},
      /metadata service of AWS answered 403/,
    ],
    [services(), { environment_id: "aws2" }, /another credential_source\.environment_id than aws1/],
    [services(), { regional_cred_verification_url: undefined }, /without regional_cred_verification_url/],
    [services("/sts"), {}, /exchange of tokens of Google answered 403/],
  ];
  for (const [service, source, told] of cases) {
    const at = on(service.origin, {}, source);
    const failure = await assertRejects(() => signed(at), Failure);
    assertMatch(failure.operator!, told);
    assert(!`${failure.operator} ${failure.message} ${at.lines}`.includes(SECRET));
    await service[Symbol.asyncDispose]();
  }
});
