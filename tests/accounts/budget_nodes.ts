/** Nodes over one database for tests of budgets, and calls that spend at once. */
import { ACCOUNTS, CONFIG_KEY, TEAMS } from "../../src/accounts/config.ts";
import type { AccountsConfig, AdmissionRequest, Key, Reservation } from "../../src/accounts/mod.ts";
import type { Failure } from "../../src/exchange/failure.ts";
import { onBothEngines, type Place } from "../support/cluster.ts";
import { StoppedClock } from "../support/time.ts";
import { endOf, NOON, open, requestOf, type Running } from "./support.ts";

export const DAY = 86_400_000;
export const secretOf = (name: string) => `sk_live_${name.repeat(20)}`;

export function configWith(
  keys: Record<string, unknown>[],
  teams: Record<string, unknown>[] = [],
): AccountsConfig {
  return {
    keys: keys.map((key) => CONFIG_KEY.parse({ secret: secretOf(String(key.name)), ...key })),
    accounts: ACCOUNTS.parse([{ name: "acme", credits: null }, { name: "labs", credits: "3" }]),
    accessPolicies: [{ name: "eu", allow: ["mistral/*"], deny: [] }],
    teams: TEAMS.parse(teams),
  };
}

export type Labels = NonNullable<AdmissionRequest["labels"]>;
export const inSession = (session: string): { labels: Labels } => ({ labels: { tags: null, session } });
export const tagged = (tags: Record<string, string>): { labels: Labels } => ({
  labels: { tags, session: null },
});

/** Admits so many at once, of `tokens` cents each, and ends them. Answers what was spent in cents, and why others were not. */
export async function spendAtOnce(
  nodes: readonly Running[],
  keys: readonly Key[],
  { calls, tokens = 1, labels }: { calls: number; tokens?: number; labels?: Labels | null },
): Promise<{ spent: number; refused: Map<string, number> }> {
  const open: Reservation[] = [];
  const refused = new Map<string, number>();
  await Promise.all(Array.from({ length: calls }, async (_, i) => {
    const node = nodes[i % nodes.length];
    try {
      open.push(await node.admit(requestOf(keys[i % keys.length], tokens, { labels })));
    } catch (error) {
      const { code } = error as Failure;
      refused.set(code, (refused.get(code) ?? 0) + 1);
    }
  }));
  await Promise.all(open.map((reservation) => reservation.settle(endOf({ input: tokens }))));
  return { spent: open.length * tokens, refused };
}

type Test = (
  title: string,
  config: AccountsConfig,
  count: number,
  body: (nodes: Running[], here: Place) => Promise<void>,
) => void;

/** Registers tests on both databases, each with `count` nodes over a store of its own and a clock that stands at noon. */
export function onNodes(body: (test: Test) => void): void {
  onBothEngines(({ name, place }) =>
    body((title, config, count, run) =>
      Deno.test(`${name}: ${title}`, async () => {
        const here = place();
        const clock = new StoppedClock(NOON);
        const nodes: Running[] = [];
        try {
          for (let i = 0; i < count; i++) nodes.push(await open(here.open(), config, { clock }));
          await run(nodes, here);
        } finally {
          for (const node of nodes) await node.close();
          here.remove();
        }
      })
    )
  );
}
