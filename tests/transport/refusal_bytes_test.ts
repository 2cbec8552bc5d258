/** Refusals of what could not be read as a request of an endpoint. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { FAILURES } from "../../src/exchange/failure.ts";
import { refusalBytes } from "../../src/transport/response_bytes.ts";

Deno.test("refusalBytes() gives the type that failures of endpoints with the same status have", () => {
  for (const status of [400, 408, 413, 503] as const) {
    const text = new TextDecoder().decode(refusalBytes(status, "it is not one", ""));
    const { error } = JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4));
    const kinds = Object.entries(FAILURES).filter(([code, row]) =>
      // A request that asks for what is off, whose status is an exception.
      row.status === status && code !== "dlp_unavailable"
    ).map(([, { kind }]) => kind);
    assertEquals([...new Set(kinds)], [error.type], `${status}`);
  }
});

Deno.test("each refusal has an id of its own, as every answer has one", () => {
  const ids = Array.from({ length: 3 }, () => {
    const text = new TextDecoder().decode(refusalBytes(400, "it is not one", ""));
    const [, id] = /\r\nx-request-id: (gen_[0-9a-f]{32})\r\n/.exec(text)!;
    assertStringIncludes(text, `\r\nrequest-id: ${id}\r\n`);
    return id;
  });
  assertEquals(new Set(ids).size, 3);
});
