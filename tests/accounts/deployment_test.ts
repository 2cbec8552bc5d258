/** Gateways that do not belong together refuse each other's database. */
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { ACCOUNTS, CONFIG_KEY } from "../../src/accounts/config.ts";
import { type AccountsConfig, StoreRefused } from "../../src/accounts/mod.ts";
import { join } from "../../src/accounts/deployment.ts";
import { onBothEngines } from "../support/cluster.ts";
import { runProgram } from "../support/program.ts";
import { nextTurn } from "../support/time.ts";
import { configOf, open } from "./support.ts";

const secretOf = (letter: string) => `sk_live_${letter.repeat(40)}`;

/** Keys as `NAME=LETTER`, accounts as `NAME=CREDITS`. */
function said(keys: string[], accounts: string[] = []): AccountsConfig {
  const pairs = (list: string[]) => list.map((text) => text.split("="));
  return {
    keys: pairs(keys).map(([name, letter]) => CONFIG_KEY.parse({ name, secret: secretOf(letter) })),
    accounts: ACCOUNTS.parse(pairs(accounts).map(([name, credits]) => ({ name, credits }))),
    accessPolicies: [],
  };
}

/** What runs, what comes, and what the refusal says; null: there is none. */
const CASES: [AccountsConfig, AccountsConfig, RegExp | null][] = [
  [said(["dev=a"]), said(["dev=b"]), /the key "dev" has another secret/],
  [said(["dev=a", "ci=b"]), said(["dev=c", "web=b"]), /the key "dev"/],
  [said(["a=a"], ["acme=1"]), said(["b=b"], ["acme=2"]), /the account "acme" has other credits/],
  // One secret of two was changed, and a key was added.
  [said(["dev=a", "ci=b"]), said(["dev=c", "ci=b", "web=d"]), null],
  // Keys of their own, and nothing that both have differently.
  [said(["a=a"], ["acme=1"]), said(["b=b"], ["acme=1", "other=2"]), null],
  [said([], ["acme=1"]), said(["b=b"], ["acme=2"]), null],
  // Credits are about to be changed on every node.
  [said(["dev=a"], ["acme=1"]), said(["dev=a"], ["acme=2"]), null],
];

onBothEngines(({ name, place }) => {
  Deno.test(`${name}: a configuration that contradicts that of a living node is refused, and of a dead one is not`, async () => {
    for (const [running, coming, refusal] of CASES) {
      const here = place();
      const store = here.open();
      try {
        await store.prepare();
        let rests = 0;
        const options = (node: string, beats: boolean) => ({
          store,
          node,
          pepper: "p",
          async rest() {
            if (++rests % 10 === 0 && beats) await store.heartbeat("running");
          },
        });
        await join(options("running", false), running);
        const joined = join(options("coming", true), coming);
        if (refusal === null) {
          await joined;
          assertEquals(rests, 0);
          assertEquals((await store.announcements()).map((a) => a.node).sort(), ["coming", "running"]);
          continue;
        }
        assertMatch((await assertRejects(() => joined, StoreRefused)).message, refusal);
        assertEquals((await store.announcements()).map((a) => a.node), ["running"]);
        // Its heart does not beat any more.
        await join(options("later", false), coming);
      } finally {
        await store.close();
        here.remove();
      }
    }
  });

  Deno.test(`${name}: a gateway that is refused has changed nothing, and one that is reloaded says so`, async () => {
    const here = place();
    const first = await open(here.open(), said(["dev=a"], ["acme=1"]));
    let over = false;
    // As often as its heart beats: with every tenth turn.
    const beating = (async () => {
      while (!over) {
        await first.tick();
        await nextTurn();
      }
    })();
    try {
      await assertRejects(() => open(here.open(), said(["dev=b"], ["acme=2"])), StoreRefused);
      assertEquals((await first.credits("acme")).granted, "1.00");
      await first.reload(said(["dev=b"], ["acme=3"]));
      const second = await open(here.open(), said(["dev=b"], ["acme=3"]));
      await second.close();
    } finally {
      over = true;
      await beating;
      await first.close();
      here.remove();
    }
  });
});

Deno.test("a start on a database whose pepper is missing ends at once, and says what to do", async () => {
  const cwd = await Deno.makeTempDir({ prefix: "sluice-pepper-" });
  const config = {
    store: { url: "sqlite:./s.db" },
    providers: { p: { api: "openai-chat", base_url: "http://127.0.0.1:1/v1" } },
    models: [{ id: "p/m", routes: [{ provider: "p", model: "m" }] }],
  };
  try {
    await Deno.writeTextFile(`${cwd}/sluice.jsonc`, JSON.stringify(config));
    const run = (...args: string[]) => runProgram([...args, "--config", "sluice.jsonc"], { cwd });
    assertEquals((await run("keys", "create", "ci")).code, 0);
    await Deno.rename(`${cwd}/s.db.pepper`, `${cwd}/kept`);
    for (const args of [["serve", "--port", "0"], ["keys", "list"]]) {
      const { code, err } = await run(...args);
      assertEquals(code, 2, err);
      assertMatch(err, /pepper .* is missing.* s\.db\.pepper|expected the file .*s\.db\.pepper/);
      assertEquals(err.includes("    at "), false, err);
    }
    await assertRejects(() => Deno.stat(`${cwd}/s.db.pepper`));
    await Deno.rename(`${cwd}/kept`, `${cwd}/s.db.pepper`);
    assertMatch((await run("keys", "list")).out, /ci/);
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
});

Deno.test("a pepper that is missing where nothing was hashed yet is made", async () => {
  const cwd = await Deno.makeTempDir({ prefix: "sluice-pepper-" });
  const { openStore } = await import("../../src/store/mod.ts");
  try {
    const store = openStore(`sqlite:${cwd}/s.db`);
    await store.prepare();
    await store.close();
    const service = await open(openStore(`sqlite:${cwd}/s.db`), configOf());
    await service.createKey({ name: "ci" });
    await service.close();
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
});
