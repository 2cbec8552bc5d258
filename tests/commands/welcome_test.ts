/** What a start without configuration prints. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { programCalled } from "../../src/commands/program_called.ts";
import { welcomeText } from "../../src/commands/welcome.ts";
import { environment } from "../config/example.ts";

const WELCOME = {
  base: "http://127.0.0.1:8787",
  found: [],
  models: [],
  administered: false,
  program: "deno task start",
};

Deno.test("a start after the first says how a key is made with what the reader has", () => {
  const text = welcomeText({ ...WELCOME, secret: null });
  assertStringIncludes(text, "`deno task start keys create NAME` creates another");
  assert(!welcomeText({ ...WELCOME, secret: "sk_live_x" }).includes("keys create"));
});

Deno.test("programCalled() is what stands before a command here", () => {
  assertEquals(programCalled(environment({})), "deno task start");
  assertEquals(
    programCalled(environment({ npm_command: "exec" })),
    `npx -y deno@${Deno.version.deno} task start`,
  );
});
