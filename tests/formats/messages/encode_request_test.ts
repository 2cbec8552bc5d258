/** System texts, turns, results, ids, reasoning and attachments of a prompt in this format. */
import { assertEquals } from "@std/assert";
import { convert } from "../conversions.ts";
import { type Loose } from "../../../src/exchange/json.ts";
import type { Content, Turn } from "../../../src/exchange/prompt.ts";
import { failureOf } from "./support.ts";
import { call, result, sent, text, turn } from "./prompts.ts";

const sentMessages = (...turns: Turn[]) => sent({ turns }).body.messages as Loose[];

Deno.test("encodeRequest() gives leading system text to system and keeps later ones in place", () => {
  const turns: Turn[] = [
    { role: "system", content: [text("A")], plain: true },
    { role: "system", content: [text("B")], plain: true, developer: true },
    { role: "user", content: [text("Hi")], plain: true },
    { role: "assistant", content: [text("Yes")], plain: true },
    { role: "user", content: [text("Go")], plain: true },
    { role: "system", content: [text("C")], plain: true },
  ];
  const { body } = sent({ turns }, { model: "claude-opus-4-8" });
  assertEquals(body.system, [{ type: "text", text: "A" }, { type: "text", text: "B" }]);
  assertEquals(body.messages, [
    { role: "user", content: "Hi" },
    { role: "assistant", content: "Yes" },
    { role: "user", content: "Go" },
    { role: "system", content: "C" },
  ]);
});

Deno.test("encodeRequest() makes later system text the user's where the API or the model refuses it", () => {
  const said = (t: string) => ({ type: "text", text: t });
  const system = (t: string) => said(`<system>\n${t}\n</system>`);
  const turns = [
    turn("user", text("Hi")),
    turn("system", text("A")),
    turn("user", text("there")),
    turn("assistant", call("a")),
    turn("system", text("B"), text(" ")),
    turn("user", result("a", "R")),
    turn("assistant", text("Yes")),
    turn("system", text("C")),
    turn("user", text("Go")),
    turn("system", text("D")),
  ];
  const begun = [
    { role: "user", content: [said("Hi"), system("A"), said("there")] },
    { role: "assistant", content: [{ type: "tool_use", id: "a", name: "f", input: {} }] },
  ];
  const given = { type: "tool_result", tool_use_id: "a", content: "R" };
  const models = [
    "claude-sonnet-4-5",
    "claude-opus-4-7",
    "claude-sonnet-5",
    "claude-mythos-preview",
    "glm-5",
  ];
  for (const model of models) {
    assertEquals(sent({ turns }, { model }).body.messages, [
      ...begun,
      { role: "user", content: [given, system("B")] },
      { role: "assistant", content: [said("Yes")] },
      { role: "user", content: [system("C"), said("Go"), system("D")] },
    ], model);
  }
  const newer = [
    "claude-opus-4-8",
    "claude-opus-latest",
    "claude-fable-5",
    "claude-sonnet-5-5",
    "claude-opus-5",
  ];
  for (const model of newer) {
    assertEquals(sent({ turns }, { model }).body.messages, [
      ...begun,
      { role: "user", content: [given] },
      { role: "system", content: [said("B")] },
      { role: "assistant", content: [said("Yes")] },
      { role: "user", content: [system("C"), said("Go")] },
      { role: "system", content: [said("D")] },
    ], model);
  }
  const refused = sent({ turns }, { model: "claude-opus-5", parameters: { system_messages: false } });
  assertEquals((refused.body.messages as Loose[]).filter(({ role }) => role === "system"), []);
});

Deno.test("a messages caller's later system text is the user's for a Claude that is known to refuse it, all else is as it came", () => {
  const use = { type: "tool_use", id: "toolu_1", name: "f", input: {} };
  const given = { type: "tool_result", tool_use_id: "toolu_1", content: "R" };
  const mark = { cache_control: { type: "ephemeral" } };
  const body = {
    model: "acme/one",
    max_tokens: 9,
    system: "S",
    messages: [
      { role: "user", content: "Hi" },
      { role: "system", content: "A" },
      { role: "assistant", content: [use] },
      { role: "system", content: [{ type: "text", text: "B", ...mark }] },
      { role: "user", content: [given] },
      { role: "user", content: "and" },
      { role: "system", content: "C" },
    ],
  };
  const to = (model: string, parameters = {}) =>
    convert("messages", body, "messages", model, { parameters }).body.messages;
  const folded = [
    { role: "user", content: "Hi" },
    { role: "user", content: "<system>\nA\n</system>" },
    { role: "assistant", content: [use] },
    { role: "user", content: [given] },
    { role: "user", content: [{ type: "text", text: "<system>\nB\n</system>", ...mark }] },
    { role: "user", content: "and" },
    { role: "user", content: "<system>\nC\n</system>" },
  ];
  for (const model of ["claude-haiku-4-5", "us.anthropic.claude-sonnet-4-6-v1:0", "claude-opus-4-7"]) {
    assertEquals(to(model), folded, model);
  }
  // MiniMax: "chat content has invalid message role: system"; DeepSeek: "unknown variant `system`".
  for (const model of ["MiniMax-M3", "qwen3.7-max", "glm-5"]) assertEquals(to(model), folded, model);
  assertEquals(to("our-claude", { system_messages: false }), folded);
  // Others answer for themselves.
  for (const model of ["claude-opus-4-8", "claude-sonnet-5", "claude-fable-5", "our-claude"]) {
    assertEquals(to(model), body.messages, model);
  }
  assertEquals(to("claude-haiku-4-5", { system_messages: true }), body.messages);
});

Deno.test("encodeRequest() makes a prompt of system text alone the user's message", () => {
  const { body } = sent({ turns: [{ role: "system", content: [text("Do it")], plain: true }] });
  assertEquals([body.system, body.messages], [undefined, [{ role: "user", content: "Do it" }]]);
});

Deno.test("encodeRequest() puts results right behind their calls, first in the turn and joined", () => {
  assertEquals(
    sentMessages(
      turn("user", text("Hi")),
      turn("assistant", call("a")),
      turn("assistant", call("b")),
      turn("user", text("meanwhile")),
      turn("user", result("b", "B")),
      turn("system", text("note")),
      turn("user", result("a", "A")),
    ),
    [
      { role: "user", content: [{ type: "text", text: "Hi" }] },
      {
        role: "assistant",
        content: [{ type: "tool_use", id: "a", name: "f", input: {} }, {
          type: "tool_use",
          id: "b",
          name: "f",
          input: {},
        }],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: "A" },
          { type: "tool_result", tool_use_id: "b", content: "B" },
          { type: "text", text: "meanwhile" },
          { type: "text", text: "<system>\nnote\n</system>" },
        ],
      },
    ],
  );
});

Deno.test("encodeRequest() answers calls without results and tells results without calls as text", () => {
  const [, , answered] = sentMessages(
    turn("user", text("Hi")),
    turn("assistant", call("a")),
    turn("user", result("zz", "lost"), text("go on")),
  );
  const [first, ...others] = answered.content as Loose[];
  assertEquals([first.type, first.tool_use_id, first.is_error], ["tool_result", "a", true]);
  assertEquals(others, [
    { type: "text", text: "Result of a tool call:\nlost" },
    { type: "text", text: "go on" },
  ]);
});

Deno.test("encodeRequest() makes ids legal and unique, the same for call and result", () => {
  const encoded = sentMessages(
    turn("user", text("Hi")),
    turn("assistant", call("functions.f:0"), call("")),
    turn("user", result("functions.f:0", "1"), result("", "2")),
    turn("assistant", call("functions.f:0")),
    turn("user", result("functions.f:0", "3")),
  );
  const ids = encoded.flatMap((m) => (m.content as Loose[]).map((b) => b.id ?? b.tool_use_id)).filter(
    Boolean,
  );
  assertEquals(ids, [
    "functions_f_0",
    "call",
    "functions_f_0",
    "call",
    "functions_f_0_2",
    "functions_f_0_2",
  ]);
});

Deno.test("encodeRequest() starts with the user and drops blank texts and trailing blanks", () => {
  assertEquals(
    sentMessages(
      turn("assistant", text("Hello")),
      turn("user", text(" "), text("x")),
      turn("assistant", text("So: ")),
    ),
    [
      { role: "user", content: [{ type: "text", text: "(no message)" }] },
      { role: "assistant", content: [{ type: "text", text: "Hello" }] },
      { role: "user", content: [{ type: "text", text: "x" }] },
      { role: "assistant", content: [{ type: "text", text: "So:" }] },
    ],
  );
});

Deno.test("encodeRequest() joins turns when what stood between them is left out", () => {
  const silent = turn("assistant", { type: "reasoning", sections: ["hm"], kind: "text" });
  assertEquals(
    sentMessages({ role: "user", content: [text("a")], plain: true }, silent, turn("user", text("b"))),
    [{ role: "user", content: [{ type: "text", text: "a" }, { type: "text", text: "b" }] }],
  );
});

Deno.test("encodeRequest() sends back only reasoning that this API signed", () => {
  const reasoning = (
    api: "messages" | "responses",
    kind: "signature" | "redacted" | "encrypted",
  ): Content => ({
    type: "reasoning",
    sections: kind === "redacted" ? [] : ["hm"],
    kind: "text",
    proof: { api, kind, data: "D" },
  });
  const [, assistant] = sentMessages(
    turn("user", text("Hi")),
    turn(
      "assistant",
      reasoning("messages", "signature"),
      reasoning("messages", "redacted"),
      reasoning("responses", "encrypted"),
      { type: "reasoning", sections: ["open"], kind: "text" },
      text("x"),
    ),
    turn("user", text("y")),
  );
  assertEquals(assistant.content, [
    { type: "thinking", thinking: "hm", signature: "D" },
    { type: "redacted_thinking", data: "D" },
    { type: "text", text: "x" },
  ]);
});

Deno.test("encodeRequest() carries attachments in the closest form, and names what it cannot carry", () => {
  const base64 = (mediaType: string, data: string) => ({ kind: "base64" as const, mediaType, data });
  const [{ content }] = sentMessages(turn(
    "user",
    { type: "image", source: base64("image/jpg", "aa") },
    { type: "image", source: { kind: "url", url: "https://a.org/x.png" } },
    { type: "document", source: base64("application/pdf", "bb"), name: "x.pdf" },
    { type: "document", source: base64("text/csv", btoa("a,b")), name: "t.csv" },
    { type: "document", source: base64("image/png", "cc") },
    { type: "document", source: { kind: "text", text: "words" } },
    { type: "document", source: base64("application/octet-stream", btoa("%PDF-1.4")) },
    { type: "document", source: base64("application/octet-stream", btoa("plain")) },
  ));
  assertEquals(content, [
    { type: "image", source: { type: "base64", media_type: "image/jpeg", data: "aa" } },
    { type: "image", source: { type: "url", url: "https://a.org/x.png" } },
    {
      type: "document",
      title: "x.pdf",
      source: { type: "base64", media_type: "application/pdf", data: "bb" },
    },
    { type: "document", title: "t.csv", source: { type: "text", media_type: "text/plain", data: "a,b" } },
    { type: "image", source: { type: "base64", media_type: "image/png", data: "cc" } },
    { type: "document", source: { type: "text", media_type: "text/plain", data: "words" } },
    { type: "document", source: { type: "base64", media_type: "application/pdf", data: btoa("%PDF-1.4") } },
    { type: "document", source: { type: "text", media_type: "text/plain", data: "plain" } },
  ]);
  const refused: Content[] = [
    { type: "audio", source: base64("audio/wav", "aa") },
    { type: "video", source: base64("video/mp4", "aa") },
    { type: "document", source: base64("application/msword", "aa") },
    { type: "document", source: base64("text/plain", "/w==") },
    { type: "document", source: base64("application/octet-stream", btoa("PK\0\0")) },
    { type: "image", source: { kind: "file", id: "file-1" } },
  ];
  for (const part of refused) {
    assertEquals(failureOf(() => sentMessages(turn("user", part))).code, "feature_not_supported", part.type);
  }
});

Deno.test("encodeRequest() moves an image of the assistant to the user, who alone may send one", () => {
  const image: Content = { type: "image", source: { kind: "base64", mediaType: "image/png", data: "aa" } };
  const block = { type: "image", source: { type: "base64", media_type: "image/png", data: "aa" } };
  const encoded = sentMessages(
    turn("user", text("Draw")),
    turn("assistant", text("Here"), image),
    turn("user", text("More")),
  );
  assertEquals(encoded.slice(1), [
    { role: "assistant", content: [{ type: "text", text: "Here" }] },
    { role: "user", content: [{ type: "text", text: "More" }, block] },
  ]);
});
