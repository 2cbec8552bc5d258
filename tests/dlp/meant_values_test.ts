/** What placeholders stand for where values are written with the escapes of JSON. */
import { assertEquals } from "@std/assert";
import { merge } from "../../src/dlp/merge.ts";
import { readRequestOptions } from "../../src/dlp/request.ts";
import { screenBody } from "../../src/dlp/screen_body.ts";
import { readLeaves } from "../../src/formats/leaves/mod.ts";
import { LEAVES } from "../../src/formats/mod.ts";

const KEY =
  "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj7d8fK2p0QzX1\n-----END PRIVATE KEY-----";
const MAIL = "jörg@müller.example";
const PASSWORD = "Gw07#pL\\m38";
const WISHES = { mode: "mask", restore: true, entity_types: ["PRIVATE_KEY", "EMAIL_ADDRESS", "PASSWORD"] };

/** What the placeholders of a conversation stand for: a text of the caller's, arguments of a call, and its result. */
function originals(text: string, args: string, result: unknown): Record<string, string> {
  const body = {
    messages: [
      { role: "user", content: text },
      { role: "assistant", content: null, tool_calls: [{ function: { name: "f", arguments: args } }] },
      { role: "tool", content: result },
    ],
  };
  const check = merge(null, readRequestOptions(WISHES), { unscannable: "pass", restore: false });
  const work = screenBody(readLeaves(body, LEAVES.chat_completions), check, { budgetMs: 10_000 });
  let step = work.next();
  while (!step.done) step = work.next();
  assertEquals(step.value.action, "mask");
  return Object.fromEntries(step.value.names!.originals);
}

/** As `json.dumps` of Python writes it. */
const ascii = (value: unknown) =>
  JSON.stringify(value).replace(
    /[\u0080-\uffff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
const VALUES = { key: KEY, to: MAIL, password: PASSWORD };
const MEANT = { "<PRIVATE_KEY_1>": KEY, "<EMAIL_ADDRESS_1>": MAIL, "<PASSWORD_1>": PASSWORD };

Deno.test("a placeholder stands for the value, not for how JSON writes it: results of tools", () => {
  assertEquals(originals("hi", "{}", ascii(VALUES)), MEANT);
  assertEquals(originals("hi", "{}", [{ type: "text", text: JSON.stringify([VALUES], null, 2) }]), MEANT);
});

Deno.test("a placeholder stands for the value, not for how JSON writes it: arguments, nested ones too", () => {
  assertEquals(originals("hi", ascii(VALUES), "ok"), MEANT);
  assertEquals(originals("hi", ascii({ body: ascii(VALUES) }), "ok"), MEANT);
  assertEquals(originals("hi", "{}", ascii({ body: ascii({ again: ascii(VALUES) }) })), MEANT);
});

Deno.test("a value has one placeholder, with the escapes of JSON and without them", () => {
  assertEquals(originals(`Write to ${MAIL}\n${KEY}`, ascii({ body: ascii(VALUES) }), ascii(VALUES)), {
    "<EMAIL_ADDRESS_1>": MAIL,
    "<PRIVATE_KEY_1>": KEY,
    "<PASSWORD_1>": PASSWORD,
  });
});

Deno.test("a value outside of JSON is what it is written as, whatever backslashes it has", () => {
  assertEquals(originals("password: aB1\\n4567\\u0041", "{}", "ok"), { "<PASSWORD_1>": "aB1\\n4567\\u0041" });
  assertEquals(originals('He wrote {"password": "aB1\\n4567#x"}', "{}", "ok"), {
    "<PASSWORD_1>": "aB1\\n4567#x",
  });
});
