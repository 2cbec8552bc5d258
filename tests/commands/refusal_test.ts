/** Refusals name the option that was given, what it held and what is allowed; what a key is made with all the same is doubted. */
import { assertEquals, assertRejects } from "@std/assert";
import { assembleAccounts } from "../../src/assembly/gateway_accounts.ts";
import { runCommand } from "../../src/commands/accounts.ts";
import { setUp } from "../../src/commands/setup.ts";
import type { Command } from "../../src/commands/command.ts";
import { UsageError } from "../../src/commands/option_values.ts";
import { parseCommand } from "../../src/commands/parse.ts";
import { inOptions, warningsOf } from "../../src/commands/refusal.ts";
import { statementChunks } from "../../src/commands/statement.ts";
import { loadValue } from "../../src/config/load.ts";
import { Failure } from "../../src/exchange/failure.ts";

const { config } = loadValue({
  store: { url: "sqlite::memory:" },
  providers: { demo: { api: "demo" } },
  models: [{ id: "demo/small", short_names: ["small-*"], routes: [{ provider: "demo", model: "small" }] }],
  access_policies: { europe: { allow: ["mistral/*"] } },
  catalog: { discover: false },
}, { env: () => undefined });

const REFUSALS: [line: string, message: string][] = [
  ["keys create a --account nope", 'Cannot read --account: expected an account that exists, got "nope"'],
  ["keys create a --team nope", 'Cannot read --team: expected a team that exists, got "nope"'],
  ["keys revoke nobody", 'There is no key "nobody". `keys list` shows those that there are.'],
  ["keys rotate nobody", 'There is no key "nobody". `keys list` shows those that there are.'],
  [
    "statement --account nope --month 2026-11",
    'Cannot read --account: expected an account that exists, got "nope"',
  ],
];
for (const [line, message] of REFUSALS) {
  Deno.test(`the refusal of "sluice ${line}" names the option and its value`, async () => {
    const command = parseCommand(line.split(" "));
    const accounts = await assembleAccounts(config, { now: Date.now, log: () => {} });
    const failure = await assertRejects(() => followed(command, accounts), Failure);
    await accounts.close();
    assertEquals(inOptions(failure, command), message);
  });
}

async function followed(command: Command, accounts: Awaited<ReturnType<typeof assembleAccounts>>) {
  if (command.command !== "statement") return await runCommand(command as never, accounts);
  for await (const _ of statementChunks(command, accounts));
}

Deno.test("a key of policies that nobody knows, or that has ended, is made with a doubt", () => {
  const doubts = (line: string) =>
    warningsOf(parseCommand(line.split(" ")), config, Date.parse("2026-01-01"));
  assertEquals(doubts("keys create a --access-policy europe --expires 2026-01-02"), []);
  assertEquals(doubts("keys create a --access-policy europ --dlp-policy cards --expires 2026-01-01"), [
    'warning: --access-policy: expected one of the policies europe, got "europ"; nearest is europe ' +
    "(calls of the key are refused until there is one)",
    'warning: --dlp-policy: expected one of the policies (there are none), got "cards" ' +
    "(calls of the key are refused until there is one)",
    'warning: --expires: expected a time later than now (calls of the key are refused), got "2026-01-01"',
  ]);
});

Deno.test("connect takes models of the catalog, and any where the gateway is at another address", async () => {
  const connect = async (...more: string[]) => {
    let printed = "";
    const line = ["connect", "claude-code", "--key", "sk_live_k", ...more];
    await setUp(parseCommand(line) as never, {
      env: () => undefined,
      load: () => Promise.resolve(config),
      log: () => {},
      makeKey: () => Promise.reject(new Error("a key is given")),
      open: () => Promise.reject(new Error("nobody is asked")),
      print: (text) => printed += text,
      note: () => {},
      failed() {},
    });
    return /"ANTHROPIC_MODEL": "(.*)"/.exec(printed)![1];
  };
  assertEquals(await connect(), "demo/small");
  for (const model of ["demo/small", "small-1", "svc/auto"]) {
    assertEquals(await connect("--model", model), model);
  }
  assertEquals(await connect("--model", "a/b", "--url", "https://gateway.example"), "a/b");
  const refusal = await assertRejects(() => connect("--model", "demo/smal"), UsageError);
  assertEquals(
    refusal.message,
    'Cannot read --model: expected one of demo/small, got "demo/smal"; nearest is demo/small',
  );
});
