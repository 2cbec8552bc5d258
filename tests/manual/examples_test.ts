/** What the manual tells readers to copy: configurations, commands, requests. */
import { assert, assertEquals } from "@std/assert";
import { parseCommand } from "../../src/commands/parse.ts";
import { configJsonSchema } from "../../src/config/schema.ts";
import { demoConfig } from "../../src/config/demo.ts";
import { loadConfig, loadValue } from "../../src/config/load.ts";
import { assemble } from "../../src/assemble.ts";
import { PAGES } from "../../src/manual/pages.ts";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "jsonc-parser";
import manifest from "../../deno.json" with { type: "json" };
import { PATIENCE_MS, steadyClock } from "../support/time.ts";

const README = Deno.readTextFileSync(new URL("../../README.md", import.meta.url));
const TEXTS = [{ name: "README", text: README }, ...PAGES];
const SECRET = "sk_live_manualmanualmanualmanualmanual";

/** Fenced blocks of a language. */
function blocks(text: string, language: string): string[] {
  return [...text.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].filter(([, l]) => l === language).map(([, , code]) =>
    code
  );
}

/** What a fragment of a configuration leaves out. */
const REST = {
  providers: { demo: { api: "demo" } },
  models: [{ id: "demo/small", routes: [{ provider: "demo", model: "small" }] }, {
    id: "demo/large",
    routes: [{ provider: "demo", model: "large" }],
  }],
};

/** As editors check the file. */
const fits = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true }).compile(
  configJsonSchema(),
);

Deno.test("editors object to what the validator refuses, and not to a variable in a secret's place", () => {
  const keys = (secret: string) => ({ ...REST, keys: [{ name: "dev", secret }] });
  assert(fits(keys("${ANY_NAME}")));
  assert(fits(keys(SECRET)));
  assert(!fits(keys("password")));
  assert(!fits({ ...REST, sever: {} }));
  assert(!fits({ ...REST, server: { port: 99_999 } }));
});

for (const { name, text } of TEXTS) {
  for (const [i, example] of blocks(text, "jsonc").entries()) {
    Deno.test(`configuration ${i + 1} of the page ${name} passes the validator`, () => {
      const value = parse(example);
      const rest = { ...REST, ...value, providers: { ...REST.providers, ...value.providers } };
      const source = value.models !== undefined ? example : JSON.stringify(rest);
      const env = (name: string) =>
        /_(?:KEY|SECRET)$/.test(name) && name !== "SLUICE_ADMIN_KEY" ? SECRET : undefined;
      const { warnings } = loadConfig(source, { env });
      assert(
        fits(JSON.parse(JSON.stringify(rest))),
        `an editor would object: ${JSON.stringify(fits.errors)}`,
      );
      // Leaving prices out is what the shortest examples do.
      assertEquals(warnings.filter((w) => !w.includes("pricing")), []);
    });
  }

  for (const [i, example] of blocks(text, "json").entries()) {
    Deno.test(`JSON ${i + 1} of the page ${name} is JSON`, () => {
      JSON.parse(example);
    });
  }
}

/** Commands of the shell blocks, one a line, and those that stand in the text. */
function commands(text: string): string[] {
  const shown = blocks(text, "sh").flatMap((block) => block.replaceAll("\\\n", " ").trim().split("\n"));
  const named = [...text.matchAll(/`((?:sluice|deno|npx) [^`]+)`/g)].map(([, command]) => command);
  return [...shown, ...named];
}

/** Words as a shell has them: quotes hold a word together. */
function words(command: string): string[] {
  return [...command.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) =>
    word.replaceAll(/^['"]|['"]$/g, "")
  );
}

/** Programs that are not ours, which readers are told to run. */
const OTHERS = new Set([
  "export",
  "claude",
  "codex",
  "copilot",
  "qwen",
  "jq",
  "cline",
  "aider",
  "curl",
  "git",
  "docker",
  "helm",
  "sudo",
]);

for (const { name, text } of TEXTS) {
  Deno.test(`commands of the page ${name} exist`, () => {
    for (const command of commands(text)) {
      let [program, ...args] = words(
        command.replaceAll(/\b(?:SECONDS|N)\b/g, "1").replaceAll("COMMAND", "check"),
      );
      if (program === "npx") {
        assertEquals(args.slice(0, 2), ["-y", "deno@2.9.6"], command);
        [program, args] = ["deno", args.slice(2)];
        if (args.length === 0) continue;
      }
      if (program === "sluice") {
        if (args[0] === "listening") continue;
        parseCommand(args);
      } else if (program === "deno" && args[0] === "task") {
        assert(Object.hasOwn(manifest.tasks, args[1]), `${command}: no such task`);
        if (args[1] === "start") parseCommand(args.slice(2));
      } else if (program === "deno") {
        assert(["run", "test", "fmt", "lint", "deploy"].includes(args[0]), command);
      } else {
        assert(OTHERS.has(program), `${command}: what is ${program}?`);
      }
    }
  });
}

Deno.test("the requests that the manual shows are answered by the demo", async () => {
  const { config } = demoConfig({ env: (n) => n === "SLUICE_STORE" ? "sqlite::memory:" : undefined });
  const gateway = await assemble(config, {
    now: Date.now,
    log: () => {},
    clock: steadyClock(),
    storeWaitMs: PATIENCE_MS,
  });
  const { secret } = await gateway.accounts.createKey({ name: "reader" });
  let answered = 0;
  for (const { text } of TEXTS) {
    for (const command of commands(text).filter((c) => c.startsWith("curl "))) {
      const args = words(command.replaceAll("$SLUICE_KEY", secret)).slice(1);
      const headers = new Headers();
      let body: string | undefined;
      let url = "";
      while (args.length > 0) {
        const arg = args.shift()!;
        if (arg === "-H") headers.append(...args.shift()!.split(": ", 2) as [string, string]);
        else if (arg === "-d") body = args.shift();
        else url = arg;
      }
      const response = await gateway.handle(
        new Request(url, { method: body ? "POST" : "GET", headers, body }),
      );
      assertEquals(response.status, 200, `${command}\n${await response.clone().text()}`);
      assert((await response.text()).length > 0);
      answered++;
    }
  }
  assert(answered >= 7, "three in the README, three and the catalog in the manual");
  await gateway.idle();
  await gateway.close();
});

Deno.test("a request that the manual shows as JSON is read", async () => {
  const config = loadValue({ ...REST, store: { url: "sqlite::memory:" } }, { env: () => undefined }).config;
  const gateway = await assemble(config, {
    now: Date.now,
    log: () => {},
    clock: steadyClock(),
    storeWaitMs: PATIENCE_MS,
  });
  const { secret } = await gateway.accounts.createKey({ name: "reader" });
  for (const { name, text } of PAGES) {
    for (const body of blocks(text, "json").filter((block) => block.includes('"messages"'))) {
      const response = await gateway.handle(
        new Request("http://127.0.0.1/v1/chat/completions", {
          method: "POST",
          headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
          body,
        }),
      );
      assertEquals(response.status, 200, `${name}: ${await response.text()}`);
    }
  }
  await gateway.idle();
  await gateway.close();
});
