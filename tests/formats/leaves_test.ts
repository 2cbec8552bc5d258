import { assertEquals } from "@std/assert";
import { type Leaf, readLeaves, replaceLeaf } from "../../src/formats/leaves/mod.ts";
import { LEAVES } from "../../src/formats/mod.ts";

function leaves(body: unknown, format: keyof typeof LEAVES = "chat_completions"): Leaf[] {
  return readLeaves(body, LEAVES[format]).leaves;
}

function seen(body: unknown, format?: keyof typeof LEAVES): [string, string, string][] {
  return leaves(body, format).map((leaf) => [leaf.location, leaf.kind, leaf.text]);
}

Deno.test("readLeaves() passes over what is no object, and takes fields that no table knows", () => {
  for (const body of [null, 3, "x", [], undefined]) assertEquals(leaves(body), []);
  assertEquals(
    seen({
      model: "a/b",
      novel: "text",
      nested: { a: ["x"] },
      big: 4111111111111111,
      small: 7,
      yes: true,
      no: null,
    }),
    [
      ["*", "text", "novel\nnested\nbig\nsmall\nyes\nno"],
      ["novel", "text", "text"],
      ["nested", "json", '{"a":["x"]}'],
      ["big", "text", "4111111111111111"],
    ],
  );
});

Deno.test("readLeaves() does not repeat in a location what may be a value", () => {
  assertEquals(
    seen({ "4111 1111 1111 1111": { a: 1 }, messages: [{ role: "user", "jane@corp.example": "x" }] }),
    [
      ["*", "text", "jane@corp.example"],
      ["*", "text", "x"],
      ["*", "text", "4111 1111 1111 1111"],
      ["*", "json", '{"a":1}'],
    ],
  );
});

Deno.test("readLeaves() takes fields of the wrong type too: whoever scans must not be led around", () => {
  assertEquals(
    seen({
      messages: [
        "a bare string",
        { role: "user", content: { text: "an object" } },
        { role: "user", content: ["a string among parts", { type: "text", text: { deep: "x" } }] },
        { role: "assistant", tool_calls: { function: "y" }, refusal: ["z"] },
      ],
      tools: "none",
      user: { id: "u" },
    }).map(([, , text]) => text),
    [
      "a bare string",
      '{"text":"an object"}',
      "a string among parts",
      '{"deep":"x"}',
      '{"function":"y"}',
      '["z"]',
      "none",
      '{"id":"u"}',
    ],
  );
});

Deno.test("readLeaves() groups the text parts of one list", () => {
  const body = {
    messages: [
      {
        role: "user",
        content: [{ type: "text", text: "a" }, { type: "text", text: "" }, { type: "text", text: "b" }],
      },
      { role: "user", content: "c" },
    ],
  };
  const [a, b, c] = leaves(body);
  assertEquals([a.group?.location, a.group?.leaves.length, a.group === b.group, c.group], [
    "content",
    2,
    true,
    null,
  ]);
});

Deno.test("readLeaves() decodes data that is text, whatever is declared, and names what is none", () => {
  const file = (file_data: string) => ({
    messages: [{ role: "user", content: [{ type: "file", file: { file_data } }] }],
  });
  const kinds = (file_data: string) => seen(file(file_data)).map(([, kind, text]) => `${kind} ${text}`);
  assertEquals(kinds(`data:text/plain;base64,${btoa("hello")}`), ["encoded hello"]);
  assertEquals(kinds(`data:image/png;base64,${btoa("hello, I am no image")}`), [
    "encoded hello, I am no image",
  ]);
  assertEquals(kinds(`data:application/pdf;base64,${btoa("%PDF-1.7\n%\xe2\xe3\xcf\xd3\nobj")}`), [
    "document ",
  ]);
  assertEquals(kinds(btoa("no data: URL at all")), ["encoded no data: URL at all"]);
  assertEquals(kinds("data:text/csv,a%2Cb%20c"), ["encoded a,b c"]);
  assertEquals(kinds("data:text/csv,100%"), ["encoded 100%"]);
  assertEquals(kinds(`data:text/plain;base64,${btoa("caf\xe9")}`), ["encoded café"]);
  assertEquals(kinds(`data:;base64,${btoa("\xff\xfeh\0i\0")}`), ["encoded hi"]);
  assertEquals(kinds("data:image/png;base64,iVBORw0KGgoAAAANSUhEUg"), ["media "]);
  // Lines of base64, indented; words are none.
  assertEquals(kinds("iVBORw0KGgoAAAAN\n  SUhEUgiVBORw0KGgo\n"), ["media "]);
  assertEquals(kinds("card 4539578763621486"), ["text card 4539578763621486", "media "]);
  const long = `${"ü".repeat(3000)} end`;
  assertEquals(
    kinds(`data:text/plain;base64,${btoa(String.fromCharCode(...new TextEncoder().encode(long)))}`),
    [
      `encoded ${long}`,
    ],
  );
});

Deno.test("replaceLeaf() puts texts back in the form they were found in", () => {
  const body = {
    messages: [{
      role: "user",
      content: [
        { type: "text", text: "one" },
        { type: "file", file: { file_data: `data:text/plain;base64,${btoa("two")}`, filename: "three" } },
        { type: "file", file: { file_data: "data:,four%20a" } },
      ],
    }],
    metadata: { five: "5" },
    stop: ["six"],
  };
  for (const leaf of leaves(body)) {
    replaceLeaf(leaf, leaf.kind === "json" ? '{"five":"<X_5>"}' : `<${leaf.text}>`);
  }
  assertEquals(body, {
    messages: [{
      role: "user",
      content: [
        { type: "text", text: "<one>" },
        { type: "file", file: { file_data: `data:text/plain;base64,${btoa("<two>")}`, filename: "<three>" } },
        { type: "file", file: { file_data: "data:,%3Cfour%20a%3E" } },
      ],
    }],
    metadata: { five: "<X_5>" },
    stop: ["<six>"],
  });
});

Deno.test("readLeaves() knows who each message is from", () => {
  const { senders } = readLeaves({
    input: [
      { role: "user", content: "a", name: "jane" },
      { type: "function_call", name: "pay", arguments: "{}" },
      { type: "message", role: "assistant", content: [] },
    ],
  }, LEAVES.responses);
  assertEquals(senders, [{ role: "user", name: "jane" }, {}, { role: "assistant" }]);
  assertEquals(readLeaves({ input: "hi" }, LEAVES.responses).senders, [{ role: "user" }]);
});

Deno.test("readLeaves() never takes plugins.dlp, which is passed on to nobody", () => {
  for (const format of ["chat_completions", "messages", "responses"] as const) {
    const plugins = { dlp: { stop_words: [{ value: "secret" }] }, other: { a: "b" } };
    assertEquals(seen({ plugins }, format), [["plugins.other", "json", '{"a":"b"}']]);
    assertEquals(seen({ plugins: ["x"] }, format), [["plugins", "json", '["x"]']]);
  }
});

Deno.test("readLeaves() reads text in every encoding, declared or not", () => {
  const says = "card 4111 1111 1111 1111, thank you";
  const wide = (bytes: number, big: boolean, mark: boolean) => {
    const units = [...(mark ? "\ufeff" : "") + says];
    const view = new DataView(new ArrayBuffer(units.length * bytes));
    units.forEach((c, i) => {
      if (bytes === 2) view.setUint16(i * 2, c.charCodeAt(0), !big);
      else view.setUint32(i * 4, c.charCodeAt(0), !big);
    });
    return btoa(String.fromCharCode(...new Uint8Array(view.buffer)));
  };
  const read = (data: string, media_type: string) =>
    seen({
      messages: [{
        role: "user",
        content: [{ type: "document", source: { type: "base64", media_type, data } }],
      }],
    }, "messages").map(([, kind, text]) => `${kind} ${text}`).filter((leaf) => leaf.startsWith("encoded"))
      .join();
  for (const bytes of [2, 4]) {
    for (const big of [true, false]) {
      for (const mark of [true, false]) {
        for (const type of ["text/plain", "application/octet-stream"]) {
          assertEquals(read(wide(bytes, big, mark), type).replace("\ufeff", ""), `encoded ${says}`);
        }
      }
    }
  }
  assertEquals(
    read(btoa(`one\x01 control: ${says}`), "application/octet-stream"),
    `encoded one\x01 control: ${says}`,
  );
  assertEquals(read(btoa("caf+AOk- +ADQ-111"), "text/plain"), "encoded café 4111");
  assertEquals(read(btoa("\x93\xfa\x96\x7b 4111"), "text/plain; charset=shift_jis"), "encoded 日本 4111");
});
