/** Client certificates of Entra, by the variables of Microsoft's libraries. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { Buffer } from "node:buffer";
import { constants, createHash, verify, X509Certificate } from "node:crypto";
import { Failure } from "../../../src/exchange/failure.ts";
import { azureCredential } from "../../../src/providers/credentials/azure/mod.ts";
import { cloud, machine, NOW } from "./cloud.ts";

const CALL = { method: "POST" as const, url: "http://127.0.0.1:1/", headers: {}, body: "" };
const SETTINGS = {
  scope: "https://cognitiveservices.azure.com/.default",
  tenantId: null,
  clientId: null,
  clientSecret: null,
};
/** Of nobody but these tests. The password of the encrypted key is "secret-word". */
const pem = (name: string) => Deno.readTextFileSync(new URL(`entra/${name}.pem`, import.meta.url));
const CERTIFICATE = new X509Certificate(pem("certificate"));

/** Entra, that accepts what the certificate has signed, and whose clock may be ahead of the machine's. */
const entra = (aheadMs = 0) =>
  cloud(({ body }, path) => {
    const form = new URLSearchParams(body);
    const date = new Date(NOW + aheadMs).toUTCString();
    const refuse = (why: string) =>
      Response.json({ error: "invalid_client", error_description: why }, { status: 401, headers: { date } });
    if (form.get("client_assertion_type") !== "urn:ietf:params:oauth:client-assertion-type:jwt-bearer") {
      return refuse("type");
    }
    const [head, claims, signature] = form.get("client_assertion")!.split(".");
    const { alg, "x5t#S256": print, x5c } = JSON.parse(Buffer.from(head, "base64url").toString());
    const { aud, iss, sub, jti, nbf, exp } = JSON.parse(Buffer.from(claims, "base64url").toString());
    const now = (NOW + aheadMs) / 1000;
    const key = { key: CERTIFICATE.publicKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };
    if (!verify("sha256", Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, "base64url"))) {
      return refuse("signature");
    }
    if (alg !== "PS256" || print !== createHash("sha256").update(CERTIFICATE.raw).digest("base64url")) {
      return refuse("thumbprint");
    }
    if (iss !== "client" || sub !== "client" || !aud.endsWith(path) || !jti) return refuse("claims");
    if (nbf > now + 300 || exp < now - 300) return refuse("time");
    return Response.json({ access_token: `good ${x5c?.length ?? 0}`, expires_in: 3599 }, {
      headers: { date },
    });
  });

const variables = (origin: string, more: Record<string, string> = {}) => ({
  AZURE_TENANT_ID: "tenant",
  AZURE_CLIENT_ID: "client",
  AZURE_CLIENT_CERTIFICATE_PATH: "/client.pem",
  AZURE_AUTHORITY_HOST: origin,
  ...more,
});

const FILES: readonly [name: string, file: string, more?: Record<string, string>][] = [
  ["a key before its certificate", pem("key") + pem("certificate")],
  ["a key of PKCS #1 behind its certificate", pem("certificate") + pem("key_pkcs1")],
  [
    "line ends of Windows, and words around it",
    `Bag Attributes\r\n${(pem("key") + pem("certificate")).replaceAll("\n", "\r\n")}`,
  ],
  ["an encrypted key", pem("key_encrypted") + pem("certificate"), {
    AZURE_CLIENT_CERTIFICATE_PASSWORD: "secret-word",
  }],
];

for (const [name, file, more] of FILES) {
  Deno.test(`azureCredential() proves itself by a client certificate: ${name}`, async () => {
    await using service = entra();
    const at = machine(variables(service.origin, { AZURE_FEDERATED_TOKEN_FILE: "/t", ...more }), {
      "/client.pem": file,
    });
    const credential = azureCredential("azure", SETTINGS, at);
    assertEquals(await credential.sign!(CALL), { authorization: "Bearer good 0" });
  });
}

Deno.test("azureCredential() sends the chain of a certificate where it is told to, and reads a renewed file", async () => {
  await using service = entra();
  const at = machine(variables(service.origin, { AZURE_CLIENT_SEND_CERTIFICATE_CHAIN: "true" }), {
    "/client.pem": pem("key") + pem("certificate") + pem("certificate"),
  });
  const credential = azureCredential("azure", SETTINGS, at);
  assertEquals(await credential.sign!(CALL), { authorization: "Bearer good 2" });
  at.files.set("/client.pem", pem("key") + pem("certificate"));
  at.clock.move(3_600_000);
  const { authorization } = await credential.sign!(CALL).catch(() => ({ authorization: "none" }));
  // The service's clock stands still, so that it finds the time wrong until the machine has learnt it.
  assertEquals(authorization, "Bearer good 1");
});

Deno.test("azureCredential() signs by Entra's clock where this machine's is wrong", async () => {
  await using service = entra(20 * 60_000);
  const at = machine(variables(service.origin), { "/client.pem": pem("key") + pem("certificate") });
  assertEquals(await azureCredential("azure", SETTINGS, at).sign!(CALL), { authorization: "Bearer good 0" });
});

Deno.test("azureCredential() prefers a client secret to a certificate", async () => {
  await using service = cloud(({ body }) => ({
    access_token: new URLSearchParams(body).get("client_secret")!,
    expires_in: 60,
  }));
  const at = machine(variables(service.origin, { AZURE_CLIENT_SECRET: "s" }));
  assertEquals(await azureCredential("azure", SETTINGS, at).sign!(CALL), { authorization: "Bearer s" });
});

Deno.test("azureCredential() tells the operator what is wrong with a certificate file, and nothing of it", async () => {
  await using service = entra();
  const bad: [string | undefined, RegExp][] = [
    [undefined, /client certificate file cannot be read/],
    [pem("certificate"), /holds no private key or no certificate/],
    [pem("key"), /holds no private key or no certificate/],
    [pem("key_encrypted") + pem("certificate"), /the private key or a certificate .* cannot be read/],
    [
      pem("key").replace(/\n\w{20}/, "\n") + pem("certificate"),
      /the private key or a certificate .* cannot be/,
    ],
  ];
  for (const [file, told] of bad) {
    const at = machine(variables(service.origin), file === undefined ? {} : { "/client.pem": file });
    const failure = await assertRejects(() => azureCredential("azure", SETTINGS, at).sign!(CALL), Failure);
    assertMatch(failure.operator!, told);
    assert(!/MII|BEGIN|client\.pem/.test(`${failure.operator} ${failure.message} ${at.lines}`));
  }
  assertEquals(service.seen, []);
});
