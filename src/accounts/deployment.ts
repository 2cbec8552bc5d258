/**
 * Checks whether the gateways that share a database belong together. Two configurations without a common key
 * that define a key or an account differently would spend each other's budgets: the second gateway refuses to
 * start.
 *
 * Each node publishes a summary of its configuration in the database. A dead node may have left its summary,
 * so a conflicting one counts only if its heartbeat is seen to advance.
 */
import { sha256Hex } from "../exchange/hashes.ts";
import type { Announcement, Store } from "../store/mod.ts";
import { pause } from "../timing/waits.ts";
import type { AccountsConfig } from "./configured.ts";
import { StoreRefused } from "./keys/pepper.ts";

/** How long heartbeats are watched, in milliseconds. They are sent every 5 s, or more slowly on a busy machine. */
const WATCH_MS = 12_000;
const LOOK_MS = 500;

/** A summary of a configuration, without secrets. */
interface ConfigSummary {
  /** Names of keys, with fingerprints of their secrets. */
  keys: Record<string, string>;
  /** Names of accounts, with their credits. */
  accounts: Record<string, string | null>;
}

export interface DeploymentOptions {
  store: Store;
  node: string;
  pepper: string;
  rest?(ms: number): Promise<void>;
  /** The process's status, shown by other nodes. */
  about?(): unknown;
}

/** Publishes this node's summary and status. */
export function announce(
  { store, node, pepper, about }: DeploymentOptions,
  config: AccountsConfig,
): Promise<void> {
  return store.announce(node, JSON.stringify({ ...summaryOf(config, pepper), about: about?.() }));
}

/** The status of each registered node; null: published by a release without status. */
export async function deploymentStatuses(
  store: Pick<Store, "announcements">,
): Promise<{ node: string; about: unknown }[]> {
  return (await store.announcements()).map(({ node, data }) => ({
    node,
    about: JSON.parse(data).about ?? null,
  }));
}

/** Publishes this node. Throws {@link StoreRefused} if a living node has a conflicting configuration. */
export async function join(options: DeploymentOptions, config: AccountsConfig): Promise<void> {
  const { store, node, pepper, rest = pause } = options;
  const own = summaryOf(config, pepper);
  const others = async () =>
    (await store.announcements()).filter((other) =>
      other.node !== node && contradiction(other, own) !== null
    );
  await store.registerNode(node);
  await announce(options, config);
  const before = new Map((await others()).map((other) => [other.node, other.beat]));
  for (let waited = 0; before.size > 0 && waited < WATCH_MS; waited += LOOK_MS) {
    await rest(LOOK_MS);
    // If two nodes start at the same time, each sees the other's heartbeat.
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

/** Null: the other node has a key in common, or nothing conflicts. */
function contradiction({ data }: Announcement, own: ConfigSummary): string | null {
  const other: ConfigSummary = JSON.parse(data);
  const common = Object.keys(own.keys).filter((name) => Object.hasOwn(other.keys, name));
  if (common.some((name) => own.keys[name] === other.keys[name])) return null;
  if (common.length > 0) return `the key ${JSON.stringify(common[0])} has another secret there`;
  if (Object.keys(own.keys).length === 0 || Object.keys(other.keys).length === 0) return null;
  const account = Object.keys(own.accounts).find((name) =>
    Object.hasOwn(other.accounts, name) && own.accounts[name] !== other.accounts[name]
  );
  return account === undefined ? null : `the account ${JSON.stringify(account)} has other credits there`;
}

/** Cache by configuration: fingerprints of 100,000 keys take seconds, and are published repeatedly. */
const known = new WeakMap<AccountsConfig, { pepper: string; summary: ConfigSummary }>();

function summaryOf(config: AccountsConfig, pepper: string): ConfigSummary {
  const before = known.get(config);
  if (before?.pepper === pepper) return before.summary;
  const summary = computeSummary(config, pepper);
  known.set(config, { pepper, summary });
  return summary;
}

function computeSummary({ keys, accounts }: AccountsConfig, pepper: string): ConfigSummary {
  // Truncated so much that the secret cannot be verified with it; an HMAC would take ten times as long.
  const fingerprint = (name: string, secret: string) =>
    sha256Hex(pepper + JSON.stringify(["configured key", name, secret])).slice(0, 16);
  return {
    keys: Object.fromEntries(keys.map(({ name, secret }) => [name, fingerprint(name, secret)])),
    accounts: Object.fromEntries(accounts.map(({ name, credits }) => [name, credits?.toString() ?? null])),
  };
}
