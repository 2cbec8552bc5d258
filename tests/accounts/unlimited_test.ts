/** Accounts of the store: which have a limit, and which have none. */
import { assertEquals } from "@std/assert";
import { onBothEngines } from "../support/cluster.ts";
import { codeOf, configOf, endOf, keyOf, requestOf, testsOn } from "./support.ts";

/** Without accounts: the default account is there all the same. */
const NO_ACCOUNTS = { ...configOf({ account: null }), accounts: [] };
const LIMITED = { ...NO_ACCOUNTS, accounts: [{ name: "default", credits: 10n ** 12n }] };

onBothEngines((ground) => {
  const test = testsOn(ground);

  test(
    "a key of an account that was created without a limit is not limited",
    configOf({}, "1.00"),
    async (service, again) => {
      await service.createAccount({ name: "open", credits: null });
      await service.createAccount({ name: "paid", credits: "5.00" });
      const { secret } = await service.createKey({ name: "ci", account: "open" });
      const limited = (await service.createKey({ name: "cd", account: "paid" })).secret;
      const other = await again();
      for (const node of [service, other]) {
        await node.tick();
        assertEquals(node.isLimited(await keyOf(node, secret)), false);
        assertEquals(node.isLimited(await keyOf(node, limited)), true);
        assertEquals(node.isLimited(await keyOf(node)), true);
      }
      // A configuration that names it counts, also where the store has learned of it from another node.
      const { accounts, ...rest } = configOf({}, "1.00");
      await other.reload({ ...rest, accounts: [...accounts, { name: "open", credits: 10n ** 12n }] });
      for (const node of [other, service]) {
        await node.tick();
        assertEquals(node.isLimited(await keyOf(node, secret)), true);
        assertEquals(
          await codeOf(async () => node.admit(requestOf(await keyOf(node, secret), 101))),
          "insufficient_funds",
        );
      }
    },
  );

  test(
    "the default account keeps the limit that a configuration gave it",
    LIMITED,
    async (service, again) => {
      const admitted = await service.admit(requestOf(await keyOf(service), 90));
      await admitted.settle(endOf({ input: 90 }));
      await service.flush();
      const later = await again(NO_ACCOUNTS);
      assertEquals((await later.credits("default")).balance, "0.10");
      assertEquals(
        await codeOf(async () => later.admit(requestOf(await keyOf(later), 11))),
        "insufficient_funds",
      );
    },
  );

  test("the default account has no limit where nobody gave it one", NO_ACCOUNTS, async (service) => {
    await service.addCredits("default", "1.00", {});
    const key = await keyOf(service);
    assertEquals(service.isLimited(key), false);
    assertEquals(await codeOf(() => service.admit(requestOf(key, 100_000))), null);
  });
});
