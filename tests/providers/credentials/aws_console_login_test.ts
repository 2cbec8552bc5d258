/** A login of `aws login`, as AWS's own library reads and renews it (@aws-sdk/credential-provider-login 3.972.94). */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { createHash, generateKeyPairSync } from "node:crypto";
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } from "jose";
import { Failure } from "../../../src/exchange/failure.ts";
import { credentialOf } from "./aws_key.ts";
import { cloud, isoAfter, type Machine, machine, NOW } from "./cloud.ts";

const MINUTE = 60_000;
const SESSION = "arn:aws:sts::123456789012:assumed-role/Admin/admin";
const NAME = `${createHash("sha256").update(SESSION).digest("hex")}.json`;
const PATH = `/h/.aws/login/cache/${NAME}`;
const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const KEY = privateKey.export({ type: "sec1", format: "pem" }) as string;

const login = (ends: string, more: object = {}) =>
  JSON.stringify({
    accessToken: {
      accessKeyId: "FIRST",
      secretAccessKey: "s",
      sessionToken: "t",
      accountId: "123456789012",
      expiresAt: ends,
    },
    tokenType: "aws_sigv4",
    refreshToken: "refresh 0",
    idToken: "i",
    clientId: "arn:aws:signin:::devtools/same-device",
    dpopKey: KEY,
    ...more,
  });

/** Checks the proof of each request, and answers with keys for a quarter of an hour. */
function service(origin: () => string, answer: () => Response | object = () => ({})) {
  let renewals = 0;
  return cloud(async ({ method, path, headers, body }) => {
    assertEquals([method, path], ["POST", "/v1/token"]);
    const { payload, protectedHeader } = await jwtVerify(headers.get("dpop")!, EmbeddedJWK, {
      typ: "dpop+jwt",
      algorithms: ["ES256"],
      currentDate: new Date(NOW),
    });
    assertEquals([payload.htm, payload.htu], ["POST", `${origin()}/v1/token`]);
    assertMatch(payload.jti!, /^[\da-f-]{36}$/);
    assertEquals(
      await calculateJwkThumbprint(protectedHeader.jwk!),
      await calculateJwkThumbprint(publicKey.export({ format: "jwk" }) as never),
    );
    assertEquals("d" in protectedHeader.jwk!, false);
    const { clientId, grantType, refreshToken } = JSON.parse(body);
    assertEquals([clientId, grantType], ["arn:aws:signin:::devtools/same-device", "refresh_token"]);
    const given = answer();
    if (given instanceof Response) return given;
    renewals++;
    return {
      accessToken: {
        accessKeyId: `KEY${renewals} by ${refreshToken}`,
        secretAccessKey: "s",
        sessionToken: "t",
      },
      tokenType: "aws_sigv4",
      expiresIn: 900,
      refreshToken: `refresh ${renewals}`,
      ...given,
    };
  });
}

function at(origin: string, text: string | null, env: Record<string, string> = {}, path = PATH): Machine {
  const on = machine({ HOME: "/h", AWS_ENDPOINT_URL_SIGNIN: `${origin}/`, ...env }, {
    "/h/.aws/config": `[profile p]\nlogin_session = ${SESSION}\nregion = eu-central-1\n`,
    ...(text !== null && { [path]: text }),
  });
  on.writeText = (path, written) => Promise.resolve(void on.files.set(path, written));
  return on;
}

async function withService(
  test: (origin: string, seen: unknown[]) => Promise<void>,
  answer?: () => Response | object,
): Promise<void> {
  let origin = "";
  await using signin = service(() => origin, answer);
  origin = signin.origin;
  await test(origin, signin.seen);
}

Deno.test("keys of aws login are used while they live", () =>
  withService(async (origin, seen) => {
    assertEquals(await credentialOf(at(origin, login(isoAfter(6 * MINUTE))))(), "FIRST");
    const elsewhere = at(
      origin,
      login(isoAfter(6 * MINUTE)),
      { AWS_LOGIN_CACHE_DIRECTORY: "/logins" },
      `/logins/${NAME}`,
    );
    assertEquals([await credentialOf(elsewhere)(), seen.length], ["FIRST", 0]);
  }));

Deno.test("keys of aws login that end soon, or have ended, are renewed with a proof, and written back", () =>
  withService(async (origin) => {
    const on = at(origin, login(isoAfter(4 * MINUTE)));
    const key = credentialOf(on);
    assertEquals(await key(), "KEY1 by refresh 0");
    const first = JSON.parse(login(""));
    assertEquals(JSON.parse(on.files.get(PATH)!), {
      ...first,
      accessToken: {
        ...first.accessToken,
        accessKeyId: "KEY1 by refresh 0",
        expiresAt: isoAfter(15 * MINUTE),
      },
      refreshToken: "refresh 1",
    });
    on.clock.move(16 * MINUTE);
    assertEquals(await key(), "KEY2 by refresh 1");
  }));

Deno.test("a login of aws login that cannot be renewed is used up to its end, and then somebody has to sign in", () =>
  withService(async (origin) => {
    const on = at(origin, login(isoAfter(4 * MINUTE)));
    assertEquals(await credentialOf(on)(), "FIRST");
    on.clock.move(5 * MINUTE);
    const failure = await assertRejects(credentialOf(on), Failure);
    assertMatch(
      failure.operator!,
      /the login of the AWS profile "p" has ended \(.*answered 403 \(TOKEN_EXPIRED\)\): run "aws login" for it/,
    );
  }, () => Response.json({ error: "TOKEN_EXPIRED", message: "refresh 0 hidden" }, { status: 403 })));

Deno.test("what is wrong with the file of aws login is told without its contents", () =>
  withService(async (origin, seen) => {
    const ended = isoAfter(-MINUTE);
    const wrong: [string | null, RegExp][] = [
      [null, /is not there: run "aws login" for it/],
      ["{", /is not there: run "aws login" for it/],
      [login(ended, { refreshToken: undefined }), /has ended: run "aws login" for it/],
      [login(ended, { dpopKey: undefined }), /has ended \(.*answered without dpopKey\)/],
      [login(ended, { dpopKey: "hidden" }), /has ended \(the key in the file of the login cannot be used\)/],
    ];
    for (const [text, why] of wrong) {
      const on = at(origin, text);
      const failure = await assertRejects(credentialOf(on), Failure);
      assertMatch(failure.operator!, why);
      assert(!/hidden|refresh 0|PRIVATE/.test(`${failure.operator} ${on.lines}`), failure.operator);
    }
    assertEquals(seen, []);
  }));
