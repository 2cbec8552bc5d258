/** A login of `aws sso login` is renewed before it ends, and written back. */
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { createHash } from "node:crypto";
import { Failure } from "../../../src/exchange/failure.ts";
import { credentialOf } from "./aws_key.ts";
import { type Cloud, cloud, isoAfter, type Machine, machine, NOW } from "./cloud.ts";

const MINUTE = 60_000;
const PATH = `/h/.aws/sso/cache/${createHash("sha1").update("corp").digest("hex")}.json`;
const CONFIG = "[profile p]\nsso_session = corp\nsso_account_id = 1\nsso_role_name = dev\n" +
  "[sso-session corp]\nsso_start_url = https://corp\nsso_region = eu-west-1\n";

/** Answers with keys that live for half an hour, and with logins that live for an hour. */
function services(token: () => Response | object = () => ({})): Cloud {
  let logins = 0;
  return cloud(({ path, headers, body }) => {
    if (path === "/token") {
      const given = token();
      if (given instanceof Response) return given;
      const { grantType, refreshToken, clientId, clientSecret } = JSON.parse(body);
      assertEquals([grantType, clientId, clientSecret], ["refresh_token", "client", "hidden"]);
      return {
        accessToken: `login ${++logins} by ${refreshToken}`,
        expiresIn: 3600,
        refreshToken: `refresh ${logins}`,
        ...given,
      };
    }
    const roleCredentials = {
      accessKeyId: headers.get("x-amz-sso_bearer_token")!,
      secretAccessKey: "s",
      sessionToken: "t",
      expiration: NOW + 30 * MINUTE,
    };
    return { roleCredentials };
  });
}

const login = (ends: string, more: object = {}) =>
  JSON.stringify({
    startUrl: "https://corp",
    region: "eu-west-1",
    accessToken: "first",
    expiresAt: ends,
    clientId: "client",
    clientSecret: "hidden",
    registrationExpiresAt: isoAfter(90 * 24 * 60 * MINUTE),
    refreshToken: "refresh 0",
    ...more,
  });

function at(origin: string, text: string, config = CONFIG): Machine {
  const on = machine({ HOME: "/h", AWS_ENDPOINT_URL_SSO: origin, AWS_ENDPOINT_URL_SSO_OIDC: `${origin}/` }, {
    "/h/.aws/config": config,
    [PATH]: text,
  });
  on.writeText = (path, written) => Promise.resolve(void on.files.set(path, written));
  return on;
}

Deno.test("a login that ends soon, or has ended, is renewed and written back", async () => {
  for (const left of [4 * MINUTE, 0, -600 * MINUTE]) {
    await using service = services();
    const on = at(service.origin, login(isoAfter(left)));
    assertEquals(await credentialOf(on)(), "login 1 by refresh 0");
    assertEquals(JSON.parse(on.files.get(PATH)!), {
      ...JSON.parse(login("")),
      accessToken: "login 1 by refresh 0",
      expiresAt: isoAfter(60 * MINUTE).replace(".000", ""),
      refreshToken: "refresh 1",
    });
  }
});

Deno.test("a login that lives longer is used as it is", async () => {
  await using service = services();
  const on = at(service.origin, login(isoAfter(6 * MINUTE)));
  assertEquals([await credentialOf(on)(), service.seen.length], ["first", 1]);
});

Deno.test("a login whose file cannot be written is renewed with the latest refresh token", async () => {
  await using service = services();
  const on = at(service.origin, login(isoAfter(-MINUTE)));
  on.writeText = () => Promise.reject(new Deno.errors.PermissionDenied());
  const key = credentialOf(on);
  assertEquals(await key(), "login 1 by refresh 0");
  on.clock.move(61 * MINUTE);
  assertEquals(await key(), "login 2 by refresh 1");
  // Somebody has signed in again.
  on.files.set(PATH, login(isoAfter(600 * MINUTE), { accessToken: "signed in" }));
  on.clock.move(31 * MINUTE);
  assertEquals(await key(), "signed in");
});

Deno.test("a login that cannot be renewed is used up to its end, and then somebody has to sign in", async () => {
  await using service = services(() => Response.json({ error: "invalid_grant" }, { status: 400 }));
  const on = at(service.origin, login(isoAfter(4 * MINUTE)));
  assertEquals(await credentialOf(on)(), "first");
  on.clock.move(5 * MINUTE);
  const failure = await assertRejects(credentialOf(on), Failure);
  assertMatch(
    failure.operator!,
    /the login of the AWS profile "p" has ended \(.*answered 400 \(invalid_grant\)\): run "aws sso login" for it/,
  );
  assertEquals(/hidden|refresh 0/.test(`${failure.operator} ${on.lines}`), false);
});

Deno.test("a login that another process has renewed meanwhile is taken from the file", async () => {
  const held: { on?: Machine } = {};
  await using service = services(() => {
    held.on!.files.set(PATH, login(isoAfter(60 * MINUTE), { accessToken: "of another" }));
    return Response.json({ error: "invalid_grant" }, { status: 400 });
  });
  held.on = at(service.origin, login(isoAfter(-MINUTE)));
  assertEquals(await credentialOf(held.on)(), "of another");
});

Deno.test("a login without a refresh token or with an ended registration, and one of an older profile, is not renewed", async () => {
  await using service = services();
  const lacking = [
    { refreshToken: undefined },
    { clientId: "" },
    { clientSecret: undefined },
    { registrationExpiresAt: isoAfter(-MINUTE) },
  ];
  for (const more of lacking) {
    const failure = await assertRejects(
      credentialOf(at(service.origin, login(isoAfter(-MINUTE), more))),
      Failure,
    );
    assertMatch(failure.operator!, /has ended: run "aws sso login" for it/);
  }
  const older =
    "[profile p]\nsso_start_url = corp\nsso_region = eu-west-1\nsso_account_id = 1\nsso_role_name = dev\n";
  await assertRejects(credentialOf(at(service.origin, login(isoAfter(-MINUTE)), older)), Failure);
  assertEquals(service.seen, []);
});

Deno.test("the file on the disk is replaced, and only its owner may read it", async () => {
  const home = await Deno.makeTempDir({ prefix: "sluice-login-" });
  try {
    await using service = services();
    const path = PATH.replace("/h", home);
    await Deno.mkdir(`${home}/.aws/sso/cache`, { recursive: true });
    await Deno.writeTextFile(path, login(isoAfter(0)));
    const on = machine({
      HOME: home,
      AWS_ENDPOINT_URL_SSO: service.origin,
      AWS_ENDPOINT_URL_SSO_OIDC: service.origin,
    }, {
      [`${home}/.aws/config`]: CONFIG,
      [path]: login(isoAfter(0)),
    });
    assertEquals(await credentialOf(on)(), "login 1 by refresh 0");
    assertEquals(JSON.parse(await Deno.readTextFile(path)).refreshToken, "refresh 1");
    assertEquals((await Deno.stat(path)).mode! & 0o777, 0o600);
    assertEquals([...Deno.readDirSync(`${home}/.aws/sso/cache`)].length, 1);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});
