/** Keys, their administration, what is settled and read back, and what stays over an end and a new start. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import { ACCOUNTS } from "../../src/accounts/config.ts";
import type { Key } from "../../src/accounts/mod.ts";
import { onBothEngines } from "../support/cluster.ts";
import { openCalls } from "../support/open_calls.ts";
import { admitAtOnce, codeOf, configOf, endOf, keyOf, NOON, requestOf, SECRET, testsOn } from "./support.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;

onBothEngines((ground) => {
  const test = testsOn(ground);

  test("authenticate() knows keys of the file at once and refuses all else", configOf(), async (service) => {
    assertEquals((service.authenticate(SECRET) as Key).name, "dev");
    for (
      const wrong of ["", "sk_live_", "dev", SECRET + "x", SECRET.slice(0, -1), "sk_live_" + "x".repeat(600)]
    ) {
      assertEquals(await codeOf(() => service.authenticate(wrong)), "invalid_api_key", wrong);
    }
    assertEquals(
      await codeOf(() => service.authenticate("sk_live_' OR '1'='1' --xxxxxxxxxxxxxxxxxxxx")),
      "invalid_api_key",
    );
  });

  test(
    "createKey() makes a key whose secret works here and on another node",
    configOf(),
    async (service, again) => {
      const other = await again();
      const { key, secret } = await service.createKey({
        name: "ci",
        account: "acme",
        models: ["a/*"],
        spend_limit: { amount: "1.50", period: "day" },
        rate_limit: { requests_per_minute: 5 },
        expires_at: new Date(NOON + 10 * DAY).toISOString(),
      });
      assert(/^sk_live_[0-9A-Za-z]{32,}$/.test(secret));
      assertEquals(key.spend_limit, { amount: "1.50", period: "day" });
      assertEquals((await keyOf(service, secret)).id, key.id);
      assertEquals((await keyOf(other, secret)).models, ["a/*"]);
      assertEquals(await other.getKey("ci"), key);
      assert(!JSON.stringify(await service.listKeys()).includes(secret));
      service.clock.move(10 * DAY);
      assertEquals(await codeOf(() => service.authenticate(secret)), "invalid_api_key");
    },
  );

  test("createKey() refuses what it does not understand", configOf(), async (service) => {
    const bad: [string, unknown][] = [
      ["name", {}],
      ["name", { name: "a\u0000b" }],
      ["name", { name: 5 }],
      ["account", { name: "k", account: "nobody" }],
      ["models", { name: "k", models: "a/*" }],
      ["spend_limit.amount", { name: "k", spend_limit: { amount: 5, period: "day" } }],
      ["spend_limit.amount", { name: "k", spend_limit: { amount: "-1", period: "day" } }],
      ["spend_limit.period", { name: "k", spend_limit: { amount: "1", period: "year" } }],
      ["rate_limit.requests_per_minute", { name: "k", rate_limit: { requests_per_minute: 1.5 } }],
      ["expires_at", { name: "k", expires_at: "soon" }],
      ["sauce", { name: "k", sauce: 1 }],
    ];
    for (const [param, input] of bad) {
      const error = await assertRejects(() => service.createKey(input as never), Failure, "", param);
      assertEquals([error.code, error.param], ["validation_error", param]);
    }
    await service.createKey({ name: "k", account: "acme" });
    assertEquals(await codeOf(() => service.createKey({ name: "k", account: "acme" })), "validation_error");
  });

  test("revokeKey() reaches a node that knows the secret", configOf(), async (service, again) => {
    const other = await again();
    const { key, secret } = await service.createKey({ name: "ci" });
    await keyOf(other, secret);
    await service.revokeKey(key.id);
    assertEquals(await codeOf(() => service.authenticate(secret)), "invalid_api_key");
    await other.tick();
    assertEquals(await codeOf(() => other.authenticate(secret)), "invalid_api_key");
    assert((await service.getKey(key.id)).revoked_at !== null);
  });

  test("rotateKey() lets the old secret overlap", configOf(), async (service) => {
    const first = await service.createKey({ name: "ci" });
    const second = await service.rotateKey("ci", { overlapSeconds: 60 });
    assertEquals((await keyOf(service, first.secret)).id, first.key.id);
    assertEquals((await keyOf(service, second.secret)).id, first.key.id);
    service.clock.move(MINUTE);
    assertEquals(await codeOf(() => service.authenticate(first.secret)), "invalid_api_key");
    await keyOf(service, second.secret);
    const third = await service.rotateKey("ci");
    assertEquals(await codeOf(() => service.authenticate(second.secret)), "invalid_api_key");
    await keyOf(service, third.secret);
  });

  test(
    "records of a key that has left the file are found by its name and by its id",
    configOf(),
    async (service) => {
      const reservation = await service.admit(requestOf(await keyOf(service), 3));
      await reservation.settle(endOf({ input: 3 }));
      const { data: [{ key_id }] } = await service.generations({});
      await service.reload({ ...configOf(), keys: [] });
      for (const key of ["dev", key_id]) {
        for (const query of [{ key }, { key, status: "completed" }]) {
          assertEquals((await service.generations(query)).data.length, 1, JSON.stringify(query));
        }
      }
      // A name may look like an id.
      const { secret } = await service.createKey({ name: `${key_id}x`, account: "acme" });
      await (await service.admit(requestOf(await keyOf(service, secret), 3))).settle(endOf({ input: 3 }));
      assertEquals((await service.generations({ key: `${key_id}x` })).data.length, 1);
    },
  );

  test("rotateKey() makes no secret that nobody could use", configOf(), async (service) => {
    await service.createKey({ name: "ci", expires_at: new Date(NOON + DAY).toISOString() });
    service.clock.move(DAY);
    const error = await assertRejects(() => service.rotateKey("ci"), Failure);
    assertEquals([error.code, error.param], ["validation_error", "id"]);
    assertEquals(
      error.message,
      'Cannot read id: expected a key that is valid, got "ci", which has ended: change its expires_at first',
    );
    await service.patchKey("ci", { expires_at: null });
    await keyOf(service, (await service.rotateKey("ci")).secret);
    await service.revokeKey("ci");
    const refused = async (work: () => Promise<unknown>) => (await assertRejects(work, Failure)).message;
    assertEquals(
      await refused(() => service.rotateKey("ci")),
      'Cannot read id: expected a key that is valid, got "ci", which is revoked',
    );
    assertEquals(
      await refused(() => service.revokeKey("dev")),
      'Cannot read id: expected a key of the store, got "dev", which stands in the configuration file: change it there',
    );
  });

  test("patchKey() changes what is named and nothing else", configOf(), async (service) => {
    const { secret } = await service.createKey({ name: "ci", models: ["a/*"], access_policy: "eu" });
    assertEquals((await keyOf(service, secret)).accessPolicy, { name: "eu", allow: ["mistral/*"], deny: [] });
    await service.patchKey("ci", { access_policy: "gone", dlp_policy: "finance" });
    const key = await keyOf(service, secret);
    assertEquals([key.accessPolicy, key.dlpPolicy, key.models], ["missing", "finance", ["a/*"]]);
    const view = await service.patchKey("ci", { models: null, access_policy: null });
    assertEquals([view.models, view.access_policy, view.dlp_policy], [null, null, "finance"]);
    assertEquals(await codeOf(() => service.patchKey("dev", { models: null })), "validation_error");
    assertEquals(await codeOf(() => service.patchKey("nobody", { models: null })), "not_found");
  });

  test(
    "reload() takes other keys and policies",
    configOf(),
    async (service) => {
      assertEquals((await keyOf(service)).accessPolicy, null);
      await service.reload(configOf({ access_policy: "eu" }));
      assertEquals((await keyOf(service)).accessPolicy, { name: "eu", allow: ["mistral/*"], deny: [] });
      await service.reload({ ...configOf(), keys: [] });
      assertEquals(await codeOf(() => service.authenticate(SECRET)), "invalid_api_key");
    },
  );

  test(
    "settle() bills what was used, once, and reads back in contract's words",
    configOf({}, "10"),
    async (service) => {
      const key = await keyOf(service);
      const request = requestOf(key, 100, { requestedModel: "x\u0000y\ud800" + "z".repeat(500) });
      const reservation = await service.admit(request);
      assertEquals(await openCalls(service, { key: "dev" }), 1);
      const end = endOf({ input: 30, cached: 10, output: 5 }, {
        searches: 2,
        dlp: { mode: "mask", findings: 1 },
      });
      await reservation.settle(end);
      await reservation.settle(end);
      reservation.release();
      assertEquals(await openCalls(service), 0);
      const { data } = await service.generations({});
      assertEquals(data.length, 1);
      assertEquals([data[0].id, data[0].cost, data[0].searches], [request.id, "0.36", 2]);
      assertEquals(data[0].usage?.input_tokens, 30);
      assert(data[0].requested_model.length <= 200);
      assertEquals((await service.credits("acme")).balance, "9.64");
      assertEquals((await service.generation(request.id, { owner: key })).cost, "0.36");
      const stranger = { ...key, id: "key_other" };
      assertEquals(await codeOf(() => service.generation(request.id, { owner: stranger })), "not_found");
      assertEquals((await service.usage({ by: "model" })).data[0].cost, "0.36");
      assertEquals((await service.usage({ by: "day", from: "2026-01-16" })).data, []);
    },
  );

  test(
    "settle() bills a failed call its searches, and records nothing that reached nobody or used nothing",
    configOf({}, "10"),
    async (service) => {
      const key = await keyOf(service);
      const cases: [Parameters<typeof endOf>, string | null][] = [
        [[{ input: 30 }, { status: "failed", errorCode: "provider_timeout", searches: 3 }], "0.015"],
        [[null, { status: "failed", searches: 1 }], "0.005"],
        [[null, { status: "failed" }], "0.00"],
        [[null, { status: "failed", provider: null }], null],
        [[null, { status: "completed" }], null],
        [[null, { status: "interrupted" }], "0.00"],
        [[{ input: 2 }, { status: "interrupted", estimated: true }], "0.02"],
        [[{ input: NaN, output: 1.5 }, { status: "incomplete", searches: -1 }], "0.01"],
      ];
      for (const [[usage, more], cost] of cases) {
        const request = requestOf(key, 100);
        await (await service.admit(request)).settle(endOf(usage, more));
        if (cost === null) assertEquals(await codeOf(() => service.generation(request.id)), "not_found");
        else assertEquals((await service.generation(request.id)).cost, cost);
      }
      assertEquals((await service.credits("acme")).spent, "0.05");
      assertEquals(service.pendingCount(), 0);
    },
  );

  test(
    "settle() of absurd counts still makes records, and sums that can be read",
    configOf(),
    async (service, again) => {
      const key = await keyOf(service);
      for (let i = 0; i < 3; i++) {
        await (await service.admit(requestOf(key, 1))).settle(endOf({ input: 9e15, output: 9e15 }));
      }
      assertEquals((await service.generations({})).data.map((g) => g.cost), Array(3).fill("9000000.00"));
      for (const by of ["key", "model", "day"]) {
        const { data: [{ generations, input_tokens }] } = await service.usage({ by });
        assertEquals([generations, input_tokens], [3, 3e9]);
      }
      assertEquals((await service.keyStatus(key)).spend.amount, "9200000.00");
      await service.addCredits("acme", "1");
      // A budget that is made from these sums can be made, too.
      const limited = await again(configOf({ spend_limit: { amount: "10", period: "day" } }));
      assertEquals(
        await codeOf(async () => limited.admit(requestOf(await keyOf(limited), 1))),
        "api_key_limit_exceeded",
      );
    },
  );

  test(
    "an account whose name no new account may have stays in use",
    { ...configOf(), accounts: [{ name: "acme", credits: null }, { name: "old ", credits: 10n ** 12n }] },
    async (_, again) => {
      const service = await again(configOf());
      assertEquals((await service.addCredits("old ", "1")).balance, "2.00");
      assertEquals((await service.createKey({ name: "k", account: "old " })).key.account, "old ");
      await service.statement({ account: "old ", month: "2026-01" });
      assertEquals(await codeOf(() => service.addCredits("new ", "1")), "validation_error");
      assertEquals(await codeOf(() => service.createAccount({ name: "new " })), "validation_error");
    },
  );

  test("addCredits() gives no more than 64 bits hold", configOf({}, "10"), async (service) => {
    await service.addCredits("acme", "9000000");
    assertEquals(await codeOf(() => service.addCredits("acme", "9000000")), "validation_error");
    const { balance } = await service.addCredits("acme", "0.000000000001");
    assertEquals(balance, "9000010.000000000001");
  });

  test(
    "addCredits() at the same time gives no more either, to the last digit",
    configOf({}, "10"),
    async (service) => {
      const additions = ["4000000.000000000001", "4000000.000000000002", "4000000.000000000004"];
      const codes = await Promise.all(additions.map((a) => codeOf(() => service.addCredits("acme", a))));
      assertEquals(codes.filter((code) => code === null).length, 2);
      const given = additions.filter((_, i) => codes[i] === null).map((a) => Number(a.slice(-1)));
      const { balance } = await service.credits("acme");
      assertEquals(balance, `8000010.00000000000${given[0] + given[1]}`);
    },
  );

  test("generations() pages and filters, whatever is put into it", configOf(), async (service) => {
    const key = await keyOf(service);
    for (let i = 0; i < 7; i++) {
      await (await service.admit(requestOf(key, 1, { created: NOON + i % 2, model: i < 5 ? "a/b" : "c/d" })))
        .settle(endOf({ input: 1 }));
    }
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await service.generations({ limit: 3, cursor });
      seen.push(...page.data.map((g) => g.id));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    assertEquals(new Set(seen).size, 7);
    assertEquals(seen.length, 7);
    assertEquals((await service.generations({ key: "dev", model: "c/d" })).data.length, 2);
    assertEquals((await service.generations({ key: key.id })).data.length, 7);
    assertEquals((await service.generations({ key: "'; DROP TABLE generations; --" })).data, []);
    for (
      const bad of [{ cursor: "x" }, { cursor: btoa("1 ' OR 1=1") + "é" }, { limit: 0 }, { limit: 1.5 }, {
        from: "1",
      }]
    ) {
      assertEquals(await codeOf(() => service.generations(bad)), "validation_error", JSON.stringify(bad));
    }
  });

  test(
    "keepHouse() deletes generations past their retention and keeps their sums",
    configOf({}, "10"),
    async (service) => {
      const key = await keyOf(service);
      for (const age of [100, 100, 1]) {
        await (await service.admit(requestOf(key, 1, { created: NOON - age * DAY }))).settle(
          endOf({ input: 1 }),
        );
      }
      const before = await service.usage({ by: "day" });
      await service.flush();
      await service.keepHouse();
      assertEquals((await service.generations({})).data.length, 1);
      assertEquals(await service.usage({ by: "day" }), before);
      assertEquals((await service.credits("acme")).spent, "0.03");
    },
  );

  test(
    "a key of an account nobody has declared has no credits",
    configOf({ account: "ghost" }),
    async (service) => {
      const key = await keyOf(service);
      assertEquals(await codeOf(() => service.admit(requestOf(key, 1))), "insufficient_funds");
      assertEquals(await codeOf(() => service.credits("ghost")), "not_found");
    },
  );

  test("close() and opening again keep what was spent", configOf({}, "1.00"), async (service, again) => {
    const key = await keyOf(service);
    await (await service.admit(requestOf(key, 100))).settle(endOf({ input: 30 }));
    await service.close();
    const later = await again();
    const { reservations } = await admitAtOnce(later, await keyOf(later), 100);
    assertEquals(reservations.length, 70);
    for (const reservation of reservations) reservation.release();
  });

  const limitedDefault = { ...configOf(), accounts: ACCOUNTS.parse([{ name: "default", credits: "5" }]) };
  test(
    "opening without accounts leaves the credits that were configured",
    limitedDefault,
    async (service, again) => {
      const other = await again({ keys: [], accounts: [], accessPolicies: [] });
      assertEquals((await other.credits("default")).balance, "5.00");
      await service.reload({
        ...limitedDefault,
        accounts: ACCOUNTS.parse([{ name: "default", credits: "7" }]),
      });
      assertEquals((await other.credits("default")).balance, "7.00");
    },
  );

  test("two processes on one store share a budget", configOf({}, "1.00"), async (a, again) => {
    const b = await again();
    const key = await keyOf(a);
    const [first, second] = await Promise.all([admitAtOnce(a, key, 60), admitAtOnce(b, key, 60)]);
    const reservations = [...first.reservations, ...second.reservations];
    assertEquals(reservations.length, 100);
    for (const reservation of reservations) await reservation.settle(endOf({ input: 1 }));
    await a.flush();
    await b.flush();
    assertEquals((await a.credits("acme")).balance, "0.00");
  }, { ticking: true });

  test("prices of the end replace those of the request", configOf({}, "10"), async (service) => {
    const key = await keyOf(service);
    const request = requestOf(key, 10);
    await (await service.admit(request)).settle(endOf({ input: 10 }, { model: "c/d" }), {
      prompt: "0.02",
      completion: "0",
    });
    const { model, requested_model, cost } = await service.generation(request.id);
    assertEquals([model, requested_model, cost], ["c/d", "a/b", "0.20"]);
  });
});

Deno.test("openStore() names what it takes, and not what it was given", async () => {
  const { openStore } = await import("../../src/store/mod.ts");
  const error = assertThrows(() => openStore("mysql://root:hunter2@h/db"), TypeError);
  assert(!error.message.includes("hunter2"));
});
