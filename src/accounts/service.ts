/**
 * The accounts put together: keys, admission, journal and store, and the clockwork that keeps them in step.
 *
 * Opening takes over what processes that died left beside the store. A PostgreSQL store may be away when this opens: keys of
 * the configuration work, as far as they draw on no budget, and the rest follows once it is back.
 */
import { decodeRecord, type Store, StoreUnavailable } from "../store/mod.ts";
import { type Administration, createAdministration } from "./administration.ts";
import { createAdmission } from "./admission.ts";
import type { ConfigAccount, ConfigKey } from "./config.ts";
import { adoptOrphans, fileJournal, type Journal, memoryJournal, type Orphan } from "./journal.ts";
import { createKeyring, type KeyState } from "./keyring.ts";
import { decodeBeginning, interrupted } from "./ledger.ts";
import type { AccessPolicy, Accounts } from "./types.ts";
import { newId, newPepper } from "./secrets.ts";
import { createSettler, pendingOf } from "./settler.ts";

/** What the configuration says of accounts; all of it may change while running. */
export interface AccountsConfig {
  keys: readonly ConfigKey[];
  accounts: readonly ConfigAccount[];
  accessPolicies: readonly AccessPolicy[];
  /** Price of one executed search, as a decimal string. */
  searchPrice?: string;
}

export interface AccountsOptions {
  store: Store;
  config: AccountsConfig;
  clock: { now(): number };
  log: { info(message: string): void; warn(message: string): void };
  /** What hashes of secrets are keyed with. Absent: made on first start and kept beside the store. */
  pepper?: string;
  /** Days that generations are kept before they are summed up by day. */
  retentionDays?: number;
  /** The most that records waiting for the store may take, here and in the journal. */
  outboxBytes?: number;
  /** How long keys of the store are trusted after the store was last heard of. */
  offlineMs?: number;
  /** A reservation is given back when its call has not ended after this long. */
  reservationMs?: number;
  /** How long a call may wait for budget that other nodes hold, or for a slow store. */
  waitMs?: number;
  /** False: {@link AccountsService.tick} is called by someone else. */
  ticking?: boolean;
}

export interface AccountsService extends Accounts, Administration {
  /** Calls admitted here that have not ended. */
  openCount(): number;
  /** False: the store is away, and what is not known here is answered with 503. */
  storeUp(): boolean;
  /** Records that are not in the store yet. */
  pendingCount(): number;
  /** Takes a new configuration. */
  reload(config: AccountsConfig): Promise<void>;
  /** One turn of the clockwork: hears what changed, beats, takes over from the dead. */
  tick(): Promise<void>;
  /** Resolves when every record that exists now is in the store; rejects while that is away. */
  flush(): Promise<void>;
  /** Settles what is pending, gives budgets back, closes the store. */
  close(): Promise<void>;
}

const TICK_MS = 500;
/** A beat every so many ticks; a node whose count has not moved for so many beats is dead: 30 seconds. */
const BEAT_TICKS = 10;
const DEAD_BEATS = 6;
const RETIRE_TICKS = 7200;
const DAY = 86_400_000;

export async function openAccounts(options: AccountsOptions): Promise<AccountsService> {
  const { store, clock, log } = options;
  const node = newId("node_");
  const outbox = { maxBytes: options.outboxBytes ?? 256 << 20 };
  let config = options.config;
  let credits = creditsOf(config);
  let configStates = statesOf(config);

  const journal: Journal = store.filePrefix === null
    ? memoryJournal({ maxBytes: Math.min(outbox.maxBytes, 32 << 20) })
    : fileJournal(store.filePrefix, node, outbox);
  const settler = createSettler({
    store,
    node,
    clock,
    warn: log.warn,
    tellRunning: !journal.durable && store.kind === "postgres",
  });
  const offlineMs = options.offlineMs ?? 3_600_000;
  let heardAt = clock.now();
  const ring = createKeyring({
    store,
    clock,
    away: () => !settler.up,
    stale: () => !settler.up && Math.abs(clock.now() - heardAt) > offlineMs,
  });
  const admission = createAdmission({
    settler,
    journal,
    clock,
    searchPrice: () => config.searchPrice,
    state: (key) => ring.state(key.id),
    unlimited: (account) => credits.get(account) === null,
    reservationMs: options.reservationMs ?? 3_600_000,
    waitMs: options.waitMs ?? 3000,
    warn: log.warn,
  });
  ring.configure(configStates, config.keys.map((k) => k.secret), config.accessPolicies);

  let prepared = false;
  let rev = 0;
  let ticks = 0;
  let closed = false;
  /** Said once, not with every turn. */
  let complaint = "";
  /** Journals taken over whose records are on their way. */
  const held = new Set<Orphan>();
  /** Nodes whose journals have been settled: what they hold of budgets is to be given back. */
  const gone = new Set<string>();
  /** What other nodes' beats were, and for how many of ours they have not moved. */
  let beats = new Map<string, { count: number; still: number }>();

  async function prepare(): Promise<void> {
    await store.prepare();
    ring.setPepper(options.pepper ?? await findPepper(store));
    await store.declareAccounts(declared(config));
    await settler.connect();
    await learn();
    await adopt();
    await listen();
    prepared = true;
  }

  async function learn(): Promise<void> {
    const changes = await store.changesSince(rev);
    rev = changes.rev;
    ring.learn(changes.keys);
    heardAt = clock.now();
    for (const slice of settler.slices()) {
      if (slice.kind === "credits" && changes.accounts.includes(slice.ref.owner)) forgetRefusal(slice);
    }
  }

  function forgetRefusal(slice: { answeredAt: number; refusedUntil: number }): void {
    slice.answeredAt = -Infinity;
    slice.refusedUntil = -Infinity;
  }

  /** Journals of processes that died here: what ended goes to the store, what ran is recorded as interrupted. */
  async function adopt(): Promise<void> {
    if (store.filePrefix === null) return;
    for (const orphan of adoptOrphans(store.filePrefix, node)) await takeOver(orphan);
  }

  async function takeOver(orphan: Orphan): Promise<void> {
    if (orphan.damaged > 0) log.warn(`The journal of ${orphan.node} has ${orphan.damaged} unreadable lines.`);
    let left = 1;
    /** The journal stays, and stays ours, until the store has the last of its records. */
    const shipped = () => {
      if (--left > 0) return;
      held.delete(orphan);
      orphan.remove();
      if (orphan.node !== "") gone.add(orphan.node);
    };
    held.add(orphan);
    for (const json of orphan.ended.values()) {
      left++;
      settler.enqueue({ ...decodeRecord(json), slices: [], shipped });
    }
    let count = 0;
    for (const json of orphan.running.values()) {
      if (recordInterrupted(json, shipped)) count++;
    }
    left += count;
    shipped();
    if (count > 0) log.info(`Recording ${count} generations as interrupted.`);
    await settler.flush();
    await forgetGone();
  }

  async function forgetGone(): Promise<void> {
    const nodes = [...gone];
    await store.removeNodes(nodes);
    for (const id of nodes) gone.delete(id);
  }

  function recordInterrupted(json: string, shipped: () => void = () => {}): boolean {
    const beginning = decodeBeginning(json);
    if (beginning === null) return false;
    settler.enqueue(pendingOf(interrupted(beginning), [], shipped));
    return true;
  }

  async function beat(): Promise<void> {
    const counts = await store.heartbeat(node);
    if (counts.size === 0) return;
    const seen = new Map<string, { count: number; still: number }>();
    const dead: string[] = [];
    for (const [id, count] of counts) {
      if (id === node) continue;
      const before = beats.get(id);
      const still = before !== undefined && before.count === count ? before.still + 1 : 0;
      if (still >= DEAD_BEATS) dead.push(id);
      else seen.set(id, { count, still });
    }
    beats = seen;
    for (const { id, data } of await store.removeNodes(dead)) {
      recordInterrupted(data, () => settler.ended(id));
    }
  }

  async function tick(): Promise<void> {
    if (closed) return;
    const turn = ticks++;
    admission.sweep(clock.now());
    try {
      if (!prepared) await prepare();
      else if (!settler.up) await settler.connect();
      await learn();
      await forgetGone();
      settler.giveBack(await store.wantedLeases(node));
      if (turn % BEAT_TICKS === 0) {
        await beat();
        await adopt();
        settler.retryRefused();
        dropOldSlices();
      }
      if (turn % RETIRE_TICKS === 1) {
        await store.retire(clock.now() - (options.retentionDays ?? 90) * DAY);
      }
    } catch (error) {
      // Beats that could not be watched prove nothing: after an outage everyone gets the whole time again.
      beats = new Map();
      if (error instanceof StoreUnavailable) settler.lost();
      else if (complaint !== (complaint = nameOf(error))) {
        log.warn(`A turn of the accounts failed: ${complaint}`);
      }
    }
    await journal.flush().catch(() => {});
  }

  async function listen(): Promise<void> {
    await store.listen((message) => {
      const [word, from, id] = message.split(" ");
      if (word === "changed") void learn().catch(() => {});
      else if (from === node) return;
      else if (word === "want") settler.giveBack([id]);
      else if (word === "gave") settler.wake();
    });
  }

  function dropOldSlices(): void {
    const now = clock.now();
    for (const slice of [...settler.slices()]) {
      const over = slice.ref.ends !== null && slice.ref.ends + DAY < now;
      if (over && slice.used === 0n && slice.reserved === 0n) settler.dropSlice(slice.ref.id);
    }
  }

  async function reload(next: AccountsConfig): Promise<void> {
    config = next;
    credits = creditsOf(next);
    configStates = statesOf(next);
    ring.configure(configStates, config.keys.map((k) => k.secret), config.accessPolicies);
    for (const slice of settler.slices()) forgetRefusal(slice);
    if (prepared) {
      await store.declareAccounts(declared(config));
    }
  }

  try {
    await prepare();
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) {
      journal.close();
      throw error;
    }
    log.warn("The store is unavailable; starting with what the configuration names.");
  }

  let timer: ReturnType<typeof setTimeout> | undefined;
  let ticking: Promise<void> = Promise.resolve();
  function nextTick(): void {
    if (closed) return;
    timer = setTimeout(() => {
      ticking = tick().finally(nextTick);
    }, TICK_MS);
  }
  if (options.ticking !== false) ticking = tick().finally(nextTick);

  return {
    authenticate: ring.authenticate,
    admit: admission.admit,
    openCount: () => admission.openCount,
    storeUp: () => prepared && settler.up,
    pendingCount: () => settler.pending,
    reload,
    tick,
    flush: () => settler.flush(),
    async close() {
      if (closed) return;
      closed = true;
      clearTimeout(timer);
      await ticking;
      await settler.close();
      journal.close();
      for (const orphan of held) orphan.leave();
      await store.close();
    },
    ...createAdministration({
      store,
      ring,
      settler,
      clock,
      learn,
      credits: () => credits,
    }),
  };
}

/** Keys need an account even where nobody has thought of accounts. */
function creditsOf({ accounts }: AccountsConfig): Map<string, bigint | null> {
  return new Map([["default", null], ...accounts.map(({ name, credits }) => [name, credits] as const)]);
}

/** The account that is there by itself takes no credits from one that a configuration has named. */
function declared(config: AccountsConfig): { name: string; credits: bigint | null; ifNew?: boolean }[] {
  const named = new Set(config.accounts.map((a) => a.name));
  return [...creditsOf(config)].map(([name, credits]) => ({ name, credits, ifNew: !named.has(name) }));
}

function statesOf({ keys }: AccountsConfig): KeyState[] {
  return keys.map(({ name, account, accessPolicy, dlpPolicy, models, ...limits }) => ({
    // The policy is resolved when the keyring takes the key, from the policies of the same file.
    key: Object.freeze({ id: `key_config_${name}`, name, account, accessPolicy: null, dlpPolicy, models }),
    source: "config",
    accessPolicyName: accessPolicy,
    spendLimit: limits.spendLimit,
    requestsPerMinute: limits.requestsPerMinute,
    tokensPerMinute: limits.tokensPerMinute,
    created: null,
    expiresAt: limits.expiresAt,
    revokedAt: null,
  }));
}

/** Beside an embedded store in a file of its own; where several nodes share a database, in there. */
async function findPepper(store: Store): Promise<string> {
  if (store.kind !== "sqlite" || store.filePrefix === null) return await store.shared("pepper", newPepper);
  const path = `${store.filePrefix}.pepper`;
  try {
    return readPepper(path) ?? makePepper(path);
  } catch (error) {
    if (error instanceof Deno.errors.PermissionDenied) throw error;
    // A full disk at the first start: it can be made once there is room.
    throw new StoreUnavailable("The pepper of secrets cannot be read or made.", { cause: error });
  }
}

/** Null: there is none, or it was being written when the process died, and nothing has been hashed with it. */
function readPepper(path: string): string | null {
  try {
    return Deno.readTextFileSync(path).trim() || null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** It appears whole or not at all, and the first of several processes decides. */
function makePepper(path: string): string {
  const draft = `${path}.${crypto.randomUUID()}`;
  try {
    Deno.writeTextFileSync(draft, newPepper(), { createNew: true, mode: 0o600 });
    if (isEmpty(path)) Deno.removeSync(path);
    try {
      Deno.linkSync(draft, path);
    } catch (error) {
      // A file system without links can only be trusted with one process that starts first.
      if (!(error instanceof Deno.errors.AlreadyExists)) Deno.renameSync(draft, path);
    }
    return Deno.readTextFileSync(path).trim();
  } finally {
    removeIfThere(draft);
  }
}

function isEmpty(path: string): boolean {
  try {
    return Deno.statSync(path).size === 0;
  } catch {
    return false;
  }
}

function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // It was never made.
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : typeof error;
}
