import { assert, assertEquals } from "@std/assert";
import { ALL_ENTITY_NAMES, categoryOf, DEFAULT_TYPES, resolveEntityTypes } from "../../src/dlp/entities.ts";

Deno.test("resolveEntityTypes() without a list means the default set", () => {
  const { types, unknown } = resolveEntityTypes(undefined);
  assertEquals(types, new Set(DEFAULT_TYPES));
  assertEquals(unknown, []);
  assert(types.has("GITHUB_TOKEN") && types.has("CREDIT_CARD") && types.has("US_SSN"));
  assert(!types.has("URL") && !types.has("PERSON") && !types.has("IP_ADDRESS"));
});

Deno.test("resolveEntityTypes() hands back a set that the caller may change", () => {
  resolveEntityTypes(undefined).types.clear();
  assert(resolveEntityTypes(undefined).types.size > 100);
});

Deno.test("resolveEntityTypes() takes names, groups and aliases in any letter case", () => {
  assertEquals(resolveEntityTypes(["email_address"]).types, new Set(["EMAIL_ADDRESS"]));
  assertEquals(resolveEntityTypes(["CRYPTO_ETH", "bic-swift"]).types, new Set(["CRYPTO", "SWIFT_CODE"]));
  assertEquals(
    resolveEntityTypes(["network"]).types,
    new Set(["IP_ADDRESS", "MAC_ADDRESS", "IMEI", "ICCID"]),
  );
  assert(resolveEntityTypes(["SECRET"]).types.has("JWT"));
});

Deno.test("resolveEntityTypes() lists unknown names as they were sent", () => {
  const { types, unknown } = resolveEntityTypes(["Shoe_Size", "US_SSN", "constructor", "__proto__"]);
  assertEquals(types, new Set(["US_SSN"]));
  assertEquals(unknown, ["Shoe_Size", "constructor", "__proto__"]);
});

Deno.test("resolveEntityTypes() of an empty list looks for nothing", () => {
  assertEquals(resolveEntityTypes([]).types.size, 0);
});

Deno.test("ALL_ENTITY_NAMES resolves, every one", () => {
  assertEquals(resolveEntityTypes(ALL_ENTITY_NAMES).unknown, []);
});

Deno.test("categoryOf() files types under the four categories of findings", () => {
  assertEquals(categoryOf("IBAN_CODE"), "financial");
  assertEquals(categoryOf("PL_PESEL"), "national_id");
  assertEquals(categoryOf("JWT"), "secret");
  assertEquals(categoryOf("IP_ADDRESS"), "pii");
});
