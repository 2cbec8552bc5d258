import { assertEquals } from "@std/assert";
import { placeholders, unmasked } from "../../src/dlp/placeholders.ts";

Deno.test("placeholders() gives spellings of one value one number, but not of a secret", () => {
  const names = placeholders([]);
  assertEquals(names.of("CREDIT_CARD", "financial", "4111 1111 1111 1111"), "<CREDIT_CARD_1>");
  assertEquals(names.of("CREDIT_CARD", "financial", "4111-1111-1111-1111"), "<CREDIT_CARD_1>");
  assertEquals(names.of("CREDIT_CARD", "financial", "４１１１111111111111"), "<CREDIT_CARD_1>");
  assertEquals(names.of("CREDIT_CARD", "financial", "5500 0000 0000 0004"), "<CREDIT_CARD_2>");
  assertEquals(names.of("API_KEY", "secret", "abcDEF123"), "<API_KEY_1>");
  assertEquals(names.of("API_KEY", "secret", "ABCdef123"), "<API_KEY_2>");
  assertEquals(names.originals.get("<CREDIT_CARD_1>"), "4111 1111 1111 1111");
});

Deno.test("placeholders() names patterns by letters, digits and underscores", () => {
  const names = placeholders(["<ORDER_NO_1>"]);
  assertEquals(names.of("order no.", "regex", "a"), "<ORDER_NO_2>");
  assertEquals(names.of("№", "regex", "a"), "<VALUE_1>");
  assertEquals(names.of("x".repeat(100), "regex", "a"), `<${"X".repeat(40)}_1>`);
});

Deno.test("unmasked() is the reverse of masking, also where one placeholder swallowed another", () => {
  const names = placeholders([]);
  names.of("PASSWORD", "secret", "s3cret");
  names.of("BASIC_AUTH", "secret", "bob:<PASSWORD_1>");
  assertEquals(unmasked("see <BASIC_AUTH_1> and <OTHER_1>", names.originals), "see bob:s3cret and <OTHER_1>");
});

Deno.test("placeholders() gives values that differ in their signs alone a number each", () => {
  const names = placeholders([]);
  for (
    const [type, category, ...values] of [
      ["DATE_OF_BIRTH", "pii", "1/11/1980", "11/1/1980"],
      ["IP_ADDRESS", "pii", "1.11.1.1", "11.1.1.1"],
      ["URL", "pii", "https://x.example/1/23", "https://x.example/12/3", "https://x.example/A/23"],
      ["STREET_ADDRESS", "pii", "1 23rd Street", "12 3rd Street"],
      ["ORDER", "regex", "AB-1-23", "AB-12-3", "ab-12-3"],
      ["STOP_WORD", "stop_word", "plan 1.23", "plan 12.3"],
      ["CRYPTO", "financial", "1BoatSLRHtKNngkdXEeobR76b53LETtpyT", "1BoatSLRHtKNngkdXEeobR76b53LETtpyt"],
    ]
  ) {
    const given = values.map((value) => names.of(type, category, value));
    assertEquals(new Set(given).size, values.length, values.join(" "));
    assertEquals(given.map((placeholder) => names.originals.get(placeholder)), values);
  }
  const numbers = ["+1 415 555-0132", "+1 (415) 555 0132"].map((value) =>
    names.of("PHONE_NUMBER", "pii", value)
  );
  assertEquals(numbers, ["<PHONE_NUMBER_1>", "<PHONE_NUMBER_1>"]);
});

Deno.test("placeholders() skips numbers that the request has in another spelling or case", () => {
  const texts = [
    "<email_address_1>",
    String.raw`\u003cEMAIL_ADDRESS_2\u003e`,
    "&lt;EMAIL_ADDRESS_3&gt;",
    String.raw`\<EMAIL\_ADDRESS\_4\>`,
    "%3CEMAIL_ADDRESS_5%3E",
  ];
  assertEquals(placeholders(texts).of("EMAIL_ADDRESS", "pii", "jo@example.com"), "<EMAIL_ADDRESS_6>");
});
