/** The commands backup, restore and store info: the pepper goes with the store, and nothing secret is printed. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { type CareConfig, storeCommand } from "../../src/commands/store_care.ts";
import { UsageError } from "../../src/commands/option_values.ts";
import { openAccounts } from "../../src/accounts/mod.ts";
import { openStore } from "../../src/store/mod.ts";
import { ledgerCommand } from "../../src/commands/ledger.ts";
import { configOf, endOf, requestOf } from "../accounts/support.ts";
import { runProgram } from "../support/program.ts";

const run = { config: undefined, json: true, force: false };

/** Opens a store once, so that it has a pepper of its own; answers the secret of a key. */
async function makeStore({ url, pepper }: CareConfig): Promise<string> {
  const service = await openAccounts({
    store: openStore(url),
    config: configOf(),
    clock: Date,
    log: { info() {}, warn() {} },
    pepper: pepper ?? undefined,
    ticking: false,
  });
  const { secret } = await service.createKey({ name: "kept", account: "acme" });
  await service.close();
  return secret;
}

async function knows({ url, pepper }: CareConfig, secret: string): Promise<boolean> {
  const service = await openAccounts({
    store: openStore(url),
    config: configOf(),
    clock: Date,
    log: { info() {}, warn() {} },
    pepper: pepper ?? undefined,
    ticking: false,
  });
  try {
    return (await service.authenticate(secret)).name === "kept";
  } finally {
    await service.close();
  }
}

Deno.test("a backup brings the pepper along, and a key works where it is restored", async () => {
  const folder = Deno.makeTempDirSync({ prefix: "sluice-care-" });
  const from: CareConfig = { url: `sqlite:${folder}/a/store.db`, pepper: null, journal: null };
  const to: CareConfig = { url: `sqlite:${folder}/b/store.db`, pepper: null, journal: null };
  const file = `${folder}/backup`;
  try {
    const secret = await makeStore(from);
    const pepper = Deno.readTextFileSync(`${folder}/a/store.db.pepper`);
    const texts = [
      await storeCommand({ command: "backup", file, ...run }, from),
      await storeCommand({ command: "restore", file, ...run }, to),
      await storeCommand({ command: "store", action: "info", ...run }, to),
    ];
    for (const text of texts) assert(!text.includes(pepper) && !text.includes(secret));
    const { fingerprint, here } = JSON.parse(texts[2]).pepper;
    assertEquals(fingerprint, here);
    assert(await knows(to, secret));
    assertEquals(Deno.statSync(`${folder}/b/store.db`).mode! & 0o777, 0o600);
    assertEquals(Deno.statSync(`${folder}/b/store.db.pepper`).mode! & 0o777, 0o600);

    // Over another store, whose pepper is another: both stay beside.
    await makeStore({ url: `sqlite:${folder}/c/store.db`, pepper: null, journal: null });
    const other: CareConfig = { url: `sqlite:${folder}/c/store.db`, pepper: null, journal: null };
    await storeCommand({ command: "restore", file, ...run, force: true }, other);
    assert(await knows(other, secret));
    const names = [...Deno.readDirSync(`${folder}/c`)].map((entry) => entry.name).sort();
    assertEquals(names, [
      "store.db",
      "store.db.before-restore",
      "store.db.pepper",
      "store.db.pepper.before-restore",
    ]);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("a backup whose keys need another pepper than the configured one is refused", async () => {
  const folder = Deno.makeTempDirSync({ prefix: "sluice-care-" });
  const from: CareConfig = { url: `sqlite:${folder}/a.db`, pepper: "the pepper of a company", journal: null };
  const file = `${folder}/backup`;
  try {
    const secret = await makeStore(from);
    await storeCommand({ command: "backup", file, ...run }, from);
    const other: CareConfig = {
      url: `sqlite:${folder}/b.db`,
      pepper: "the pepper of another",
      journal: null,
    };
    await assertRejects(
      () => storeCommand({ command: "restore", file, ...run }, other),
      UsageError,
      "another pepper",
    );
    const same = { ...other, pepper: from.pepper };
    await storeCommand({ command: "restore", file, ...run }, same);
    assert(await knows(same, secret));
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("sluice backup that is killed leaves no file of that name, and the next one is whole", async () => {
  const folder = Deno.makeTempDirSync({ prefix: "sluice-care-" });
  const url = `sqlite:${folder}/store.db`;
  const file = `${folder}/backup`;
  try {
    await makeStore({ url, pepper: null, journal: null });
    // As it is found when the process died in the middle.
    Deno.writeTextFileSync(`${file}.part`, "half of", { mode: 0o644 });
    const { code, out, err } = await runProgram(["backup", file, "--json"], {
      cwd: folder,
      env: { SLUICE_STORE: url },
    });
    assertEquals([code, err], [0, ""]);
    assertEquals(JSON.parse(out).tables.keys.rows, 1);
    assertEquals(Deno.statSync(file).mode! & 0o777, 0o600);
    const again = await runProgram(["backup", file], { cwd: folder, env: { SLUICE_STORE: url } });
    assertEquals(again.code, 2);
    assertEquals(again.err.includes("exists"), true);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("what there is one of is told as one", async () => {
  const folder = Deno.makeTempDirSync({ prefix: "sluice-care-" });
  const config: CareConfig = { url: `sqlite:${folder}/store.db`, pepper: null, journal: null };
  try {
    const service = await openAccounts({
      store: openStore(config.url),
      config: configOf(),
      clock: Date,
      log: { info() {}, warn() {} },
      ticking: false,
    });
    const { secret } = await service.createKey({ name: "one", account: "acme" });
    const reservation = await service.admit(requestOf(await service.authenticate(secret), 1));
    await reservation.settle(endOf({ input: 1 }));
    await service.close();
    const { text, intact } = await ledgerCommand(
      { command: "ledger", action: "verify", config: undefined, json: false },
      config,
      () => {},
    );
    assertEquals([intact, text], [
      true,
      "1 record, 1 proved in 1 chain; sums of 1 day compared.\nThe ledger is intact.",
    ]);
    const told = await storeCommand({
      ...run,
      command: "backup",
      json: false,
      file: `${folder}/backup`,
    }, config);
    assertMatch(told, / with 1 generation and 1 key to /);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("a restore that cannot write the pepper of the backup changes nothing", async () => {
  const folder = Deno.makeTempDirSync({ prefix: "sluice-care-" });
  const [from, to] = ["a", "b"].map((name): CareConfig => ({
    url: `sqlite:${folder}/${name}/store.db`,
    pepper: null,
    journal: null,
  }));
  const file = `${folder}/backup`;
  try {
    await makeStore(from);
    const secret = await makeStore(to);
    await storeCommand({ command: "backup", file, ...run }, from);
    Deno.mkdirSync(`${folder}/b/store.db.pepper.restoring/full`, { recursive: true });
    const forced = { command: "restore", file, ...run, force: true } as const;
    await assertRejects(() => storeCommand(forced, to));
    assert(await knows(to, secret));
    Deno.removeSync(`${folder}/b/store.db.pepper.restoring`, { recursive: true });
    await storeCommand(forced, to);
    assertEquals(
      [...Deno.readDirSync(`${folder}/b`)].map(({ name }) => name).filter((name) => name.includes("pepper"))
        .sort(),
      ["store.db.pepper", "store.db.pepper.before-restore"],
    );
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("a folder or a device is no backup, and is not replaced by one", async () => {
  const folder = Deno.makeTempDirSync({ prefix: "sluice-care-" });
  const config: CareConfig = { url: `sqlite:${folder}/store.db`, pepper: null, journal: null };
  try {
    await makeStore(config);
    Deno.mkdirSync(`${folder}/backups`);
    Deno.symlinkSync("/dev/null", `${folder}/device`);
    for (const force of [false, true]) {
      for (const [name, what] of [["backups", "a folder"], ["device", "a device or a pipe"]]) {
        const file = `${folder}/${name}`;
        for (const [command, verb] of [["backup", "write"], ["restore", "read"]] as const) {
          await assertRejects(
            () => storeCommand({ ...run, command, file, force }, config),
            UsageError,
            `Cannot ${verb} ${file}: expected a file, got ${what}`,
          );
        }
      }
    }
    assertEquals(Deno.readLinkSync(`${folder}/device`), "/dev/null");
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});
