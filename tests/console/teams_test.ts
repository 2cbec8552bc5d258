/** Teams and accounts made over the administration API, on both stores, and what follows for keys on every node. */
import { assert, assertEquals } from "@std/assert";
import { codeOf, configOf, endOf, open, requestOf } from "../accounts/support.ts";
import { onBothEngines } from "../support/cluster.ts";
import { leastAnswer } from "../support/answers.ts";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { TEAMS } from "../../src/accounts/config.ts";

onBothEngines(({ name, place }) => {
  const test = (what: string, body: (at: ReturnType<typeof place>) => Promise<void>) =>
    Deno.test(`${name}: ${what}`, async () => {
      const at = place();
      try {
        await body(at);
      } finally {
        at.remove();
      }
    });

  test("a team made on one node holds for its keys on all, and a change of it at once", async (at) => {
    const one = await open(at.open(), configOf());
    const two = await open(at.open(), configOf());
    try {
      const team = await one.createTeam({
        name: "red",
        account: "acme",
        spend_limit: { amount: "0.10", period: "day" },
        models: ["a/*"],
      });
      assertEquals([team.source, team.account, team.spend?.remaining, team.keys], [
        "store",
        "acme",
        "0.10",
        0,
      ]);
      const { secret, key } = await one.createKey({ name: "ada", team: "red" });
      assertEquals(key.account, "acme", "the team's account pays");
      await two.tick();
      const found = await two.authenticate(secret);
      assertEquals([found.team?.name, found.team?.models, found.account], ["red", ["a/*"], "acme"]);
      const held = await two.admit(requestOf(found, 8));
      await held.settle(endOf({ input: 8 }));
      await two.flush();
      assertEquals(await codeOf(() => two.admit(requestOf(found, 8))), "api_key_limit_exceeded");
      assertEquals((await one.team("red")).spend?.amount, "0.08");

      await one.changeTeam("red", { spend_limit: { amount: "1.00", period: "day" }, models: null });
      await two.tick();
      const again = await two.authenticate(secret);
      assertEquals(again.team?.models, null);
      const more = await two.admit(requestOf(again, 8));
      await more.release();
      const state = (await two.listKeys()).data.find((one) => one.name === "ada");
      assertEquals([state?.spend?.amount, state?.team], ["0.08", "red"]);
      assert(state?.last_used !== null, "the key was used");
    } finally {
      await two.close();
      await one.close();
    }
  });

  test("a team is removed only without keys, is gone on all nodes, and may come again", async (at) => {
    const one = await open(at.open(), configOf());
    const two = await open(at.open(), configOf());
    try {
      await one.createTeam({ name: "red" });
      const { key } = await one.createKey({ name: "ada", team: "red" });
      assertEquals(await codeOf(() => one.removeTeam("red")), "validation_error");
      await one.revokeKey(key.id);
      assertEquals((await one.removeTeam("red")).name, "red");
      await two.tick();
      assertEquals(await codeOf(() => two.team("red")), "not_found");
      assertEquals(await codeOf(() => two.createKey({ name: "bob", team: "red" })), "validation_error");
      assertEquals(await codeOf(() => one.removeTeam("red")), "not_found");
      await two.createTeam({ name: "red", dlp_policy: "strict" });
      assertEquals(await codeOf(() => one.createTeam({ name: "red" })), "validation_error");
      await one.tick();
      assertEquals((await one.team("red")).dlp_policy, "strict");
    } finally {
      await two.close();
      await one.close();
    }
  });

  test("keys are searched by name and listed by team, whatever stands in the text", async (at) => {
    const one = await open(at.open(), configOf());
    try {
      await one.createTeam({ name: "red" });
      for (const name of ["Ada 100%", "ada_two", "adaXtwo", "bob"]) await one.createKey({ name });
      await one.createKey({ name: "carol", team: "red" });
      const names = async (query: { search?: string; team?: string }) =>
        (await one.listKeys(query)).data.map(({ name }) => name).sort();
      assertEquals(await names({ search: "ADA" }), ["Ada 100%", "adaXtwo", "ada_two"]);
      assertEquals(await names({ search: "a_t" }), ["ada_two"]);
      assertEquals(await names({ search: "0%" }), ["Ada 100%"]);
      assertEquals(await names({ search: "!" }), []);
      assertEquals(await names({ search: "ev" }), ["dev"], "the configuration's too");
      assertEquals(await names({ team: "red" }), ["carol"]);
      const page = await one.listKeys({ search: "ada", limit: 2 });
      assertEquals(page.data.length, 2);
      const rest = await one.listKeys({ search: "ada", cursor: page.next_cursor! });
      assertEquals(rest.data.length, 1);
    } finally {
      await one.close();
    }
  });

  test("a node that starts knows the teams before their keys", async (at) => {
    const one = await open(at.open(), configOf());
    await one.createTeam({ name: "red", models: ["a/*"] });
    const { secret } = await one.createKey({ name: "ada", team: "red" });
    await one.close();
    const two = await open(at.open(), configOf());
    try {
      assertEquals((await two.authenticate(secret)).team?.accessPolicy, null);
      assertEquals((await two.teams()).data.map(({ name, keys }) => [name, keys]), [["red", 1]]);
    } finally {
      await two.close();
    }
  });

  test("the configuration's teams are read only, and win over the store's of the same name", async (at) => {
    const one = await open(at.open(), configOf());
    await one.createTeam({ name: "red", models: ["store/*"] });
    await one.createTeam({ name: "blue" });
    const teams = TEAMS.parse([{ name: "red", models: ["file/*"] }, { name: "green" }]);
    await one.reload({ ...configOf(), teams });
    try {
      const listed = (await one.teams()).data.map(({ name, source, models }) => [name, source, models]);
      assertEquals(listed, [["red", "config", ["file/*"]], ["green", "config", null], [
        "blue",
        "store",
        null,
      ]]);
      for (
        const work of [
          () => one.changeTeam("red", { models: null }),
          () => one.removeTeam("green"),
          () => one.createTeam({ name: "green" }),
        ]
      ) assertEquals(await codeOf(work), "validation_error");
      const page = await one.teams({ limit: 2 });
      assertEquals(page.data.length, 2);
      const rest = await one.teams({ cursor: page.next_cursor! });
      assertEquals(rest.data.map(({ name }) => name), ["blue"]);
    } finally {
      await one.close();
    }
  });

  test("accounts are made, listed by name in pages, and made once", async (at) => {
    const one = await open(at.open(), configOf());
    try {
      const made = await one.createAccount({ name: "blue", credits: "5.00" });
      assertEquals([made.granted, made.balance, made.unlimited], ["5.00", "5.00", false]);
      assertEquals((await one.createAccount({ name: "open" })).unlimited, true);
      assertEquals(await codeOf(() => one.createAccount({ name: "blue" })), "validation_error");
      assertEquals(await codeOf(() => one.createAccount({ name: "acme" })), "validation_error");
      const names: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await one.accounts({ limit: 1, cursor });
        names.push(...page.data.map(({ account }) => account));
        cursor = page.next_cursor ?? undefined;
      } while (cursor !== undefined);
      assertEquals(names, ["acme", "blue", "default", "open"]);
      // Whose credits run out refuses; one without an end does not.
      const limited = await one.authenticate((await one.createKey({ name: "a", account: "blue" })).secret);
      assertEquals(await codeOf(() => one.admit(requestOf(limited, 600))), "insufficient_funds");
      const free = await one.authenticate((await one.createKey({ name: "b", account: "open" })).secret);
      await (await one.admit(requestOf(free, 600))).release();
    } finally {
      await one.close();
    }
  });
});

Deno.test("teams, accounts and models of a key over HTTP: made, changed, removed, refused by field", async () => {
  const provider = loopbackProvider(leastAnswer);
  const gateway = await testGateway(
    {
      p: { api: "openai-chat", url: `${provider.url}/v1` },
      q: { api: "openai-chat", url: `${provider.url}/v1` },
    },
    {
      admin_key: "the-admin-key",
      access_policies: { only_p: { allow: ["p/*"] } },
      auto: { models: ["p/model", "q/model"] },
    },
  );
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(gateway.url + path, {
      method,
      headers: { authorization: "Bearer the-admin-key" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    return { status: response.status, json: await response.json() };
  };
  try {
    const made = await call("POST", "/admin/teams", { name: "red", access_policy: "only_p" });
    assertEquals([made.status, made.json.source], [201, "store"]);
    const key = await call("POST", "/admin/keys", { name: "ada", team: "red" });
    assertEquals([key.json.last_used, key.json.spend.amount], [null, "0.00"]);
    const models = (await call("GET", `/admin/keys/${key.json.id}/models`)).json;
    assertEquals(models.data.map((m: { id: string; permitted: boolean }) => [m.id, m.permitted]), [
      ["svc/auto", true],
      ["p/model", true],
      ["q/model", false],
    ]);
    const first = (await call("GET", "/admin/keys/ada/models?limit=1")).json;
    assertEquals(first.data.length, 1);
    assertEquals(
      (await call("GET", `/admin/keys/ada/models?cursor=${first.next_cursor}`)).json.data[0].id,
      "p/model",
    );
    assertEquals((await call("PATCH", "/admin/teams/red", { models: ["q/*"] })).json.models, ["q/*"]);
    assertEquals((await call("GET", "/admin/keys/ada/models")).json.data.length, 1);
    const cases: [string, string, unknown, number, string][] = [
      ["POST", "/admin/teams", {}, 422, "name"],
      ["POST", "/admin/teams", { name: "red" }, 422, "name"],
      ["POST", "/admin/teams", { name: "x", account: "nobody" }, 422, "account"],
      ["POST", "/admin/teams", { name: "x", spend_limit: { amount: "1", period: "year" } }, 422, "period"],
      ["PATCH", "/admin/teams/red", { name: "blue" }, 422, "name"],
      ["PATCH", "/admin/teams/nobody", { models: null }, 404, "team"],
      ["DELETE", "/admin/teams/red", undefined, 422, "1 key names it"],
      ["DELETE", "/admin/teams/nobody", undefined, 404, "team"],
      ["POST", "/admin/accounts", { name: "x", credits: 5 }, 422, "credits"],
      ["GET", "/admin/accounts?cursor=zzz", undefined, 422, "cursor"],
      ["GET", "/admin/keys/nobody/models", undefined, 404, "key"],
    ];
    for (const [method, path, body, status, names] of cases) {
      const answer = await call(method, path, body);
      assertEquals(answer.status, status, `${method} ${path} ${JSON.stringify(answer.json)}`);
      assert(answer.json.error.message.includes(names), `${path} ${answer.json.error.message}`);
    }
    const actions = (await call("GET", "/admin/audit?kind=admin")).json.data
      .filter((entry: { result: string }) => entry.result === "done")
      .map((entry: { action: string }) => entry.action);
    assertEquals(actions, ["team.changed", "key.created", "team.created"]);

    // What a change took away is in the audit log.
    await call("POST", "/admin/accounts", { name: "acme", credits: "1" });
    await call("POST", "/admin/teams", {
      name: "blue",
      account: "acme",
      models: ["p/*"],
      dlp_policy: "none",
    });
    assertEquals((await call("PATCH", "/admin/keys/ada", { team: "blue" })).json.account, "acme");
    const other = await call("PATCH", "/admin/keys/ada", { account: "default" });
    assert(
      /account: expected "acme", .* got "default"/.test(other.json.error.message),
      other.json.error.message,
    );
    const long = await call("POST", "/admin/keys/ada/rotate", { overlap_seconds: 1e9 });
    assert(/from 0 to 31536000, got 1000000000/.test(long.json.error.message), long.json.error.message);
    assertEquals((await call("PATCH", "/admin/keys/ada", { team: "red", account: "default" })).status, 200);
    assertEquals((await call("DELETE", "/admin/teams/blue")).status, 200);
    const entries = (await call("GET", "/admin/audit?kind=admin")).json.data;
    const [removed, back, moved] = entries
      .filter((entry: { result: string }) => entry.result === "done")
      .map((entry: { before: unknown }) => entry.before);
    assertEquals(removed, {
      account: "acme",
      spend_limit: null,
      models: ["p/*"],
      access_policy: null,
      dlp_policy: "none",
    });
    assertEquals([back, moved], [
      { team: "blue", account: "acme" },
      { team: "red", account: "default" },
    ]);
  } finally {
    await gateway.close();
    await provider.close();
  }
});
