/** Tokens directly beside the signs of diffs, shells, Markdown and sentences, and tokens that are cut. */

import { assert, assertEquals } from "@std/assert";
import { DEFAULT_TYPES } from "../../src/dlp/entities.ts";
import { detector } from "../../src/dlp/scan.ts";

const { scan } = detector(DEFAULT_TYPES);

const TOKENS: Readonly<Record<string, string>> = {
  SENDGRID_API_KEY: "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",
  AZURE_DEVOPS_TOKEN: "7QzLm4Vb81RtYp03nWe5sHc9Jd2fQm7LxKp2Qz3f9Zk29xLm4Vb81RtYp03nWe5sHc9Jd2fQm7LxAZDO4Vb8",
  TELEGRAM_BOT_TOKEN: "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1",
  AZURE_KEY: "HaX1Q~0D-_Dp~IdlSIoQ8Xio2nOYBs.MS6vjhgIw",
  PASSWORD_HASH: "$2b$12$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy",
};
/** Of services without a type of their own. */
const API_KEYS = [
  "895c930d14b7e8f0cd129fb5f2899f96-us17",
  "zY9eoQHYqQzbms.atlasv1.EQcHxwrm67W87VJ81d8fi6TU7PYLuYAWR9OgYxGk2m41bVvQpLs9dTz3Wn8kR4t",
  "hvb.HOgHIsWvMIhrF97vvVhCF3adT3s9yife7GWs1",
  "dp.pt.zioea99hmatx9awlmckdhmywzz5lhp4um7c479om1jv",
];
const SIGNS: readonly ((token: string) => string)[] = [
  (token) => `-${token}`,
  (token) => `+${token}`,
  (token) => `T="\${T:-${token}}"`,
  (token) => `bob: it is ${token}.`,
  (token) => `see ${token}, ok`,
];

Deno.test("scan() finds tokens beside the signs of diffs, shells and sentences", () => {
  const all = [...Object.entries(TOKENS), ...API_KEYS.map((key) => ["API_KEY", key] as const)];
  for (const [type, token] of all) {
    for (const write of SIGNS) {
      const text = write(token);
      const found = scan(text).find(({ entityType }) => entityType === type);
      assert(found && text.slice(found.start, found.end).includes(token), text);
    }
  }
});

const TOKEN =
  "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c";

Deno.test("scan() finds the whole of a JSON web token that is cut, or stands behind two levels of escapes", () => {
  const texts = [
    `a = "${TOKEN.slice(0, 60)}" + "${TOKEN.slice(60)}"`,
    `a = "${TOKEN.slice(0, 40)}" +\n  "${TOKEN.slice(40, 90)}" +\n  "${TOKEN.slice(90)}";`,
    `a=${TOKEN.slice(0, 50)}\\\n${TOKEN.slice(50)} x`,
    `${TOKEN.slice(0, 50)}\x01${TOKEN.slice(50)}`,
    `see: ${TOKEN.replace(/(.{60})/g, "$1=\r\n")}`,
    `https://a.example/?next=%252Fcb%253Ft%253D${TOKEN}%2526x%253D1`,
  ];
  for (const text of texts) {
    const found = scan(text).filter(({ entityType }) => entityType === "JWT");
    assertEquals(found.length, 1, text);
    const value = text.slice(found[0].start, found[0].end);
    assert(value.startsWith("eyJ") && value.includes(TOKEN.slice(-12)), text);
  }
});

Deno.test("scan() finds a private key whatever stands before it, and an encoded token in front of it", () => {
  const key = `-----BEGIN PRIVATE KEY-----\n${
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n".repeat(3)
  }-----END PRIVATE KEY-----`;
  for (const lead of ["", "key", "a.b-----", `%20${TOKEN}\n`, `t\\n${TOKEN}\n`, `%3D${TOKEN} `]) {
    const text = `${lead}${key}`;
    const found = scan(text).map(({ entityType, start, end }) => [entityType, text.slice(start, end)]);
    const token = lead.includes(TOKEN) ? [["JWT", TOKEN]] : [];
    assertEquals(found, [...token, ["PRIVATE_KEY", key]], text);
  }
});
