/**
 * Conversations without a word in them: empty texts, empty lists, references to what is stored elsewhere. A provider gets a
 * request that it accepts, or the caller hears which field holds nothing.
 */
import { assert, assertEquals } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import type { Loose } from "../../src/exchange/json.ts";
import { checkModelRequest, TARGETS } from "./check_model_request.ts";
import { type Caller, CALLERS, convert } from "./conversions.ts";

const TEXTS = ["", " ", "\n"];

/** Of each message: who speaks, in a small letter with words, in a large one with nothing to say. */
const SHAPES = ["U", "sU", "S", "UA", "UAU", "A", "sS", "Us", "sUA", "SUs", "ss", "s", "sA", "uAU", "Ua"];

const ROLES: Readonly<Record<string, string>> = { s: "system", u: "user", a: "assistant" };

function contents(caller: Caller, role: string, said: string | null): unknown[] {
  const type = caller !== "responses" ? "text" : role === "assistant" ? "output_text" : "input_text";
  if (said !== null) return [said];
  return [...TEXTS, [], ...TEXTS.map((text) => [{ type, text }])];
}

/** Every request of a shape: one for each way to say nothing. */
function requests(caller: Caller, shape: string): Loose[] {
  const count = contents(caller, "user", null).length;
  return Array.from({ length: count }, (_, i) => {
    const list = [...shape].map((letter) => {
      const role = ROLES[letter.toLowerCase()];
      const ways = contents(caller, role, letter === letter.toLowerCase() ? "Be brief." : null);
      return { role, content: ways[i % ways.length] };
    });
    if (caller === "responses") return { input: list };
    return { messages: list, ...(caller === "messages" && { max_tokens: 99 }) };
  });
}

const STORED = { type: "item_reference", id: "rs_1" };

/** Items that say nothing to anybody else. */
const ITEMS: readonly Loose[][] = [
  [STORED],
  [STORED, { id: "msg_1" }],
  [STORED, { role: "user", content: "" }],
  [{ type: "reasoning", summary: [] }],
  [{ type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAA" }],
  [{ type: "web_search_call", id: "ws_1" }],
  [{ type: "svc:web_search", id: "ws_1" }],
  [{ type: "compaction", id: "cmp_1", encrypted_content: "x" }],
];

const ALL: readonly (readonly [Caller, Loose])[] = [
  ...CALLERS.flatMap((caller) =>
    SHAPES.flatMap((shape) => requests(caller, shape).map((body) => [caller, body] as const))
  ),
  ...ITEMS.flatMap((input) => [
    ["responses", { input }] as const,
    ["responses", { input, instructions: "Be brief." }] as const,
  ]),
];

Deno.test("a conversation without words is refused by name, or reaches every model in a form that it accepts", () => {
  let refused = 0;
  let sent = 0;
  for (const [caller, body] of ALL) {
    for (const [target, model] of TARGETS) {
      let converted;
      try {
        converted = convert(caller, body, target, model);
      } catch (thrown) {
        if (!(thrown instanceof Failure)) throw thrown;
        assertEquals(thrown.code, "validation_error");
        assertEquals(thrown.param, caller === "responses" ? "input" : "messages", JSON.stringify(body));
        refused++;
        continue;
      }
      sent++;
      const shown = `${target} ${JSON.stringify(body)}`;
      const list = [converted.body.messages, converted.body.input, converted.body.contents].find(
        Array.isArray,
      );
      assert(list!.length > 0, shown);
      if (target !== caller) checkModelRequest(target, model, converted.body);
      // Words that there are get there.
      if (JSON.stringify(body).includes("Be brief.")) {
        assert(JSON.stringify(converted.body).includes("Be brief."), shown);
      }
    }
  }
  assert(refused > 100 && sent > 500, `${refused} refused, ${sent} sent`);
});

Deno.test("references to stored items that are all there is are refused with what is wrong with them", () => {
  for (const [target, model] of TARGETS) {
    try {
      convert("responses", { input: [STORED] }, target, model);
      assert(false, target);
    } catch (thrown) {
      assertEquals(
        (thrown as Error).message,
        "Cannot send input: expected some text, attachment or tool call for the model: " +
          "references to stored items mean nothing here, where nothing is stored.",
      );
    }
  }
});
