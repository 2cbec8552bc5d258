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
