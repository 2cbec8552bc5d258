/** What the administration says of parameters that it does not read. */
import { assertEquals } from "@std/assert";
import { refuseUnknownQuery } from "../../src/http/known_query.ts";
import { Failure } from "../../src/exchange/failure.ts";
import { testGateway } from "../support/gateway.ts";

const KNOWN = {
  parameters: [
    { name: "model", in: "query", description: "" },
    { name: "limit", in: "query", description: "" },
    { name: "id", in: "path", description: "" },
  ] as const,
};

function refusal(query: string, endpoint: Parameters<typeof refuseUnknownQuery>[0] = KNOWN): string | null {
  try {
    refuseUnknownQuery(endpoint, `http://h/admin/x${query}`);
    return null;
  } catch (thrown) {
    return (thrown as Failure).message;
  }
}

Deno.test("a parameter that is unknown or comes twice is refused by its name", () => {
  for (const query of ["", "?", "?model=a&limit=1", "?model=", "?limit=a%26b=c"]) {
    assertEquals(refusal(query), null, query);
  }
  const known = "known are model, limit";
  assertEquals(
    refusal("?modle=a"),
    `Cannot read modle: unknown parameter; nearest is model; ${known}.`,
  );
  assertEquals(refusal("?model=a&_=1"), `Cannot read _: unknown parameter; ${known}.`);
  assertEquals(refusal("?id=1"), `Cannot read id: unknown parameter; ${known}.`);
  assertEquals(refusal("?model=a&model=b"), "Cannot read model: expected it once, got it more than once.");
  assertEquals(refusal("?x", {}), "Cannot read x: unknown parameter; there are none.");
});

Deno.test("a list of the administration with a misspelt filter is no list of everything", async () => {
  const adminKey = "admin-key-of-a-test-0123";
  const { url, close } = await testGateway({ demo: { api: "demo", url: "" } }, { admin_key: adminKey });
  const ask = async (path: string, key = adminKey) => {
    const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } });
    return [response.status, (await response.json()).error?.code ?? null];
  };
  assertEquals(await ask("/admin/generations?kye=dev"), [422, "validation_error"]);
  assertEquals(await ask("/admin/generations?key=dev"), [200, null]);
  assertEquals((await ask("/admin/generations?kye=dev", "wrong"))[0], 401);
  await close();
});
