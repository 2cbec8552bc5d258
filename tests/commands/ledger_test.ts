/** What `sluice ledger verify` says of a ledger that somebody has changed, and its exit status. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { openAccounts } from "../../src/accounts/mod.ts";
import { openStore } from "../../src/store/mod.ts";
import { configOf, endOf, requestOf } from "../accounts/support.ts";
import { runProgram } from "../support/program.ts";

Deno.test("a changed ledger is reported fault by fault, with exit status 1", async () => {
  const folder = Deno.makeTempDirSync({ prefix: "sluice-ledger-" });
  const url = `sqlite:${folder}/store.db`;
  const verify = (...args: string[]) =>
    runProgram(["ledger", "verify", ...args], { cwd: folder, env: { SLUICE_STORE: url } });
  try {
    const service = await openAccounts({
      store: openStore(url),
      config: configOf(),
      clock: Date,
      log: { info() {}, warn() {} },
      ticking: false,
    });
    const { secret } = await service.createKey({ name: "one", account: "acme" });
    const key = await service.authenticate(secret);
    for (let i = 0; i < 3; i++) await (await service.admit(requestOf(key, 1))).settle(endOf({ input: 1 }));
    await service.close();

    const whole = await verify("--json");
    assertEquals([whole.code, JSON.parse(whole.out).intact], [0, true]);

    const database = new DatabaseSync(`${folder}/store.db`);
    const rows = database.prepare("SELECT id FROM generations ORDER BY chain").all();
    const [first, , last] = rows.map(({ id }) => String(id));
    database.prepare("UPDATE generations SET latency_ms = 77 WHERE id = ?").run(first);
    database.prepare("DELETE FROM generations WHERE id = ?").run(last);
    database.close();

    const text = await verify();
    assertEquals(text.code, 1);
    assertMatch(text.out, /^2 records, 1 proved in 1 chain; sums of 1 day compared\.\n/);
    assertMatch(text.out, new RegExp(`, node node_\\w+, position 1: changed ${first}\n`));
    assertMatch(text.out, /, node node_\w+, position 3: removed\n/);
    assertMatch(text.out, /: sums differ: generations is 3, the records have 2\n/);
    assertMatch(text.out, /\nThe ledger is NOT intact: \d+ faults\.\n$/);

    const { code, out } = await verify("--json");
    const view = JSON.parse(out);
    assertEquals([code, view.intact, view.records, view.chained], [1, false, 2, 1]);
    assertEquals(view.faults, view.places.length);
    assertStringIncludes(text.out, `The ledger is NOT intact: ${view.faults} faults.`);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});
