/** The file of the pepper beside a store of one file. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import type { AccountsOptions } from "../../src/accounts/mod.ts";
import { sqlitePlace } from "../support/cluster.ts";
import { configOf, open } from "./support.ts";

Deno.test("sqlite: the pepper is made on first start, for the owner's eyes", async () => {
  const here = sqlitePlace();
  const store = here.open();
  const service = await open(store, configOf());
  const path = `${store.filePrefix}.pepper`;
  assertEquals(Deno.statSync(path).mode! & 0o777, 0o600);
  const pepper = Deno.readTextFileSync(path);
  assert(pepper.length >= 40);
  const { secret } = await service.createKey({ name: "ci" });
  await service.close();
  const bytes = Deno.readFileSync(store.filePrefix!);
  assert(!new TextDecoder("latin1").decode(bytes).includes(secret));
  const later = await open(here.open(), configOf());
  assertEquals((await later.authenticate(secret)).name, "ci");
  await later.close();
  const refused = (more: Partial<AccountsOptions> = {}) =>
    assertRejects(() => open(here.open(), configOf(), more), Error, "pepper");
  await refused({ pepper: "another" });
  // Left behind, it is not made anew: none of the keys could be told.
  Deno.renameSync(path, `${path}.lost`);
  await refused();
  // A database of a release that left no fingerprint.
  const database = new DatabaseSync(store.filePrefix!);
  database.exec("DELETE FROM meta WHERE name = 'pepper_fingerprint'");
  database.close();
  await refused();
  Deno.renameSync(`${path}.lost`, path);
  const last = await open(here.open(), configOf());
  assertEquals((await last.authenticate(secret)).name, "ci");
  await last.close();
  here.remove();
});

Deno.test("sqlite: a pepper whose making was cut short is made anew", async () => {
  const here = sqlitePlace();
  const store = here.open();
  const path = `${store.filePrefix}.pepper`;
  Deno.writeTextFileSync(path, "");
  const service = await open(store, configOf());
  assert(Deno.readTextFileSync(path).length >= 40);
  assertEquals(
    [...Deno.readDirSync(path.replace(/[^/]+$/, ""))].filter((e) => e.name.includes("pepper.")),
    [],
  );
  await service.close();
  here.remove();
});
