/** Credentials that programs print: they are really started here. */
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { Failure } from "../../../src/exchange/failure.ts";
import { awsCredential } from "../../../src/providers/credentials/aws/mod.ts";
import { googleCredential } from "../../../src/providers/credentials/google/mod.ts";
import { outputOf, wordsOf } from "../../../src/providers/credentials/program.ts";
import { TokenError } from "../../../src/providers/credentials/token_service.ts";
import { credentialOf } from "./aws_key.ts";
import { eventually } from "../../support/time.ts";
import { cloud, isoAfter, type Machine, machine, NOW } from "./cloud.ts";

const CALL = { method: "POST" as const, url: "https://bedrock.example/", headers: {}, body: "" };

Deno.test("wordsOf() splits as a POSIX shell, and expands nothing", () => {
  const lines: [string, string[] | null][] = [
    ["", []],
    ["  ", []],
    ["/bin/keys  --role dev\t-v ", ["/bin/keys", "--role", "dev", "-v"]],
    ['"/opt/my tools/keys" --name "a b"', ["/opt/my tools/keys", "--name", "a b"]],
    [`'/opt/x y' 'a"b' "c'd" "e\\"f" g\\ h`, ["/opt/x y", 'a"b', "c'd", 'e"f', "g h"]],
    [`a"b c"'d e'f ''`, ["ab cd ef", ""]],
    ["keys $HOME ~ `x` | cat; rm > f", ["keys", "$HOME", "~", "`x`", "|", "cat;", "rm", ">", "f"]],
    [`"a\\nb" "a\\\\b"`, ["a\\nb", "a\\b"]],
    ["keys 'open", null],
    ['keys "open', null],
    ["keys \\", null],
  ];
  for (const [line, words] of lines) assertEquals([line, wordsOf(line)], [line, words]);
});

/** A script with a name that has a blank, and the command line that starts it. */
async function script(text: string): Promise<AsyncDisposable & { command: string; path: string }> {
  const folder = await Deno.makeTempDir({ prefix: "sluice programs " });
  const path = `${folder}/keys.sh`;
  await Deno.writeTextFile(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return {
    path,
    command: `"${path}"`,
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

const RUN = { name: "the program", within: 60_000 };

Deno.test("outputOf() gives what a program prints, and no other end of it", async () => {
  await using good = await script(`echo "$1 $SET"; echo secret >&2`);
  assertEquals(await outputOf(`${good.command} 'a  b'`, { ...RUN, env: { SET: "s" } }, {}), "a  b s\n");
  const fails = async (command: string, message: RegExp, within = 60_000) => {
    const thrown = await assertRejects(() => outputOf(command, { ...RUN, within }, {}), TokenError);
    assertMatch(thrown.message, message);
    return thrown;
  };
  await using bad = await script(`echo '{"secret": 1}'; echo hidden >&2; exit 3`);
  await fails(bad.command, /^the program ended with status 3$/);
  await fails("/no/such/program --secret x", /^the program cannot be started: there is no such program$/);
  await fails("'open", /^the program is no command line$/);
  await using much = await script("yes 0123456789");
  await fails(much.command, /^the program writes more than 200000 bytes$/);
  // What it has started keeps the output open after its own end.
  await using slow = await script("sleep 3");
  await using plain = await script("echo");
  await Deno.chmod(plain.path, 0o644);
  await fails(plain.command, /^the program cannot be started: it is not executable$/);
  const late = await fails(slow.command, /^the program did not end within 50 ms$/, 50);
  assertEquals(late.late, true);
});

Deno.test("a program that does not end, or writes without end, is ended", async () => {
  const ends: [string, number, RegExp][] = [
    ["exec sleep 1000", 50, /did not end within 50 ms/],
    ["exec 2>/dev/null; trap '' PIPE; while :; do echo 0123456789; done", 60_000, /writes more than/],
  ];
  for (const [text, within, message] of ends) {
    const file = await Deno.makeTempFile();
    await using program = await script(`echo $$ > ${file}; ${text}`);
    const thrown = await assertRejects(() => outputOf(program.command, { ...RUN, within }, {}), TokenError);
    assertMatch(thrown.message, message);
    const pid = (await Deno.readTextFile(file)).trim();
    // It may have been ended before its first line.
    await eventually(() => pid === "" || Deno.stat(`/proc/${pid}`).then(() => false, () => true));
    await Deno.remove(file);
  }
});

async function keyOf(on: Machine): Promise<string> {
  const settings = {
    region: "eu-central-1",
    service: "bedrock",
    profile: "p",
    roleArn: null,
    externalId: null,
  };
  const headers = await awsCredential("b", settings, on).sign!(CALL);
  return `${/Credential=(.+?)\/\d{8}\//.exec(headers.authorization)![1]} ${headers["x-amz-security-token"]}`;
}

const aws = (command: string) =>
  machine({ HOME: "/h" }, { "/h/.aws/config": `[profile p]\ncredential_process = ${command}\n` });

Deno.test("credential_process gives the keys of an AWS profile, again before they end", async () => {
  await using keys = await script(
    `echo '{"Version": 1, "AccessKeyId": "'"$1"'", "SecretAccessKey": "s", "SessionToken": "t", "Expiration": "${
      isoAfter(3_600_000)
    }"}'`,
  );
  assertEquals(await keyOf(aws(`${keys.command} "AK IA"`)), "AK IA t");
  const on = aws("");
  const runs: string[] = [];
  on.files.set("/h/.aws/config", "[profile p]\ncredential_process = keys --for p\n");
  on.run = (words) => {
    runs.push(words.join(" "));
    const ends = new Date(on.now() + 3_600_000).toISOString();
    const AccessKeyId = `K${runs.length}`;
    return Promise.resolve(
      JSON.stringify({ Version: 1, AccessKeyId, SecretAccessKey: "s", Expiration: ends }),
    );
  };
  const key = credentialOf(on);
  assertEquals(await Promise.all([key(), key(), key()]), ["K1", "K1", "K1"]);
  on.clock.move(3_600_000);
  assertEquals([await key(), runs], ["K2", ["keys --for p", "keys --for p"]]);
});

Deno.test("a role of an AWS profile can be assumed with the keys of a program", async () => {
  await using sts = cloud(({ headers }) => {
    const by = /Credential=(\w+)/.exec(headers.get("authorization")!)![1];
    return `<R><AccessKeyId>ROLE by ${by}</AccessKeyId><SecretAccessKey>s</SecretAccessKey>` +
      "<SessionToken>t</SessionToken></R>";
  });
  const on = machine({ HOME: "/h", AWS_ENDPOINT_URL_STS: sts.origin }, {
    "/h/.aws/config":
      "[profile p]\nrole_arn = arn\nsource_profile = base\n[profile base]\ncredential_process = keys\n",
  });
  on.run = () => Promise.resolve(JSON.stringify({ Version: 1, AccessKeyId: "BASE", SecretAccessKey: "s" }));
  assertEquals(await keyOf(on), "ROLE by BASE t");
});

Deno.test("what a credential_process prints otherwise is refused, and nothing of it is told", async () => {
  const document = { Version: 1, AccessKeyId: "HIDDEN", SecretAccessKey: "HIDDEN", SessionToken: "HIDDEN" };
  const printed: [string, RegExp][] = [
    ["HIDDEN", /printed no JSON object/],
    ["[]", /printed no JSON object/],
    [JSON.stringify({ ...document, Version: 2 }), /no document of Version 1/],
    [JSON.stringify({ ...document, Version: undefined }), /no document of Version 1/],
    [JSON.stringify({ ...document, SecretAccessKey: undefined }), /answered without SecretAccessKey/],
    [JSON.stringify({ ...document, Expiration: isoAfter(-1000) }), /keys that have expired/],
  ];
  for (const [text, why] of printed) {
    const on = aws("keys");
    on.run = () => Promise.resolve(text);
    const failure = await assertRejects(() => keyOf(on), Failure);
    assertMatch(failure.operator!, why);
    assertMatch(failure.operator!, /credential_process of the AWS profile "p"/);
    assertEquals(`${failure.operator} ${on.lines}`.includes("HIDDEN"), false);
  }
});

const google = (source: unknown, origin: string, env: Record<string, string> = {}) =>
  machine({
    GOOGLE_APPLICATION_CREDENTIALS: "/adc.json",
    GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES: "1",
    ...env,
  }, {
    "/adc.json": JSON.stringify({
      type: "external_account",
      audience: "//iam/pool",
      subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
      token_url: `${origin}/token`,
      service_account_impersonation_url:
        `${origin}/v1/projects/-/serviceAccounts/a@b.example:generateAccessToken`,
      credential_source: source,
    }),
  });

const tokens = () =>
  cloud(({ body, headers }, path) =>
    path === "/token"
      ? { access_token: `for ${new URLSearchParams(body).get("subject_token")}`, expires_in: 3600 }
      : { accessToken: headers.get("authorization")!.slice(7), expireTime: isoAfter(3_600_000) }
  );

const bearer = async (on: Machine) =>
  (await googleCredential("v", { credentialsFile: null }, on).sign!(CALL)).authorization;

Deno.test("an executable source prints the identity token for Google's exchange", async () => {
  await using service = tokens();
  await using program = await script(
    `echo '{"version": 1, "success": true, "token_type": "urn:ietf:params:oauth:token-type:id_token", "id_token": "'` +
      `"$GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE $GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE $GOOGLE_EXTERNAL_ACCOUNT_INTERACTIVE $GOOGLE_EXTERNAL_ACCOUNT_IMPERSONATED_EMAIL"'"}'`,
  );
  assertEquals(
    await bearer(google({ executable: { command: program.command } }, service.origin)),
    "Bearer for //iam/pool urn:ietf:params:oauth:token-type:jwt 0 a@b.example",
  );
});

Deno.test("an executable source runs only if the operator allows programs", async () => {
  await using service = tokens();
  for (const allowed of ["", "0", "true"]) {
    const on = google({ executable: { command: "keys" } }, service.origin, {
      GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES: allowed,
    });
    on.run = () => Promise.reject(new Error("it must not run"));
    const failure = await assertRejects(() => bearer(on), Failure);
    assertMatch(failure.operator!, /runs only with GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1/);
  }
});

Deno.test("an executable source's file is used while its token lives", async () => {
  await using service = tokens();
  const kept = (id_token: string, seconds: number, success = true) =>
    JSON.stringify({
      version: 1,
      success,
      token_type: "urn:ietf:params:oauth:token-type:jwt",
      id_token,
      expiration_time: NOW / 1000 + seconds,
    });
  const source = { executable: { command: "keys", output_file: "/out.json", timeout_millis: 1 } };
  const on = google(source, service.origin);
  on.run = (_, { within }) => Promise.resolve(kept(`run ${within}`, 3600));
  on.files.set("/out.json", kept("file", 60));
  assertEquals(await bearer(on), "Bearer for file");
  for (const text of [kept("file", -1), kept("file", 60, false), "no JSON"]) {
    on.files.set("/out.json", text);
    assertEquals([text, await bearer(on)], [text, "Bearer for run 5000"]);
  }
});

Deno.test("what an executable source prints otherwise is refused, and nothing of it is told", async () => {
  await using service = tokens();
  const saml = { version: 1, success: true, token_type: "urn:ietf:params:oauth:token-type:saml2" };
  const printed: [unknown, RegExp][] = [
    ["HIDDEN", /printed no JSON object/],
    [{ version: 1, success: false, code: "401", message: "HIDDEN" }, /has failed \(401\)/],
    [{ version: 1, success: false, code: "HIDDEN HIDDEN", message: "HIDDEN" }, /has failed$/],
    [{ version: 2, success: true, id_token: "HIDDEN" }, /no document of version 1/],
    [{ ...saml, id_token: "HIDDEN" }, /answered without saml_response/],
    [{ ...saml, saml_response: "HIDDEN", expiration_time: NOW / 1000 }, /a token that has expired/],
  ];
  for (const [value, why] of printed) {
    const on = google({ executable: { command: "keys" } }, service.origin);
    on.run = () => Promise.resolve(JSON.stringify(value));
    const failure = await assertRejects(() => bearer(on), Failure);
    assertMatch(failure.operator!, why);
    assertEquals(`${failure.operator} ${on.lines}`.includes("HIDDEN"), false);
  }
  const on = google({ executable: { command: "keys" } }, service.origin);
  on.run = () => Promise.resolve(JSON.stringify({ ...saml, saml_response: "assertion" }));
  assertEquals(await bearer(on), "Bearer for assertion");
});
