/**
 * Whether the gateways that share a database belong together. Two that have no key in common, and contradict each other in
 * what a key or an account is, would spend each other's budgets: the one that comes second refuses to start.
 *
 * Each node tells in the database what its configuration says. A node that died may have left its word there, so one that
 * contradicts counts only when its heart is seen to beat.
 */
import { sha256Hex } from "../exchange/hashes.ts";
import type { Announcement, Store } from "../store/mod.ts";
import { pause } from "../timing/waits.ts";
import type { AccountsConfig } from "./configured.ts";
import { StoreRefused } from "./keys/pepper.ts";

/** Hearts beat every five seconds, more slowly where the machine is busy. */
const WATCH_MS = 12_000;
const LOOK_MS = 500;

/** What a configuration says, without its secrets. */
interface Said {
  /** Names of keys, with what tells their secrets apart. */
  keys: Record<string, string>;
  /** Names of accounts, with their credits. */
  accounts: Record<string, string | null>;
}

export interface DeploymentOptions {
  store: Store;
  node: string;
  pepper: string;
  rest?(ms: number): Promise<void>;
  /** What the process says of itself; others show it. */
  about?(): unknown;
}

/** Tells the others what this node's configuration says. */
export function announce(
  { store, node, pepper, about }: DeploymentOptions,
  config: AccountsConfig,
): Promise<void> {
  return store.announce(node, JSON.stringify({ ...saidOf(config, pepper), about: about?.() }));
}

/** What each node that is not gone says of itself; null: it is of a release that says nothing. */
export async function saidAbout(
  store: Pick<Store, "announcements">,
): Promise<{ node: string; about: unknown }[]> {
  return (await store.announcements()).map(({ node, data }) => ({
    node,
    about: JSON.parse(data).about ?? null,
  }));
}

/** Announces this node. Throws {@link StoreRefused} where a living one contradicts it. */
export async function join(options: DeploymentOptions, config: AccountsConfig): Promise<void> {
  const { store, node, pepper, rest = pause } = options;
  const own = saidOf(config, pepper);
  const others = async () =>
    (await store.announcements()).filter((other) =>
      other.node !== node && contradiction(other, own) !== null
    );
  await store.registerNode(node);
  await announce(options, config);
  const before = new Map((await others()).map((other) => [other.node, other.beat]));
  for (let waited = 0; before.size > 0 && waited < WATCH_MS; waited += LOOK_MS) {
    await rest(LOOK_MS);
    // Of two that start at once each sees the other one's heart.
    await store.heartbeat(node);
    const now = await others();
    const living = now.find((other) => before.has(other.node) && before.get(other.node) !== other.beat);
    if (living !== undefined) {
      await store.removeNodes([node]);
      throw new StoreRefused(
        `Another gateway, whose configuration is a different one, uses this database: ${
          contradiction(living, own)
        }. Give this gateway a database of its own, stop the other one, or start with its configuration and reload.`,
      );
    }
    if (now.length === 0) return;
  }
}

/** Null: the other one has a key of ours, or nothing that we have differently. */
function contradiction({ data }: Announcement, own: Said): string | null {
  const other: Said = JSON.parse(data);
  const common = Object.keys(own.keys).filter((name) => Object.hasOwn(other.keys, name));
  if (common.some((name) => own.keys[name] === other.keys[name])) return null;
  if (common.length > 0) return `the key ${JSON.stringify(common[0])} has another secret there`;
  if (Object.keys(own.keys).length === 0 || Object.keys(other.keys).length === 0) return null;
  const account = Object.keys(own.accounts).find((name) =>
    Object.hasOwn(other.accounts, name) && own.accounts[name] !== other.accounts[name]
  );
  return account === undefined ? null : `the account ${JSON.stringify(account)} has other credits there`;
}

/** What configurations say under a pepper: to tell the secrets of 100,000 keys takes seconds, and a node says it again and again. */
const known = new WeakMap<AccountsConfig, { pepper: string; said: Said }>();

function saidOf(config: AccountsConfig, pepper: string): Said {
  const before = known.get(config);
  if (before?.pepper === pepper) return before.said;
  const said = tell(config, pepper);
  known.set(config, { pepper, said });
  return said;
}

function tell({ keys, accounts }: AccountsConfig, pepper: string): Said {
  // So little of a hash is told that nobody can continue it; as an HMAC it would take ten times as long.
  const fingerprint = (name: string, secret: string) =>
    sha256Hex(pepper + JSON.stringify(["configured key", name, secret])).slice(0, 16);
  return {
    keys: Object.fromEntries(keys.map(({ name, secret }) => [name, fingerprint(name, secret)])),
    accounts: Object.fromEntries(accounts.map(({ name, credits }) => [name, credits?.toString() ?? null])),
  };
}
