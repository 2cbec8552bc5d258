import { assertEquals } from "@std/assert";
import { AdminTokens, type AdminTokensOptions } from "../../src/accounts/keys/admin_tokens.ts";
import { type Store, type StoredToken, StoreUnavailable } from "../../src/store/mod.ts";
import { nextTurn, StoppedClock } from "../support/time.ts";
import { codeOf } from "./support.ts";

const SECRET = "sk_admin_known";
const token = (more: Partial<StoredToken> = {}): StoredToken => ({
  id: "tok_1",
  name: "ada",
  role: "auditor",
  hash: SECRET,
  created: 0,
  createdBy: "admin_key",
  expiresAt: null,
  revokedAt: null,
  lastUsed: null,
  ...more,
});

/** Tokens whose hash is their secret, over a store that notes what it is asked. */
function open(store: Partial<Store> = {}, more: Partial<AdminTokensOptions> = {}) {
  const asked: string[] = [];
  const touched: [string, number][] = [];
  const clock = new StoppedClock();
  const tokens = new AdminTokens({
    store: {
      tokenByHash: (hash: string) => (asked.push(hash), Promise.resolve(null)),
      touchToken: (id: string, at: number) => (touched.push([id, at]), Promise.resolve()),
      ...store,
    } as Store,
    clock,
    hash: (secret) => secret,
    storeDown: () => false,
    outdated: () => false,
    ...more,
  });
  return { tokens, asked, touched, clock };
}

Deno.test("AdminTokens asks the store for 16 unknown tokens at a time, and once for each", async () => {
  const answers: ((token: StoredToken | null) => void)[] = [];
  const { tokens } = open({ tokenByHash: () => new Promise((resolve) => answers.push(resolve)) });
  const secrets = Array.from({ length: 17 }, (_, i) => `sk_admin_unknown${i}`);
  const first = secrets.map((secret) => codeOf(() => tokens.authenticate(secret)));
  assertEquals([await first[16], answers.length], ["service_unavailable", 16]);
  for (const answer of answers) answer(null);
  assertEquals(await Promise.all(first.slice(0, 16)), new Array(16).fill(null));
  const again = secrets.map((secret) => tokens.authenticate(secret));
  assertEquals(answers.length, 17);
  answers[16](null);
  assertEquals(await Promise.all(again), new Array(17).fill(null));
});

Deno.test("AdminTokens remembers 10,000 unknown tokens, and asks the store again for those before them", async () => {
  const { tokens, asked } = open();
  for (let i = 0; i < 10_000; i++) await tokens.authenticate(`sk_admin_${i}`);
  await tokens.authenticate("sk_admin_0");
  assertEquals(asked.length, 10_000);
  await tokens.authenticate("sk_admin_one_more");
  await tokens.authenticate("sk_admin_0");
  assertEquals(asked.slice(10_000), ["sk_admin_one_more", "sk_admin_0"]);
});

Deno.test("a token that the store finds is known from then on, one without its form is not looked for", async () => {
  let asked = 0;
  const { tokens } = open({ tokenByHash: () => (asked++, Promise.resolve(token())) });
  assertEquals(tokens.isSecret(SECRET), false);
  const principal = {
    role: "auditor",
    name: "ada",
    by: "token",
    credential: "tok_1",
    member: null,
    team: null,
  };
  assertEquals(await tokens.authenticate(SECRET), principal as never);
  assertEquals(await tokens.authenticate(SECRET), principal as never);
  for (const other of ["", "sk_admin_", "sk_live_known", `sk_admin_${"x".repeat(504)}`]) {
    assertEquals(await tokens.authenticate(other), null);
  }
  assertEquals(asked, 1);
  assertEquals([tokens.isSecret(SECRET), tokens.isSecret(`${SECRET}s`)], [true, false]);
});

for (const [what, more] of [["revoked", { revokedAt: 0 }], ["expired", { expiresAt: 0 }]] as const) {
  Deno.test(`a token that is ${what} is refused, as often as it is tried`, async () => {
    const { tokens, touched } = open({ tokenByHash: () => Promise.resolve(token(more)) });
    assertEquals(await tokens.authenticate(SECRET), null);
    assertEquals(await tokens.authenticate(SECRET), null);
    assertEquals([tokens.isGood("tok_1"), touched], [false, []]);
  });
}

Deno.test("a token ends at its time, in the requests and in what it has begun", async () => {
  const { tokens, clock } = open();
  tokens.learn([token({ expiresAt: 1000 })]);
  clock.move(999);
  assertEquals([(await tokens.authenticate(SECRET))?.name, tokens.isGood("tok_1")], ["ada", true]);
  clock.move(1);
  assertEquals([await tokens.authenticate(SECRET), tokens.isGood("tok_1")], [null, false]);
  assertEquals(tokens.isGood("tok_2"), false);
});

Deno.test("while the store is down or fails, an unknown token is not judged", async () => {
  let down = true;
  let thrown: Error = new StoreUnavailable("away");
  const { tokens } = open({ tokenByHash: () => Promise.reject(thrown) }, { storeDown: () => down });
  assertEquals(await codeOf(() => tokens.authenticate("sk_admin_x")), "service_unavailable");
  down = false;
  assertEquals(await codeOf(() => tokens.authenticate("sk_admin_x")), "service_unavailable");
  thrown = new Error("a fault");
  for (let i = 0; i < 20; i++) assertEquals(await codeOf(() => tokens.authenticate("sk_admin_x")), undefined);
});

Deno.test("what is too old admits no token, and still refuses one that was revoked", async () => {
  const { tokens, touched } = open({}, { outdated: () => true });
  tokens.learn([token(), token({ id: "tok_2", hash: "sk_admin_old", revokedAt: 0 })]);
  assertEquals(await codeOf(() => tokens.authenticate(SECRET)), "service_unavailable");
  assertEquals(await tokens.authenticate("sk_admin_old"), null);
  assertEquals([tokens.isGood("tok_1"), touched], [false, []]);
});

Deno.test("the use of a token is recorded once a minute, and again where the store did not take it", async () => {
  let fails = false;
  const touched: number[] = [];
  const { tokens, clock } = open({
    touchToken: (_, at) => (touched.push(at), fails ? Promise.reject(new Error("fault")) : Promise.resolve()),
  });
  tokens.learn([token()]);
  for (const ms of [0, 59_999, 1, 59_999]) {
    clock.move(ms);
    await tokens.authenticate(SECRET);
  }
  assertEquals(touched, [0, 60_000]);
  // Also by a clock that was set back.
  clock.move(-120_000);
  await tokens.authenticate(SECRET);
  assertEquals(touched, [0, 60_000, -1]);
  fails = true;
  clock.move(60_000);
  await tokens.authenticate(SECRET);
  await nextTurn();
  await tokens.authenticate(SECRET);
  assertEquals(touched, [0, 60_000, -1, 59_999, 59_999]);
});

Deno.test("known tokens stand newest first, those of one time by their id", () => {
  const { tokens } = open();
  const made = (id: string, created: number) => token({ id, hash: id, created });
  tokens.learn([made("b", 1), made("c", 1), made("a", 1), made("d", 2)]);
  assertEquals(tokens.known().map(({ id }) => id), ["d", "c", "b", "a"]);
});
