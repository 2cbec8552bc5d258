import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { DEFAULT_TYPES, resolveEntityTypes } from "../../src/dlp/entities.ts";
import { detector } from "../../src/dlp/scan.ts";

function found(text: string, ...names: string[]): string[] {
  const types = names.length > 0 ? resolveEntityTypes(names).types : DEFAULT_TYPES;
  return detector(types).scan(text).map((f) => `${f.entityType} ${text.slice(f.start, f.end)}`);
}

Deno.test("detector() is one object for one set of types", () => {
  assertStrictEquals(detector(new Set(["JWT", "CVV"])), detector(new Set(["CVV", "JWT"])));
});

Deno.test("scan() reports type, category, span and confidence in order of the text", () => {
  const text = "mail jane@corp.example, card 4111 1111 1111 1111";
  assertEquals(detector(DEFAULT_TYPES).scan(text), [
    { category: "pii", entityType: "EMAIL_ADDRESS", start: 5, end: 22, confidence: 0.95 },
    { category: "financial", entityType: "CREDIT_CARD", start: 29, end: 48, confidence: 0.95 },
  ]);
});

Deno.test("scan() counts UTF-16 units behind astral characters and maps folded spans back", () => {
  assertEquals(found("😀😀 ssn 536-90-4399 😀", "US_SSN"), ["US_SSN 536-90-4399"]);
  assertEquals(found("😀 SSN: ５３６-９０-４３９９!", "US_SSN"), ["US_SSN ５３６-９０-４３９９"]);
  assertEquals(found("card 4111\u200b1111 1111\u00a01111", "CREDIT_CARD"), [
    "CREDIT_CARD 4111\u200b1111 1111\u00a01111",
  ]);
});

Deno.test("scan() reports the encoded run of an encoded value", () => {
  const run = btoa("value: 5500-0000-0000-0004 end");
  assertEquals(found(`Card: ${run}`, "CREDIT_CARD"), [`CREDIT_CARD ${run}`]);
});

Deno.test("scan() keeps the longest of overlapping findings", () => {
  assertEquals(found("postgres://bob:hunter2secret@db.internal/x", "SECRET", "EMAIL_ADDRESS"), [
    "DATABASE_CONNECTION_STRING postgres://bob:hunter2secret@db.internal",
  ]);
});

Deno.test("scan() finds a value wherever a segment of a long text ends", () => {
  const filler = "All work and no play makes a dull text for a scanner to read.\n".repeat(700);
  const secret = "my card is 4111 1111 1111 1111 ok";
  for (const at of [32_700, 32_740, 32_760, 32_768, 32_790, 31_000, 30_700]) {
    const text = filler.slice(0, at) + secret + filler;
    const all = detector(new Set(["CREDIT_CARD"])).scan(text);
    assertEquals(all.map((f) => text.slice(f.start, f.end)), ["4111 1111 1111 1111"], `at ${at}`);
  }
});

Deno.test("scanSliced() yields and returns what scan() does", () => {
  const text = "Call +44 20 7946 0958 about token ghp_cxwze03xgmbyhrksa3hll9h2cacecqzd377y. ".repeat(3000);
  const detect = detector(DEFAULT_TYPES);
  const slices = detect.scanSliced(text);
  let yields = 0;
  let step = slices.next();
  for (; !step.done; step = slices.next()) yields++;
  assert(yields > 0);
  assertEquals(step.value, detect.scan(text));
  assertEquals(step.value.length, 6000);
});

Deno.test("scan() reports numbers that pass one weak check only with a name, or alone", () => {
  assertEquals(found("order 046454286 shipped", "CA_SIN"), []);
  assertEquals(found("SIN 046454286 on file", "CA_SIN"), ["CA_SIN 046454286"]);
  assertEquals(found("046454286", "CA_SIN"), ["CA_SIN 046454286"]);
  assert(found("046454286").includes("CA_SIN 046454286"));
  // Times, days, round numbers and rows of digits pass a check as often as others, and say nothing.
  for (
    const ordinary of ["1700000000000", "1712345678", "20240131", "123456789", "1000000000", "121212121212"]
  ) {
    assertEquals(found(ordinary), [], ordinary);
  }
});

Deno.test("scan() reports every type that a number fits equally well", () => {
  const types = found("046454286", "CA_SIN", "IL_ID", "US_NPI");
  assertEquals(types.toSorted(), ["CA_SIN 046454286", "IL_ID 046454286"]);
});

Deno.test("scan() passes over parts of longer numbers, amounts, dates and versions", () => {
  assertEquals(found("x 123-45-6789-0 y, 0.4111111111111111, $411111111111111, 2013-2020, v10.2.3.4"), []);
  assertEquals(found("id 550e8400-e29b-41d4-a716-446655440000"), []);
  assertEquals(found("copyright 1999-2001, part 555-123-4567-A"), []);
});

Deno.test("scan() passes over placeholders and examples", () => {
  for (
    const text of [
      'api_key = "your-api-key-here"',
      "token: ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
      "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE",
      "password=${DB_PASSWORD}",
      "password: process.env.PASSWORD",
      "https://user:password@example.com/",
      "Authorization: Bearer $TOKEN",
      "const secretKey = getSecretKeyFromEnvironment",
      "tokenCount: 123456789012",
    ]
  ) assertEquals(found(text, "SECRET"), [], text);
});

Deno.test("scan() finds credentials by issuer, shape, address and neighbouring word", () => {
  const cases: [string, string][] = [
    ["key AKIAWNAWN2VASWLPJKIH here", "AWS_ACCESS_KEY AKIAWNAWN2VASWLPJKIH"],
    ["npm_xsqzwidd1rxd5wuh78s35s1s0j9o8x8rwuyt", "NPM_TOKEN npm_xsqzwidd1rxd5wuh78s35s1s0j9o8x8rwuyt"],
    ["redis://:p4ssW0rd9@cache:6379", "DATABASE_CONNECTION_STRING redis://:p4ssW0rd9@cache"],
    ["https://bob:tr0ub4dor@git.corp.example/x", "BASIC_AUTH bob:tr0ub4dor"],
    ["DB_PASSWORD=Tr0ub4dor&3", "PASSWORD Tr0ub4dor&3"],
    ['"clientSecret": "q7Zk29xLm4Vb81RtYp03"', "GENERIC_SECRET q7Zk29xLm4Vb81RtYp03"],
    ["curl -u admin:S3cr3t!pw https://x.example", "BASIC_AUTH admin:S3cr3t!pw"],
    ["mailgun 3f1b495289a4592257386d3f8fa22818", "GENERIC_SECRET 3f1b495289a4592257386d3f8fa22818"],
  ];
  for (const [text, want] of cases) assertEquals(found(text, "SECRET"), [want], text);
});

Deno.test("scan() finds a key block whole, escaped line breaks and all", () => {
  const body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj7d8fK2p0QzX1";
  const block = `-----BEGIN RSA PRIVATE KEY-----\n${body}\n${body}\n-----END RSA PRIVATE KEY-----`;
  assertEquals(found(`a ${block} b`, "SECRET"), [`PRIVATE_KEY ${block}`]);
  const escaped = JSON.stringify(block).slice(1, -1);
  assertEquals(found(`"${escaped}"`, "SECRET"), [`PRIVATE_KEY ${escaped}`]);
  assertEquals(
    found("-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0B\n-----END PUBLIC KEY-----", "SECRET"),
    [],
  );
});

Deno.test("scan() finds addresses of mail, hosts and interfaces", () => {
  assertEquals(found("to <a.b+c@sub.example.co.uk>, user (at) example (dot) com", "EMAIL_ADDRESS"), [
    "EMAIL_ADDRESS a.b+c@sub.example.co.uk",
    "EMAIL_ADDRESS user (at) example (dot) com",
  ]);
  assertEquals(found("sprite@2x.png git@github.com:a/b @scope/pkg@1.2.3", "EMAIL_ADDRESS"), []);
  assertEquals(found("from 203.0.113.77 and 2001:db8::8a2e:370:7334, std::vector 12:30:45", "NETWORK"), [
    "IP_ADDRESS 203.0.113.77",
    "IP_ADDRESS 2001:db8::8a2e:370:7334",
  ]);
  assertEquals(found("mac 00:1A:2B:3C:4D:5E or AA-BB-CC-DD-EE-FF", "MAC_ADDRESS"), [
    "MAC_ADDRESS 00:1A:2B:3C:4D:5E",
    "MAC_ADDRESS AA-BB-CC-DD-EE-FF",
  ]);
});

Deno.test("scan() finds telephone numbers of assigned ranges, extensions included", () => {
  assertEquals(found("ring +49 30 901820, (415) 555-0132 x12 or +1-555-123-4567.", "PHONE_NUMBER"), [
    "PHONE_NUMBER +49 30 901820",
    "PHONE_NUMBER (415) 555-0132 x12",
    "PHONE_NUMBER +1-555-123-4567",
  ]);
});

Deno.test("scan() finds persons' data on request only", () => {
  const text = "My name is Ada Brandt, born on 12 March 1981, aged 44.";
  assertEquals(found(text), []);
  assertEquals(found(text, "PERSON_DATA"), [
    "PERSON Ada Brandt",
    "DATE_OF_BIRTH 12 March 1981",
    "AGE 44",
  ]);
  assertEquals(found("DOB: 31.02.1990", "DATE_OF_BIRTH"), []);
});

Deno.test("scan() keeps a long token whole where a segment would end inside it", () => {
  const part = btoa(JSON.stringify({ sub: "x7Kp2Qz9".repeat(600) })).replaceAll("=", "");
  const token = `eyJhbGciOiJIUzI1NiJ9.${part}.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg`;
  const text = `${"words ".repeat(5000)}${token} ${"words ".repeat(5000)}`;
  assertEquals(found(text, "JWT"), [`JWT ${token}`]);
});

Deno.test("values that fill neighbouring lines are not taken for one value over two lines", () => {
  const text = "4539578763621486\njo.doe@example.com\n";
  const found = detector(resolveEntityTypes(undefined).types).scan(text);
  assertEquals(found.map(({ entityType, start, end }) => [entityType, start, end]), [
    ["CREDIT_CARD", 0, 16],
    ["EMAIL_ADDRESS", 17, 35],
  ]);
});

Deno.test("scan() takes a number in brackets for what names it, and not for a telephone with the bracket", () => {
  const text = "numer NIP (8567346215) was rejected";
  const found = detector(DEFAULT_TYPES).scan(text);
  assertEquals(found.map(({ entityType, start, end }) => [entityType, text.slice(start, end)]), [
    ["PL_NIP", "8567346215"],
  ]);
});

Deno.test("scan() knows names that folding takes apart", () => {
  for (const text of ["เลขประจำตัวประชาชน 3456789012347", "Tel 12, เลขประจำตัวประชาชน: 3456789012347 ok"]) {
    const found = detector(DEFAULT_TYPES).scan(text);
    assert(found.some(({ entityType }) => entityType === "TH_TNIN"), text);
  }
});

Deno.test("scan() takes no word of the next line or the one before into a value that ends or begins a line", () => {
  const token = "ghp_qMOVIOcpebh7DL7zOlcpYdPNEL4hgv4nA9sK";
  const wanted = ["SECRET", "FINANCIAL", "CONTACT", "NATIONAL_ID", "NETWORK"];
  for (
    const [value, type] of [
      [token, "GITHUB_TOKEN"],
      ["jane@corp.example", "EMAIL_ADDRESS"],
      ["+49 30 901820", "PHONE_NUMBER"],
      ["sk-proj-qMOVIOcpebh7DL7zOlcpYdPNEL4hgv4nqMOVIOcpebh7DL7zOlcp", "OPENAI_API_KEY"],
      ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4N0twMlF6OSJ9.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg", "JWT"],
    ]
  ) {
    for (
      const [lead, trail] of [["", "\nThanks"], ["Dear all,\nJohn\n", "\nBest regards"], ["", "\r\n12 items"]]
    ) {
      assertEquals(
        found(lead + value + trail, ...wanted),
        [`${type} ${value}`],
        JSON.stringify(lead + trail),
      );
    }
  }
  // What is torn off a token is as strange as the token.
  const torn = `${token.slice(0, 30)}\n${token.slice(30)}`;
  assertEquals(found(`${torn}\nThanks`, "SECRET"), [`GITHUB_TOKEN ${torn}`]);
});

Deno.test("scan() reads escapes of eight hexadecimal digits, and finds no value in the digits of one escape", () => {
  const card = [..."4111"].map((c) => `\\U000000${c.charCodeAt(0).toString(16)}`).join("");
  assertEquals(found(`${card} 1111 1111 1111`, "CREDIT_CARD"), [`CREDIT_CARD ${card} 1111 1111 1111`]);
  assertEquals(found("\\x{34}111 1111 1111 1111", "CREDIT_CARD"), ["CREDIT_CARD \\x{34}111 1111 1111 1111"]);
  assertEquals(found("dni: \\U0000201D", "ES_NIF"), []);
  const wallet = "0x0000000000000000000000000000000000000001";
  assertEquals(found(wallet, "CRYPTO"), [`CRYPTO ${wallet}`]);
  assertEquals(found("cuit=20451813979&p=2", "AR_CUIT"), ["AR_CUIT 20451813979"]);
  assertEquals(found("TIN=40361628579", "DE_TAX_ID", "US_SSN"), ["DE_TAX_ID 40361628579"]);
});

Deno.test("scan() reads bytes as databases and JSON write them, and strings that a program puts together", () => {
  const card = "4111 1111 1111 1111";
  const bytes = [...card].map((c) => c.charCodeAt(0));
  const hex = bytes.map((byte) => byte.toString(16)).join("");
  for (
    const [lead, run] of [["INSERT ", `0x${hex}`], ["bytea ", `\\x${hex}`], ["[", bytes.join(",")], [
      "[",
      bytes.join(", "),
    ]]
  ) {
    assertEquals(found(`${lead}${run}]`, "CREDIT_CARD"), [`CREDIT_CARD ${run}`]);
  }
  const token = "ghp_nECfvPTyfTgWVhiHG3AqUK06ynaynipyef8n";
  for (const sign of ['" + "', '"+"', '" +\n    "']) {
    const cut = `${token.slice(0, 20)}${sign}${token.slice(20)}`;
    assertEquals(found(`const key = "${cut}";`, "SECRET"), [`GITHUB_TOKEN ${cut}`]);
  }
  assertEquals(found('"4111 1111 " + "1111 1111"', "CREDIT_CARD"), ['CREDIT_CARD 4111 1111 " + "1111 1111']);
  // Numbers that are no text, and a sum of strings that is no value.
  assertEquals(found("[12, 255, 300, 41, 11, 11, 11, 11, 11, 11, 11]", "CREDIT_CARD"), []);
  assertEquals(found('"Total: " + "12"', "SECRET", "FINANCIAL"), []);
});
