/** Changes of the same key or team by two administrators at once: each changes what it was asked to, and nothing else. */
import { assertEquals } from "@std/assert";
import type { Store } from "../../src/store/mod.ts";
import { onBothEngines } from "../support/cluster.ts";
import { codeOf, configOf, open, type Running } from "./support.ts";

onBothEngines(({ name, place }) => {
  /** `b` has read what it is about to change when `meanwhile` happens at `a`. */
  function test(
    title: string,
    body: (a: Running, b: Running, meanwhile: (work: () => Promise<unknown>) => void) => Promise<void>,
  ): void {
    Deno.test(`${name}: ${title}`, async () => {
      const here = place();
      const [first, second] = [here.open(), here.open()];
      let before: () => Promise<unknown> = () => Promise.resolve();
      const bent: Store = {
        ...second,
        async insertKey(key, hash, conditions) {
          await before();
          return await second.insertKey(key, hash, conditions);
        },
        async updateKey(id, edit, conditions) {
          await before();
          return await second.updateKey(id, edit, conditions);
        },
        async insertAccount(account) {
          await before();
          return await second.insertAccount(account);
        },
        async removeTeam(team, at) {
          await before();
          return await second.removeTeam(team, at);
        },
        async updateTeam(team, edit) {
          await before();
          return await second.updateTeam(team, edit);
        },
      };
      const a = await open(first, configOf());
      const b = await open(bent, configOf());
      try {
        await body(a, b, (work) => before = work);
      } finally {
        await a.close();
        await b.close();
        here.remove();
      }
    });
  }

  test(
    "a key that is revoked while another of its fields is changed stays revoked",
    async (a, b, meanwhile) => {
      const { secret } = await a.createKey({ name: "ci" });
      meanwhile(() => a.revokeKey("ci"));
      const patched = await b.patchKey("ci", { models: ["a/*"] });
      assertEquals([patched.models, patched.revoked_at === null], [["a/*"], false]);
      for (const node of [a, b]) {
        await node.tick();
        assertEquals(await codeOf(() => node.authenticate(secret)), "invalid_api_key");
      }
    },
  );

  test("two fields of a key or a team that are changed at once are both changed", async (a, b, meanwhile) => {
    await a.createKey({ name: "ci" });
    meanwhile(() => a.patchKey("ci", { spend_limit: { amount: "5.00", period: "day" } }));
    const key = await b.patchKey("ci", { models: ["a/*"] });
    assertEquals([key.models, key.spend_limit?.amount], [["a/*"], "5.00"]);
    await a.createTeam({ name: "red" });
    await b.tick();
    meanwhile(() => a.changeTeam("red", { models: ["b/*"] }));
    const team = await b.changeTeam("red", { spend_limit: { amount: "7.00", period: "month" } });
    assertEquals([team.models, team.spend_limit?.amount], [["b/*"], "7.00"]);
  });

  test(
    "a key keeps the account that it got while another of its fields was changed",
    async (a, b, meanwhile) => {
      await a.createAccount({ name: "other", credits: null });
      await a.createKey({ name: "ci", account: "acme" });
      meanwhile(() => a.patchKey("ci", { account: "other" }));
      const key = await b.patchKey("ci", { name: "cd" });
      assertEquals([key.name, key.account], ["cd", "other"]);
    },
  );

  test("a team that another node has just made, changed or removed is known", async (a, b) => {
    await a.createTeam({ name: "red" });
    assertEquals((await b.createKey({ name: "ci", team: "red" })).key.team, "red");
    await a.changeTeam("red", { models: ["a/*"] });
    assertEquals((await b.team("red")).models, ["a/*"]);
    assertEquals((await b.teams()).data.map(({ name, models }) => [name, models]), [["red", ["a/*"]]]);
    await a.revokeKey("ci");
    await a.removeTeam("red");
    assertEquals(await codeOf(() => b.team("red")), "not_found");
    await a.createTeam({ name: "red" });
    assertEquals((await b.removeTeam("red")).name, "red");
  });

  test("no key gets into a team that is removed at the same time", async (a, b, meanwhile) => {
    await a.createTeam({ name: "red" });
    await a.createKey({ name: "ci" });
    meanwhile(() => a.removeTeam("red").catch(() => {}));
    assertEquals(await codeOf(() => b.createKey({ name: "cd", team: "red" })), "validation_error");
    assertEquals(await codeOf(() => b.getKey("cd")), "not_found");
    await a.createTeam({ name: "red" });
    assertEquals(await codeOf(() => b.patchKey("ci", { team: "red" })), "validation_error");
    assertEquals((await b.getKey("ci")).team, null);
    // Other changes of a key whose team is missing are accepted.
    meanwhile(() => Promise.resolve());
    assertEquals((await b.patchKey("ci", { repair: true })).repair, true);
  });

  test("a team that gets a key while it is removed stays", async (a, b, meanwhile) => {
    await a.createTeam({ name: "red" });
    meanwhile(() => a.createKey({ name: "ci", team: "red" }));
    assertEquals(await codeOf(() => b.removeTeam("red")), "validation_error");
    assertEquals((await b.team("red")).keys, 1);
    meanwhile(() => a.revokeKey("ci"));
    assertEquals((await b.removeTeam("red")).name, "red");
  });

  test("of two accounts of one name that are made at once, one is", async (a, b, meanwhile) => {
    meanwhile(() => a.createAccount({ name: "other", credits: "5.00" }));
    assertEquals(
      await codeOf(() => b.createAccount({ name: "other", credits: null })),
      "validation_error",
    );
    assertEquals((await b.credits("other")).granted, "5.00");
  });

  test("a key that is renamed in a team with an account keeps its own", async (a) => {
    await a.createAccount({ name: "other", credits: null });
    await a.createTeam({ name: "red" });
    await a.createKey({ name: "ci", account: "acme", team: "red" });
    await a.changeTeam("red", { account: "other" });
    assertEquals((await a.patchKey("ci", { name: "cd" })).account, "other");
    await a.changeTeam("red", { account: null });
    assertEquals((await a.getKey("cd")).account, "acme");
  });

  test(
    "a key without an account of its own pays from its team's, else from default, wherever it came from",
    async (a, b) => {
      for (const name of ["first", "second", "third"]) await a.createAccount({ name, credits: null });
      await a.createTeam({ name: "red", account: "first" });
      await a.createTeam({ name: "blue", account: "third" });
      await a.createTeam({ name: "none" });
      await a.createKey({ name: "follows", team: "red" });
      await a.createKey({ name: "null", team: "red", account: null });
      await a.createKey({ name: "own", team: "red", account: "first" });
      const accounts = () =>
        Promise.all(["follows", "null", "own"].map(async (name) => (await b.getKey(name)).account));
      assertEquals(await accounts(), ["first", "first", "first"]);
      await a.changeTeam("red", { account: "second" });
      assertEquals(await accounts(), ["second", "second", "second"]);
      await a.changeTeam("red", { account: null });
      assertEquals(await accounts(), ["default", "default", "first"]);

      // A team through which a key passes leaves nothing behind.
      for (const team of ["blue", "none", "blue", null]) {
        for (const name of ["follows", "null", "own"]) await a.patchKey(name, { team });
        assertEquals(
          await accounts(),
          team === "blue" ? ["third", "third", "third"] : ["default", "default", "first"],
          `in team ${team}`,
        );
      }

      // Null gives up the key's own account, and another one is named only where no team has one.
      await a.patchKey("own", { account: null });
      await a.patchKey("follows", { account: "second" });
      assertEquals(await accounts(), ["second", "default", "default"]);
      await a.patchKey("follows", { team: "blue", account: "third" });
      await a.patchKey("null", { team: "blue", account: null });
      assertEquals(
        await codeOf(() => a.patchKey("own", { team: "blue", account: "second" })),
        "validation_error",
      );
      assertEquals(await codeOf(() => a.patchKey("null", { account: "second" })), "validation_error");
      await a.changeTeam("blue", { account: null });
      assertEquals(await accounts(), ["third", "default", "default"]);
    },
  );
});
