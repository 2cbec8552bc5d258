import { assertEquals, assertMatch } from "@std/assert";
import fc from "fast-check";
import type { Loose } from "../../src/exchange/json.ts";
import type { Part } from "../../src/exchange/part.ts";
import type { Prompt } from "../../src/exchange/prompt.ts";
import { flattenTools, restoreTools } from "../../src/exchange/tools.ts";

const PLAIN = { custom: false, namespaces: false };

function prompt(more: Partial<Prompt>): Prompt {
  return {
    format: "responses",
    model: "p/m",
    stream: true,
    turns: [],
    tools: [],
    verbatim: {},
    unknown: {},
    ...more,
  };
}

Deno.test("flattenTools() leaves plain functions with legal names alone", () => {
  const given = prompt({ tools: [{ kind: "function", name: "read_file" }] });
  const { prompt: flat, names } = flattenTools(given, PLAIN);
  assertEquals(names, null);
  assertEquals(flat, given);
});

Deno.test("flattenTools() gives tools of two namespaces names of their own, in tools, history and choice", () => {
  const { prompt: flat, names } = flattenTools(
    prompt({
      tools: [
        { kind: "function", name: "open", namespace: "mail" },
        { kind: "function", name: "open", namespace: "calendar" },
        { kind: "function", name: "mail__open" },
      ],
      turns: [{
        role: "assistant",
        content: [{
          type: "call",
          id: "c1",
          name: "open",
          namespace: "calendar",
          kind: "function",
          arguments: "{}",
        }],
      }],
      toolChoice: { type: "tool", kind: "function", name: "open", namespace: "mail" },
    }),
    PLAIN,
  );
  const flatNames = flat.tools.map((t) => t.kind === "opaque" ? "" : t.name);
  assertEquals(new Set(flatNames).size, 3);
  for (const name of flatNames) assertMatch(name, /^[a-zA-Z0-9_-]{1,64}$/);
  assertEquals(names!.get(flatNames[0]), { name: "open", namespace: "mail", kind: "function" });
  const call = flat.turns[0].content[0];
  assertEquals(call.type === "call" && call.name, flatNames[1]);
  assertEquals(flat.toolChoice, { type: "tool", kind: "function", name: flatNames[0] });
});

Deno.test("flattenTools() rewrites names that APIs refuse and keeps long ones apart", () => {
  const long = "x".repeat(70);
  const { prompt: flat, names } = flattenTools(
    prompt({
      tools: [
        { kind: "function", name: "fs.read" },
        { kind: "function", name: `${long}a` },
        { kind: "function", name: `${long}b` },
      ],
    }),
    PLAIN,
  );
  const flatNames = flat.tools.map((t) => t.kind === "opaque" ? "" : t.name);
  assertEquals(new Set(flatNames).size, 3);
  for (const name of flatNames) assertMatch(name, /^[a-zA-Z0-9_-]{1,64}$/);
  assertEquals([...names!.values()].map((o) => o.name), ["fs.read", `${long}a`, `${long}b`]);
});

Deno.test("restoreTools() unpacks freeform input however its JSON is cut", () => {
  const { names } = flattenTools(prompt({ tools: [{ kind: "custom", name: "apply_patch" }] }), PLAIN);
  fc.assert(fc.property(
    fc.string({ unit: "binary" }),
    fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
    fc.boolean(),
    (input, cuts, spaced) => {
      const json = JSON.stringify({ input }, null, spaced ? 1 : undefined);
      const parts: Part[] = [{
        type: "call-start",
        block: 1,
        choice: 0,
        id: "c",
        name: "apply_patch",
        kind: "function",
      }];
      for (let at = 0, i = 0; at < json.length; i++) {
        const next = at + cuts[i % cuts.length];
        parts.push({ type: "call-delta", block: 1, text: json.slice(at, next) });
        at = next;
      }
      parts.push({ type: "call-end", block: 1 });
      const restore = restoreTools(names!);
      const restored = parts.flatMap((p) => restore([p]));
      const start = restored[0];
      assertEquals(start.type === "call-start" && [start.name, start.kind], ["apply_patch", "custom"]);
      assertEquals(restored.map((p) => p.type === "call-delta" ? p.text : "").join(""), input);
    },
  ));
});

Deno.test("restoreTools() passes on what a model wrote instead of the wrapped input", () => {
  const { names } = flattenTools(prompt({ tools: [{ kind: "custom", name: "apply_patch" }] }), PLAIN);
  const restore = restoreTools(names!);
  const restored = restore([
    { type: "call-start", block: 1, choice: 0, id: "c", name: "apply_patch", kind: "function" },
    { type: "call-delta", block: 1, text: '{"patch":"x"}' },
    { type: "call-end", block: 1 },
  ]);
  assertEquals(restored.map((p) => p.type === "call-delta" ? p.text : "").join(""), '{"patch":"x"}');
});

Deno.test("restoreTools() takes the arguments of a wrapped function also where a model does not write them as text", () => {
  const accepts = (schema: Loose) => !Object.keys(schema.properties ?? {}).includes("$a");
  const tools = [{ kind: "function" as const, name: "f", parameters: { properties: { $a: {} } } }];
  const { names } = flattenTools(prompt({ tools }), { ...PLAIN, accepts });
  const restored = (text: string) =>
    restoreTools(names!)([
      { type: "call-start", block: 0, choice: 0, id: "c", name: "f", kind: "function" },
      { type: "call-delta", block: 0, text },
      { type: "call-end", block: 0 },
    ]).flatMap((p) => p.type === "call-delta" ? [p.text] : []).join("");
  assertEquals(restored('{"input":"{\\"$a\\":1}"}'), '{"$a":1}');
  assertEquals(restored('{"input":{"$a":1}}'), '{"$a":1}');
  assertEquals(restored('{"$a":1}'), '{"$a":1}');
});
