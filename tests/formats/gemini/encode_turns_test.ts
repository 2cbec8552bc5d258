import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Content, Prompt, Turn } from "../../../src/exchange/prompt.ts";
import type { Proof } from "../../../src/exchange/proof.ts";
import { assistant, call, encode, prompt, result, system, user } from "./prompts.ts";
import { checkSignatures } from "./request_checker.ts";

const contents = (turns: Turn[], model = "gemini-2.5-flash", more: Partial<Prompt> = {}) =>
  encode(prompt(turns, more), { model }).contents;

const SKIP = "skip_thought_signature_validator";
const response = (id: string, output: string) => ({
  functionResponse: { id, name: `tool_${id}`, response: { output } },
});
const functionCall = (id: string, args = {}) => ({ functionCall: { id, name: `tool_${id}`, args } });

Deno.test("encodeTurns() lets roles alternate and keeps the borders of texts", () => {
  assertEquals(contents([user("a", "", "b"), user("c"), assistant("d"), assistant("", "e"), user("f")]), [
    { role: "user", parts: [{ text: "a" }, { text: "b" }, { text: "c" }] },
    { role: "model", parts: [{ text: "d" }, { text: "e" }] },
    { role: "user", parts: [{ text: "f" }] },
  ]);
});

Deno.test("encodeRequest() moves leading system turns to systemInstruction and marks later ones", () => {
  const body = encode(
    prompt([system("one", "two"), system("three"), user("hi"), system("late"), assistant("x")]),
  );
  assertEquals(body.systemInstruction, { parts: [{ text: "one" }, { text: "two" }, { text: "three" }] });
  assertEquals(body.contents, [
    { role: "user", parts: [{ text: "hi" }, { text: "<system>\nlate\n</system>" }] },
    { role: "model", parts: [{ text: "x" }] },
  ]);
});

Deno.test("encodeRequest() asks system text alone as the user's", () => {
  const body = encode(prompt([system("Say hi.")], { output: { type: "json" } }), { model: "gemini-2.5-pro" });
  assertEquals(body.systemInstruction, undefined);
  assertEquals(body.contents, [{ role: "user", parts: [{ text: "Say hi." }] }]);
});

Deno.test("encodeRequest() keeps an image of a system turn", () => {
  const image: Content = { type: "image", source: { kind: "base64", mediaType: "image/png", data: "AA==" } };
  const body = encode(prompt([system("s", image), user("u")]));
  assertEquals(body.systemInstruction, { parts: [{ text: "s" }] });
  assertEquals(body.contents[0].parts, [{ inlineData: { mimeType: "image/png", data: "AA==" } }, {
    text: "u",
  }]);
});

Deno.test("encodeTurns() puts results right behind their calls, in the calls' order", () => {
  const turns = [
    user("go"),
    assistant("let me see", call("a", '{"x":1}'), call("b", "")),
    system("hurry"),
    user("by the way", result("b", "B"), result("a", "A1", "A2")),
    assistant("done"),
  ];
  assertEquals(contents(turns), [
    { role: "user", parts: [{ text: "go" }] },
    { role: "model", parts: [{ text: "let me see" }, functionCall("a", { x: 1 }), functionCall("b")] },
    {
      role: "user",
      parts: [response("a", "A1\nA2"), response("b", "B"), { text: "<system>\nhurry\n</system>" }, {
        text: "by the way",
      }],
    },
    { role: "model", parts: [{ text: "done" }] },
  ]);
});

Deno.test("encodeTurns() tells errors, missing results and results of unknown calls", () => {
  const failed = { ...result("a", "no such file"), isError: true } as Content;
  const turns = [user("go"), assistant(call("a"), call("b")), user(failed, result("ghost", "boo"))];
  assertEquals(contents(turns)[2].parts, [
    { functionResponse: { id: "a", name: "tool_a", response: { error: "no such file" } } },
    {
      functionResponse: {
        id: "b",
        name: "tool_b",
        response: { error: "This call was not run: there is no result." },
      },
    },
    { text: "Result of the tool call ghost:" },
    { text: "boo" },
  ]);
});

Deno.test("encodeTurns() gives calls of one id their results in order", () => {
  const turns = [
    user("go"),
    assistant(call("a")),
    user(result("a", "first")),
    assistant(call("a")),
    user(result("a", "second")),
  ];
  const all = contents(turns);
  assertEquals([all[2].parts, all[4].parts], [[response("a", "first")], [response("a", "second")]]);
});

Deno.test("encodeTurns() begins with the user before a call", () => {
  assertEquals(contents([assistant(call("a")), user(result("a", "A"))])[0].role, "user");
  assertEquals(contents([assistant("Hello, I am a bot."), user("hi")])[0].role, "model");
});

Deno.test("encodeTurns() puts media of a result inside the response where the model reads it", () => {
  const png: Content = { type: "image", source: { kind: "base64", mediaType: "image/png", data: "AA==" } };
  const wav: Content = { type: "audio", source: { kind: "base64", mediaType: "audio/wav", data: "AQ==" } };
  const turns = [
    user("go"),
    assistant(call("a"), call("b")),
    user(result("a", "see", png, wav), result("b", png)),
  ];
  const attached = (id: string) => ({ text: `Attached to the result of tool_${id} (${id}):` });
  const inline = (mimeType: string, data: string) => ({ inlineData: { mimeType, data } });
  assertEquals(contents(turns, "gemini-3-flash")[2].parts, [
    {
      functionResponse: {
        id: "a",
        name: "tool_a",
        response: { output: "see" },
        parts: [inline("image/png", "AA==")],
      },
    },
    {
      functionResponse: {
        id: "b",
        name: "tool_b",
        response: { output: "" },
        parts: [inline("image/png", "AA==")],
      },
    },
    attached("a"),
    inline("audio/wav", "AQ=="),
  ]);
  assertEquals(contents(turns, "gemini-2.5-flash")[2].parts, [
    response("a", "see"),
    response("b", "The result is attached."),
    attached("a"),
    inline("image/png", "AA=="),
    inline("audio/wav", "AQ=="),
    attached("b"),
    inline("image/png", "AA=="),
  ]);
});

const thought = (data: string, on?: Proof["on"], sections: string[] = []): Content => ({
  type: "reasoning",
  sections,
  kind: "summary",
  proof: { api: "gemini", kind: "thought", data, ...(on && { on }) },
});

Deno.test("encodeTurns() puts each signature back on its part", async (t) => {
  const model = (turn: Turn, format: Prompt["format"] = "messages") =>
    contents([user("u"), turn], "gemini-3-pro", { format })[1]?.parts;
  await t.step("on a call", () => {
    const parts = contents([user("u"), assistant(call("a", "{}", "Sig1"), call("b"))])[1].parts;
    assertEquals(parts, [{ ...functionCall("a"), thoughtSignature: "Sig1" }, functionCall("b")]);
  });
  await t.step("on a text, which comes first where a format keeps order", () => {
    const turn = assistant("one", thought("Sig1", "text"), "two", thought("Sig2", "text"));
    const signed = [{ text: "one", thoughtSignature: "Sig1" }, { text: "two", thoughtSignature: "Sig2" }];
    assertEquals(model(turn), signed);
    assertEquals(model(turn, "responses"), signed);
  });
  await t.step("on a text, which a chat message holds behind its reasoning", () => {
    assertEquals(model(assistant(thought("Sig1", "text", ["hm"]), "one"), "chat_completions"), [
      { text: "one", thoughtSignature: "Sig1" },
    ]);
    assertEquals(model(assistant(thought("Sig1", "text"), "one")), [{
      text: "one",
      thoughtSignature: "Sig1",
    }]);
  });
  await t.step("on a thought", () => {
    assertEquals(model(assistant(thought("Sig1", "thought", ["a", "b"]), "x")), [
      { text: "a\n\nb", thought: true, thoughtSignature: "Sig1" },
      { text: "x" },
    ]);
  });
  await t.step("on an image", () => {
    const image: Content = {
      type: "image",
      source: { kind: "base64", mediaType: "image/png", data: "AA==" },
    };
    assertEquals(model(assistant("here", image, thought("Sig1", "media"))), [
      { text: "here" },
      { inlineData: { mimeType: "image/png", data: "AA==" }, thoughtSignature: "Sig1" },
    ]);
  });
  await t.step("on a part of its own, also when its text is gone", () => {
    assertEquals(model(assistant("x", thought("Sig1", undefined, ["hm"]))), [
      { text: "x" },
      { text: "", thoughtSignature: "Sig1" },
    ]);
    assertEquals(model(assistant(thought("Sig1", "text"))), [{ text: "", thoughtSignature: "Sig1" }]);
  });
  await t.step("reasoning of others is left out", () => {
    const foreign: Content = {
      type: "reasoning",
      sections: ["hm"],
      kind: "text",
      proof: { api: "messages", kind: "signature", data: "x" },
    };
    assertEquals(model(assistant(foreign, "x", { type: "reasoning", sections: ["y"], kind: "text" })), [{
      text: "x",
    }]);
  });
});

Deno.test("encodeTurns() stands in for lost signatures of the turn that goes on, from Gemini 3 on", () => {
  const turns = [
    user("one"),
    assistant(call("old")),
    user(result("old", "r")),
    assistant("fine"),
    user("two"),
    assistant(call("a"), call("b")),
    user(result("a", "r"), result("b", "r")),
    assistant({ ...call("c"), proof: { api: "messages", kind: "signature", data: "x" } } as Content),
    user(result("c", "r")),
    assistant(call("d", "{}", "Sig1")),
    user(result("d", "r")),
  ];
  const signatures = (model: string) =>
    contents(turns, model).flatMap((c) =>
      c.parts.flatMap((p) => p.functionCall ? [p.thoughtSignature ?? null] : [])
    );
  assertEquals(signatures("gemini-3-pro-preview"), [null, SKIP, null, SKIP, "Sig1"]);
  assertEquals(signatures("gemini-flash-latest"), [null, SKIP, null, SKIP, "Sig1"]);
  assertEquals(signatures("gemini-2.5-pro"), [null, null, null, null, "Sig1"]);
  assertEquals(signatures("gemma-3-27b-it"), [null, null, null, null, "Sig1"]);
});

Deno.test("encodeRequest() stays legal whatever the history", () => {
  const text = fc.constantFrom("", "a", "b c", "😀");
  const id = fc.constantFrom("a", "b", "c", "");
  const simple: fc.Arbitrary<Content> = fc.oneof(
    text.map((t): Content => ({ type: "text", text: t })),
    text.map((t): Content => ({ type: "refusal", text: t })),
    fc.constant<Content>({ type: "image", source: { kind: "base64", mediaType: "image/png", data: "AA==" } }),
    fc.constant<Content>({ type: "document", source: { kind: "text", text: "doc" }, name: "n" }),
  );
  const content: fc.Arbitrary<Content> = fc.oneof(
    simple,
    fc.tuple(id, fc.constantFrom("", "{}", "nonsense", "[1]"), fc.constantFrom(undefined, "Sig1"))
      .map(([i, args, sig]) => call(i, args, sig)),
    fc.tuple(id, fc.array(simple, { maxLength: 3 }), fc.boolean())
      .map(([i, c, isError]) => ({ ...result(i, ...c), isError }) as Content),
    fc.tuple(
      fc.constantFrom<Proof["on"]>(undefined, "text", "thought", "media"),
      fc.array(text, { maxLength: 2 }),
    )
      .map(([on, sections]) => thought("Sig2", on, sections)),
    fc.constant<Content>({ type: "opaque", format: "messages", value: {} }),
  );
  const turn = fc.record({
    role: fc.constantFrom("system" as const, "user" as const, "assistant" as const),
    content: fc.array(content, { maxLength: 4 }),
  });
  fc.assert(
    fc.property(
      fc.array(turn, { maxLength: 8 }),
      fc.constantFrom("gemini-2.5-flash", "gemini-3-pro", "gemini-3.7-flash"),
      fc.constantFrom<Prompt["format"]>("messages", "responses", "chat_completions"),
      (turns, model, format) => {
        // A conversation of nothing at all is the caller's mistake, and Google says so.
        const body = encode(prompt([user("hi"), ...turns], { format }), { model });
        if (model !== "gemini-2.5-flash") checkSignatures(body);
      },
    ),
    { numRuns: 2000, seed: 5 },
  );
});
