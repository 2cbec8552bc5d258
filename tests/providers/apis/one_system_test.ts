/** Servers whose templates refuse a system message that is not the first one ("System message must be at the beginning"). */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { Failure } from "../../../src/exchange/failure.ts";
import { CALLERS } from "../../formats/conversions.ts";
import { REQUESTS } from "../../formats/random_requests.ts";
import { sentRequest } from "./sent_request.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const CALL = { type: "function", function: { name: "look", arguments: "{}" } };
const text = (role: string, content: unknown) => ({ role, content });
const TWO_CALLS = {
  role: "assistant",
  content: null,
  tool_calls: [{ id: "a", ...CALL }, { id: "b", ...CALL }],
};
const result = (id: string) => ({ role: "tool", tool_call_id: id, content: id });
const note = (said: string) => `<system>\n${said}\n</system>`;

/** Messages, and what a server gets of them whose templates want one system message, the first. */
const SYSTEMS: readonly (readonly [string, Any[], Any[]])[] = [
  ["one, as it is", [text("system", "a"), text("user", "u")], [text("system", "a"), text("user", "u")]],
  [
    "several first ones, joined",
    [
      text("system", "a"),
      text("developer", "b"),
      text("system", [{ type: "text", text: "c" }]),
      text("user", "u"),
    ],
    [text("system", [{ type: "text", text: "a\n\nb" }, { type: "text", text: "c" }]), text("user", "u")],
  ],
  [
    "one behind the user's text, with it",
    [text("system", "a"), text("user", "u"), text("system", "b"), text("assistant", "v"), text("user", "w")],
    [text("system", "a"), text("user", `u\n\n${note("b")}`), text("assistant", "v"), text("user", "w")],
  ],
  [
    "one before the user's text, with it",
    [
      text("user", "u"),
      text("assistant", "v"),
      text("system", "b"),
      text("user", [{ type: "text", text: "w" }]),
    ],
    [
      text("user", "u"),
      text("assistant", "v"),
      text("user", [{ type: "text", text: note("b") }, { type: "text", text: "w" }]),
    ],
  ],
  [
    "one among the results of calls, behind them",
    [text("user", "u"), TWO_CALLS, text("system", "b"), result("a"), text("system", "c"), result("b")],
    [text("user", "u"), TWO_CALLS, result("a"), result("b"), text("user", `${note("b")}\n\n${note("c")}`)],
  ],
  [
    "an empty one, not at all",
    [text("user", "u"), text("system", " "), text("assistant", "v"), text("user", "w")],
    [text("user", "u"), text("assistant", "v"), text("user", "w")],
  ],
  ["one alone behind the user's", [text("user", "u"), text("developer", "b")], [
    text("user", `u\n\n${note("b")}`),
  ]],
];

for (const [what, messages, expected] of SYSTEMS) {
  Deno.test(`servers with templates of one system message get ${what}`, () => {
    for (const preset of ["alibaba", "fireworks", "llamacpp", "lmstudio", "minimax", "vllm"]) {
      const { body, dropped } = sentRequest(preset, "chat_completions", { messages });
      assertEquals([body.messages, dropped], [expected, []]);
    }
    // Others get the messages where they were.
    const { body } = sentRequest("openrouter", "chat_completions", { messages });
    assertEquals(body.messages.length, messages.length);
  });
}

Deno.test("a messages caller's later system text reaches servers with templates of one system message", () => {
  const { body } = sentRequest("vllm", "messages", {
    max_tokens: 9,
    system: [{ type: "text", text: "a" }],
    messages: [text("user", "u"), text("system", "b"), text("assistant", "v"), text("system", "c")],
  });
  assertEquals(body.messages.map(({ role }: Any) => role), ["system", "user", "assistant", "user"]);
  assertEquals(JSON.stringify(body.messages).match(/<system>.{0,9}<\/system>/g)?.length, 2);
});

for (const caller of CALLERS) {
  Deno.test(`whatever ${caller} callers send by chance, only the first message is of the system and calls keep their results`, () => {
    let later = 0;
    for (const sampled of fc.sample(REQUESTS[caller], { numRuns: 300, seed: 23 })) {
      let plain: Any[];
      let fitted: Any[];
      try {
        plain = sentRequest("nebius", caller, structuredClone(sampled)).body.messages;
        fitted = sentRequest("vllm", caller, structuredClone(sampled)).body.messages;
      } catch (thrown) {
        assert(thrown instanceof Failure, String(thrown));
        continue;
      }
      const isSystem = ({ role }: Any) => role === "system" || role === "developer";
      assertEquals(fitted.slice(1).filter(isSystem), []);
      if (plain.slice(1).some(isSystem)) later++;
      // All but what the system and the user say is as it was, and in the same order.
      const others = (messages: Any[]) => messages.filter((one) => !isSystem(one) && one.role !== "user");
      assertEquals(others(fitted), others(plain));
      // What stands before each result of a call.
      const before = (messages: Any[]) => {
        const spoken = messages.filter((one) => !isSystem(one));
        return spoken.flatMap(({ role }, i) => role === "tool" ? [spoken[i - 1]?.role] : []);
      };
      assertEquals(before(fitted), before(plain));
      const said = JSON.stringify(fitted);
      for (const { content } of plain.filter(isSystem)) {
        for (const part of typeof content === "string" ? [{ text: content }] : content) {
          if (part.text.trim() !== "") {
            assert(said.includes(JSON.stringify(part.text).slice(1, -1)), part.text);
          }
        }
      }
    }
    assert(later > 5, `${later}`);
  });
}
