/** Which credential a profile gives, as AWS's own libraries take it (@aws-sdk/credential-providers 3.1173.0). */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { createHash } from "node:crypto";
import { Failure } from "../../../src/exchange/failure.ts";
import { awsCredential } from "../../../src/providers/credentials/aws/mod.ts";
import { sections } from "../../../src/providers/clouds/aws_files.ts";
import { type Cloud, cloud, isoAfter, type Machine, machine, NOW } from "./cloud.ts";

/** Answers with keys whose id says what was asked, and by whom. */
function services(): Cloud {
  return cloud(({ method, path, headers, body }) => {
    const by = /Credential=([^/]+)\/\d+\/([^/]+)\//.exec(headers.get("authorization") ?? "");
    if (method === "PUT") return "session";
    if (path.startsWith("/federation/credentials?")) {
      const id = `SSO ${new URLSearchParams(path.split("?")[1])} ${
        headers.get("x-amz-sso_bearer_token")!.replaceAll("/", "_")
      }`;
      const roleCredentials = { accessKeyId: id, secretAccessKey: "s", sessionToken: "t" };
      return { roleCredentials: { ...roleCredentials, expiration: NOW + 3_600_000 } };
    }
    if (path.endsWith("/security-credentials/")) return "role";
    if (path.includes("/security-credentials/")) {
      return { AccessKeyId: "INSTANCE", SecretAccessKey: "s", Token: "t", Expiration: isoAfter(3_600_000) };
    }
    const form = new URLSearchParams(body);
    const said = ["RoleArn", "RoleSessionName", "ExternalId", "DurationSeconds", "WebIdentityToken"].flatMap((
      name,
    ) => form.get(name) ?? []);
    return `<R><AccessKeyId>${
      [...said, ...(by ? [`by ${by[1]} in ${by[2]}`] : [])].join(" ")
    }</AccessKeyId>` +
      `<SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken></R>`;
  });
}

function at(
  origin: string,
  config: string,
  env: Record<string, string> = {},
  files: Record<string, string> = {},
) {
  return machine({
    HOME: "/h",
    AWS_ENDPOINT_URL_STS: origin,
    AWS_ENDPOINT_URL_SSO: `${origin}/`,
    AWS_EC2_METADATA_SERVICE_ENDPOINT: origin,
    ...env,
  }, { "/h/.aws/config": config, "/token": "web token", ...files });
}

async function keyOf(on: Machine, profile: string | null): Promise<string> {
  const settings = { region: "eu-central-1", service: "bedrock", profile, roleArn: null, externalId: null };
  const call = { method: "POST" as const, url: "https://bedrock.example/", headers: {}, body: "" };
  const headers = await awsCredential("b", settings, on).sign!(call);
  return /Credential=(.+?)\/\d{8}\//.exec(headers.authorization)![1];
}

const KEYS = (id: string) => `aws_access_key_id = ${id}\naws_secret_access_key = s\n`;
const ROLE = "role_arn = arn\n";

/** What a profile `p` says, and whose keys it gives. */
const PROFILES: readonly (readonly [string, string, string])[] = [
  ["keys in indented lines", "[profile p]\n  aws_access_key_id=P\n  aws_secret_access_key=s\n", "P"],
  ["keys behind a setting without a value", `[profile p]\nregion =\n${KEYS("P")}`, "P"],
  ["keys beside a role without a source", `[profile p]\n${ROLE}${KEYS("P")}`, "P"],
  ["keys before a web identity", `[profile p]\n${ROLE}web_identity_token_file = /token\n${KEYS("P")}`, "P"],
  ["a web identity", `[profile p]\n${ROLE}web_identity_token_file = /token\n`, "arn sluice web token"],
  [
    "a role before a web identity and keys of its own",
    `[profile p]\n${ROLE}${KEYS("P")}web_identity_token_file = /token\nsource_profile = q\n[profile q]\n${
      KEYS("Q")
    }`,
    "arn sluice by Q in eu-central-1",
  ],
  [
    "a role from a profile that has keys as well as a role: its keys",
    `[profile p]\n${ROLE}source_profile = q\n[profile q]\nrole_arn = other\nsource_profile = q\n${KEYS("Q")}`,
    "arn sluice by Q in eu-central-1",
  ],
  [
    "a role from a profile that names only a source",
    `[profile p]\n${ROLE}source_profile = q\n[profile q]\ncredential_source = Ec2InstanceMetadata\n`,
    "arn sluice by INSTANCE in eu-central-1",
  ],
  [
    "a role in a region, for a time, with a name",
    `[profile p]\n${ROLE}credential_source = Environment\nregion = us-west-2\nduration_seconds = 900\nrole_session_name = n\n`,
    "arn n 900 by ENVIRONMENT in us-west-2",
  ],
  [
    "a login by a session",
    "[profile p]\nsso_session = corp\nsso_account_id = 1\nsso_role_name = dev\n" +
    "[sso-session corp]\nsso_start_url = https://corp\nsso_region = eu-west-1\n",
    "SSO account_id=1&role_name=dev of corp",
  ],
  [
    "a login by an address",
    "[profile p]\nsso_start_url = https://corp\nsso_region = eu-west-1\nsso_account_id = 1\nsso_role_name = dev\n",
    "SSO account_id=1&role_name=dev of https:__corp",
  ],
  [
    "a role from a profile with a login",
    `[profile p]\n${ROLE}source_profile = q\n` +
    "[profile q]\nsso_start_url = https://corp\nsso_region = eu-west-1\nsso_account_id = 1\nsso_role_name = dev\n",
    "arn sluice by SSO account_id=1&role_name=dev of https:__corp in eu-central-1",
  ],
];

const login = (name: string, ends = isoAfter(60_000)) => ({
  [`/h/.aws/sso/cache/${createHash("sha1").update(name).digest("hex")}.json`]: JSON.stringify({
    accessToken: `of ${name}`,
    expiresAt: ends,
  }),
});

for (const [what, config, key] of PROFILES) {
  Deno.test(`awsCredential() takes of a profile ${what}`, async () => {
    await using cloud = services();
    const files = { ...login("corp"), ...login("https://corp") };
    const env = { AWS_ACCESS_KEY_ID: "ENVIRONMENT", AWS_SECRET_ACCESS_KEY: "s" };
    assertEquals(await keyOf(at(cloud.origin, config, env, files), "p"), key);
    // The profile `default` is one of them.
    const usual = config.replaceAll("[profile p]", "[default]");
    if (!config.includes("Environment")) {
      assertEquals(await keyOf(at(cloud.origin, usual, {}, files), null), key);
    }
  });
}

const SSO = "sso_session = corp\nsso_account_id = 1\nsso_role_name = dev\n";
const SESSION = "[sso-session corp]\nsso_start_url = https://corp\nsso_region = eu-west-1\n";

/** What a profile `default` says that cannot be used, and what the operator is told of it. */
const USELESS: readonly (readonly [string, string, Record<string, string>])[] = [
  ["credential_process = /bin/keys --secret hidden\n", "credential_process", {}],
  ["login_session = arn:aws:iam::1:user/u\n", 'is not there: run "aws login"', {}],
  [`${ROLE}source_profile = q\nmfa_serial = arn\n[profile q]\n${KEYS("Q")}`, "mfa_serial", {}],
  [`${SSO}${SESSION}`, 'is not there: run "aws sso login"', {}],
  [`${SSO}${SESSION}`, 'has ended: run "aws sso login"', login("corp", isoAfter(-1))],
  [SSO, 'sso-session "corp", which is not there', {}],
  [`${SSO}[sso-session corp]\nsso_region = r\nregion = r\n`, "is not there", {}],
  ["sso_start_url = https://corp\nsso_account_id = 1\nsso_role_name = dev\n", "has no sso_region", {}],
];

for (const [said, told, files] of USELESS) {
  Deno.test(`awsCredential() uses nothing else in place of a profile it cannot use: ${told}`, async () => {
    await using cloud = services();
    const on = at(cloud.origin, `[default]\n${said}`, {}, files);
    const failure = await assertRejects(() => keyOf(on, null), Failure);
    assertStringIncludes(failure.operator!, told);
    assertEquals(/hidden|of corp/.test(failure.operator!), false);
    assertEquals(cloud.seen, []);
  });
}

Deno.test("awsCredential() reads the time of a login as earlier versions of aws wrote it", async () => {
  await using cloud = services();
  const until = isoAfter(60_000).replace(/\.\d+Z$/, "UTC");
  const keys = await keyOf(at(cloud.origin, `[default]\n${SSO}${SESSION}`, {}, login("corp", until)), null);
  assertEquals([keys, cloud.seen.length], ["SSO account_id=1&role_name=dev of corp", 1]);
});

Deno.test("awsCredential() finds shared files at a path that begins with the home", async () => {
  await using cloud = services();
  const files = { "/h/keys": `[p]\n${KEYS("P")}` };
  assertEquals(await keyOf(at(cloud.origin, "", { AWS_SHARED_CREDENTIALS_FILE: "~/keys" }, files), "p"), "P");
});

Deno.test("sections() keeps settings within others apart", () => {
  const text =
    "[ profile  a ] # note\r\ns3 =\r\n  max_queue_size = 2\r\n\tregion = inner\r\nregion=outer ; note\r\n" +
    "[profile 'b c']\nkey = a#b=c\n = none\nnot a setting\n[a]\nKEY = 1\n";
  assertEquals(
    new Map([
      ["profile a", new Map([["s3.max_queue_size", "2"], ["s3.region", "inner"], ["region", "outer"]])],
      ["profile b c", new Map([["key", "a#b=c"]])],
      ["a", new Map([["key", "1"]])],
    ]),
    sections(text) as Map<string, Map<string, string>>,
  );
});
