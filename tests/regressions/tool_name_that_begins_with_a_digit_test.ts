/** Gemini refuses a function whose name begins with a digit or a dash; other APIs take it. */
import { assertEquals } from "@std/assert";
import type { Prompt } from "../../src/exchange/prompt.ts";
import { flattenTools, restoreTools } from "../../src/exchange/tools.ts";
import { API_OF } from "../support/apis.ts";

const PROMPT: Prompt = {
  format: "messages",
  model: "a/b",
  stream: true,
  turns: [],
  tools: [{ kind: "function", name: "3d_render" }, { kind: "function", name: "-x" }],
  toolChoice: { type: "tool", kind: "function", name: "3d_render" },
  verbatim: {},
  unknown: {},
};

Deno.test("flattenTools() gives Gemini names that begin with a letter or an underscore, and back", () => {
  const { prompt, names } = flattenTools(PROMPT, API_OF.gemini.toolForms(PROMPT.format));
  assertEquals(prompt.tools.map((t) => t.kind !== "opaque" && t.name), ["_3d_render", "_-x"]);
  assertEquals(prompt.toolChoice, { type: "tool", kind: "function", name: "_3d_render" });
  const start = { type: "call-start", block: 0, choice: 0, id: "c", kind: "function" } as const;
  const [restored] = restoreTools(names!)([{ ...start, name: "_3d_render" }]);
  assertEquals(restored.type === "call-start" && restored.name, "3d_render");
});

Deno.test("flattenTools() leaves such names alone for other APIs", () => {
  assertEquals(flattenTools(PROMPT, API_OF.responses.toolForms(PROMPT.format)).names, null);
});
