import { assertEquals } from "@std/assert";
import { Keyring } from "../../src/accounts/keys/keyring.ts";
import type { KeyWithSecrets, Store } from "../../src/store/mod.ts";
import { sqlitePlace } from "../support/cluster.ts";
import { storedKey } from "../store/samples.ts";
import { codeOf } from "./support.ts";

const SECRETS = Array.from({ length: 65 }, (_, i) => `sk_live_unknown${i}`);

function keyringOver(store: Store): Keyring {
  const keyring = new Keyring({
    store,
    clock: { now: () => 0 },
    storeDown: () => false,
    outdated: () => false,
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
