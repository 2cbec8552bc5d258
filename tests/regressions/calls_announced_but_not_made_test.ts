/** An answer that ends with the word for calls and has none ends as an answer: clients would wait for results of nothing. */
import { assertEquals } from "@std/assert";
import { decodeFinish as converse } from "../../src/formats/converse/finish.ts";
import { decodeFinish as messages } from "../../src/formats/messages/finish.ts";

Deno.test("tool_use without a call is a normal end, at both APIs that have the word", () => {
  assertEquals(messages({ stop_reason: "tool_use" }, {}, false).reason, "stop");
  assertEquals(messages({ stop_reason: "tool_use" }, {}, true).reason, "tool-calls");
  assertEquals(converse("tool_use", { more: undefined, hasCalls: false }).reason, "stop");
  assertEquals(converse("tool_use", { more: undefined, hasCalls: true }).reason, "tool-calls");
});

Deno.test("end_turn beside calls that code of the provider made stays the end that it is", () => {
  assertEquals(messages({ stop_reason: "end_turn" }, {}, true).reason, "stop");
});
