import { assertEquals } from "@std/assert";
import { Keyring, type KeyringOptions } from "../../src/accounts/keys/keyring.ts";
import { KeyContext } from "../../src/accounts/keys/key_state.ts";
import { Teams } from "../../src/accounts/keys/teams.ts";
import { type KeyWithSecrets, type Store, StoreUnavailable } from "../../src/store/mod.ts";
import { sqlitePlace } from "../support/cluster.ts";
import { storedKey } from "../store/samples.ts";
import { codeOf } from "./support.ts";

const SECRETS = Array.from({ length: 65 }, (_, i) => `sk_live_unknown${i}`);

function keyringOver(store: Pick<Store, "keyByHash">, more: Partial<KeyringOptions> = {}): Keyring {
  const keyring = new Keyring({
    store: store as Store,
    clock: { now: () => 0 },
    storeDown: () => false,
    outdated: () => false,
    ...more,
  });
  keyring.setPepper("a pepper of this test");
  return keyring;
}

Deno.test("Keyring asks the store for 64 unknown secrets at a time, and is asked again for the others", async () => {
  const here = sqlitePlace();
  const store = here.open();
  const asked: ((key: KeyWithSecrets | null) => void)[] = [];
  const slow: Store = { ...store, keyByHash: () => new Promise((resolve) => asked.push(resolve)) };
  const keyring = keyringOver(slow);
  try {
    const codes = SECRETS.map((secret) => codeOf(() => keyring.authenticate(secret)));
    assertEquals(await codes[64], "service_unavailable");
    assertEquals(asked.length, 64);
    for (const answer of asked) answer(null);
    assertEquals(new Set(await Promise.all(codes.slice(0, 64))), new Set(["invalid_api_key"]));
    // Answers are remembered, so only the one that was turned away is asked for.
    const again = SECRETS.map((secret) => codeOf(() => keyring.authenticate(secret)));
    asked[64](null);
    assertEquals(new Set(await Promise.all(again)), new Set(["invalid_api_key"]));
    assertEquals(asked.length, 65);
  } finally {
    await store.close();
    here.remove();
  }
});

Deno.test("Keyring leaves a key revoked when an answer from before comes late", async () => {
  const here = sqlitePlace();
  const store = here.open();
  const asked = Promise.withResolvers<KeyWithSecrets | null>();
  let hash = "";
  const slow: Store = { ...store, keyByHash: (of) => (hash = of, asked.promise) };
  const keyring = keyringOver(slow);
  try {
    const before = codeOf(() => keyring.authenticate(SECRETS[0]));
    const secrets = [{ hash, expiresAt: null }];
    keyring.learn([{ ...storedKey("k1", { revokedAt: 5 }), rev: 2, secrets }]);
    asked.resolve({ ...storedKey("k1"), rev: 1, secrets });
    assertEquals(await before, "invalid_api_key");
    assertEquals(keyring.state("k1")?.revokedAt, 5);
  } finally {
    await store.close();
    here.remove();
  }
});

const SECRET = SECRETS[0];

Deno.test("Keyring remembers 10,000 unknown secrets, and asks the store again for those before them", async () => {
  let asked = 0;
  const keyring = keyringOver({ keyByHash: () => (asked++, Promise.resolve(null)) });
  const unknown = (name: string) => codeOf(() => keyring.authenticate(`sk_live_${name}`));
  for (let i = 0; i < 10_000; i++) assertEquals(await unknown(`${i}`), "invalid_api_key");
  await unknown("0");
  assertEquals(asked, 10_000);
  await unknown("one more");
  await unknown("0");
  assertEquals(asked, 10_002);
});

Deno.test("Keyring judges no unknown secret while the store is down or fails, however often it is tried", async () => {
  let down = true;
  let thrown: Error = new StoreUnavailable("away");
  const keyring = keyringOver({ keyByHash: () => Promise.reject(thrown) }, { storeDown: () => down });
  const codes = () => Promise.all(SECRETS.map((secret) => codeOf(() => keyring.authenticate(secret))));
  assertEquals(new Set(await codes()), new Set(["service_unavailable"]));
  down = false;
  assertEquals(new Set(await codes()), new Set(["service_unavailable"]));
  thrown = new Error("a fault");
  for (let i = 0; i < 3; i++) assertEquals(await codeOf(() => keyring.authenticate(SECRET)), undefined);
});

Deno.test("Keyring without a pepper knows the configuration's keys alone, and derives nothing", async () => {
  const keyring = new Keyring({
    store: { keyByHash: () => Promise.resolve(null) } as unknown as Store,
    clock: { now: () => 0 },
    storeDown: () => false,
    outdated: () => true,
  });
  keyring.configure([storedKey("k1", { expiresAt: 1 })], [SECRET], new KeyContext([], new Teams()));
  for (let i = 0; i < 2; i++) assertEquals((await keyring.authenticate(SECRET)).id, "k1");
  const work = [
    () => keyring.authenticate(SECRETS[1]),
    () => keyring.hash(SECRET),
    () => keyring.derivedKey("x"),
  ];
  for (const fails of work) assertEquals(await codeOf(fails), "service_unavailable");
  assertEquals([keyring.isSecret(SECRET), keyring.isSecret(SECRETS[1])], [true, false]);
});

Deno.test("Keyring takes a key for good until its secret or the key itself ends, and only while what it knows is new", async () => {
  let now = 0;
  let outdated = false;
  const keyring = keyringOver({ keyByHash: () => Promise.resolve(null) }, {
    clock: { now: () => now },
    outdated: () => outdated,
  });
  const [old, fresh] = SECRETS;
  keyring.learn([{
    ...storedKey("k1", { expiresAt: 20 }),
    rev: 1,
    secrets: [{ hash: keyring.hash(old), expiresAt: 10 }, { hash: keyring.hash(fresh), expiresAt: null }],
  }]);
  const codes = async () => [
    await codeOf(() => keyring.authenticate(old)),
    await codeOf(() => keyring.authenticate(fresh)),
  ];
  for (
    const [at, expected] of [
      [0, [null, null]],
      [9, [null, null]],
      [10, ["invalid_api_key", null]],
      [19, ["invalid_api_key", null]],
      [20, ["invalid_api_key", "invalid_api_key"]],
    ] as const
  ) {
    now = at;
    assertEquals(await codes(), [...expected], `${at}`);
  }
  now = 0;
  await codes();
  outdated = true;
  assertEquals(await codes(), ["service_unavailable", "service_unavailable"]);
  assertEquals(await codes(), ["service_unavailable", "service_unavailable"]);
});

Deno.test("Keyring has several keys where one has two secrets, and forgets secrets that a change has taken away", async () => {
  const keyring = keyringOver({ keyByHash: () => Promise.resolve(null) });
  assertEquals(keyring.hasSeveral(), false);
  const put = (rev: number, ...secrets: string[]) =>
    keyring.learn([{
      ...storedKey("k1"),
      rev,
      secrets: secrets.map((secret) => ({ hash: keyring.hash(secret), expiresAt: null })),
    }]);
  put(1, SECRETS[0]);
  assertEquals(keyring.hasSeveral(), false);
  put(2, SECRETS[0], SECRETS[1]);
  assertEquals(keyring.hasSeveral(), true);
  await keyring.authenticate(SECRETS[0]);
  put(3, SECRETS[1]);
  assertEquals(await codeOf(() => keyring.authenticate(SECRETS[0])), "invalid_api_key");
  assertEquals((await keyring.authenticate(SECRETS[1])).id, "k1");
  assertEquals([keyring.isSecret(SECRETS[0]), keyring.isSecret(SECRETS[1])], [false, true]);
});
