/** What the check says of the files of `server.tls`: which of the two is wrong, and in what way. */
import { assertEquals, assertMatch } from "@std/assert";
import { checkCertificate, checkClientTls } from "../../src/config/certificate.ts";
import { openReport } from "../../src/schema/mistakes.ts";
import { EXPIRED, OTHER, TLS } from "../support/tls.ts";

/** A key of openssl 3 with a password, as `openssl ec -aes256` writes it. */
const OLD_FORM = `-----BEGIN EC PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: AES-256-CBC,EE0960ED0387B0C40B98E7A3A7BEC57A

pvC9zUyx5suRx+xADerwz74dAwbsaIWYuu6Go84lZiMacKyfbxr/4FxPO1QhBIjn
Hs5AVFYGrfIT0ubJbs19Shxbv1pg9g/c/avnG0+ivPNvO4YXrXHFfs6buDn12xco
A4FGgH6Zy0ofgRDW2bI/aK9Bti7KfIT7jXqJqenkW6w=
-----END EC PRIVATE KEY-----
`;
/** The same, as `openssl pkcs8 -topk8` writes it. */
const PKCS8 = `-----BEGIN ENCRYPTED PRIVATE KEY-----
MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjzb71nkolFpQICCAAw
DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEAvdjdbf/AMK2Xr0G3BNH0AEgZCB
BMplm7fNg3Y2KO01NK2W9DJY00hGM4xyk9s5alxQtXwIjPbuOn70JYSls1pMrIWa
T+ohjehuivfkCMxpIcqICXpi52Lc7ELx7HiqYimbZBWubcfBGZEZsC6Azgp3j861
PjeHib7sr/BPdOPMxFb50a4eqsJTZQSn6m/m4g63bTYRwFPP+Ig5L5gNeT0KjnQ=
-----END ENCRYPTED PRIVATE KEY-----
`;

/** All that is said of two texts. */
async function summaryOf(
  texts: { cert: string; key: string },
  now?: number,
): Promise<{ mistakes: string[]; warnings: string[] }> {
  const folder = await Deno.makeTempDir();
  const files = { cert: `${folder}/cert.pem`, key: `${folder}/key.pem` };
  await Deno.writeTextFile(files.cert, texts.cert);
  await Deno.writeTextFile(files.key, texts.key);
  const report = openReport(new Map());
  await checkCertificate(files, report, { now });
  await Deno.remove(folder, { recursive: true });
  const { mistakes, warnings } = report;
  return {
    mistakes: mistakes.map(({ path, message }) => `${path}: ${message.replace(/, got .*/, "")}`),
    warnings: [...warnings],
  };
}

const part = (text: string) => text.slice(0, 120);
/** Base64 of the right length whose bytes are none of a certificate. */
const mangled = TLS.cert.replace(/^[^-].*$/gm, (line) => line.replaceAll("A", "B").replaceAll("I", "J"));
const WITHOUT_PASSWORD = "server.tls.key: expected the path of a private key in PEM, without a password";

const CASES: readonly [name: string, cert: string, key: string, said: string][] = [
  ["a key with a password, in the old form", TLS.cert, OLD_FORM, WITHOUT_PASSWORD],
  ["a key with a password, in PKCS #8", TLS.cert, PKCS8, WITHOUT_PASSWORD],
  [
    "a part of a key",
    TLS.cert,
    part(TLS.key),
    "server.tls.key: expected the path of a private key in PEM that is whole",
  ],
  [
    "another key",
    TLS.cert,
    OTHER.key,
    "server.tls.key: expected the path of the certificate's own private key",
  ],
  [
    "a part of a certificate",
    part(TLS.cert),
    TLS.key,
    "server.tls.cert: expected the path of a certificate in PEM that is whole",
  ],
  [
    "a certificate of other bytes",
    mangled,
    TLS.key,
    "server.tls.cert: expected the path of a certificate in PEM that is whole",
  ],
];

for (const [name, cert, key, said] of CASES) {
  Deno.test(`checkCertificate() of ${name} says which file is wrong, and how`, async () => {
    assertEquals(await summaryOf({ cert, key }), { mistakes: [said], warnings: [] });
  });
}

Deno.test("checkCertificate() takes a good certificate, and doubts one whose time is over or has not begun", async () => {
  assertEquals(await summaryOf(TLS), { mistakes: [], warnings: [] });
  const { mistakes, warnings } = await summaryOf(EXPIRED);
  assertEquals([mistakes.length, warnings.length], [0, 1]);
  assertMatch(warnings[0], /^server\.tls\.cert: .*callers refuse it since 2025-02-01/);
  const early = await summaryOf(TLS, Date.UTC(2001, 1, 1));
  assertEquals(early.mistakes, []);
  assertMatch(
    early.warnings.join(),
    /^server\.tls\.cert: [^,]*\(callers refuse it before 20\d\d-\d\d-\d\d\)/,
  );
});

Deno.test("checkClientTls() says which file of a provider is wrong", async () => {
  const at = new URL("../support/tls/", import.meta.url).pathname;
  const said = async (tls: unknown) => {
    const report = openReport(new Map());
    await checkClientTls(tls, report, ["providers", "p", "tls"]);
    return [
      report.mistakes.map(({ path, message }) => `${path}: ${message.replace(/, got .*/, "")}`),
      [...report.warnings].map((line) => line.replace(/, got .*/, "")),
    ];
  };
  const ca = `${at}ca.pem`;
  assertEquals(await said({ ca, cert: `${at}cert.pem`, key: `${at}key.pem` }), [[], []]);
  assertEquals(await said({ ca }), [[], []]);
  // The types are checked elsewhere.
  assertEquals(await said({ ca: 5, cert: null, key: `${at}key.pem` }), [[], []]);
  for (const wrong of ["/no/such/file.pem", `${at}key.pem`]) {
    assertEquals(await said({ ca: wrong }), [
      ["providers.p.tls.ca: expected the path of a file with certificates in PEM"],
      [],
    ]);
  }
  assertEquals(await said({ cert: `${at}cert.pem`, key: `${at}other_key.pem` }), [
    ["providers.p.tls.key: expected the path of the certificate's own private key"],
    [],
  ]);
  const [mistakes, [warning]] = await said({ cert: `${at}expired_cert.pem`, key: `${at}expired_key.pem` });
  assertEquals(mistakes, []);
  assertMatch(
    warning,
    /tls\.cert: expected a certificate whose time is not over \(the provider refuses it since/,
  );
});
