/** A service on a place of its own, with a clock that moves when told, and calls in few words. */
import { Housekeeping } from "../../src/accounts/housekeeping.ts";
import type { GenerationEnd } from "../../src/exchange/generation.ts";
import { NO_USAGE, type Usage } from "../../src/exchange/usage.ts";
import {
  type AccountsConfig,
  type AccountsOptions,
  type AccountsService,
  type AdmissionRequest,
  type Key,
  openAccounts,
  type Reservation,
} from "../../src/accounts/mod.ts";
import { ACCOUNTS, CONFIG_KEY } from "../../src/accounts/config.ts";
import type { Failure } from "../../src/exchange/failure.ts";
import type { Store } from "../../src/store/mod.ts";
import type { Ground } from "../support/cluster.ts";
import { PATIENCE_MS, StoppedClock } from "../support/time.ts";

export const NOON = Date.UTC(2026, 0, 15, 12);
export const SECRET = "sk_live_devdevdevdevdevdevdevdevdevdevdevdevdev";
/** One token costs a cent, in and out. */
export const CENT = { prompt: "0.01", completion: "0.01" };

/** With one key, whose fields are those of the configuration file. */
export function configOf(key: Record<string, unknown> = {}, credits: string | null = null): AccountsConfig {
  return {
    keys: [CONFIG_KEY.parse({ name: "dev", secret: SECRET, account: "acme", ...key })],
    accounts: ACCOUNTS.parse([{ name: "acme", credits }]),
    accessPolicies: [{ name: "eu", allow: ["mistral/*"], deny: [] }],
    searchPrice: "0.005",
  };
}

export interface Running extends AccountsService {
  clock: StoppedClock;
  warnings: string[];
  /** One round of the work on the store that nobody waits for. */
  keepHouse(): Promise<void>;
}

export async function open(
  store: Store,
  config: AccountsConfig,
  more: Partial<AccountsOptions> = {},
): Promise<Running> {
  const clock = new StoppedClock(NOON);
  const warnings: string[] = [];
  const log = { info() {}, warn: (message: string) => void warnings.push(message) };
  const service = await openAccounts({
    store,
    config,
    clock,
    log,
    ticking: false,
    // A busy machine is no slow store.
    waitMs: PATIENCE_MS,
    ...more,
  });
  const told = (more.clock as StoppedClock | undefined) ?? clock;
  const housekeeping = new Housekeeping({
    store,
    clock: told,
    retentionDays: more.retentionDays ?? 90,
    ready: () => true,
    warn: log.warn,
  });
  return { ...service, clock: told, warnings, keepHouse: () => housekeeping.round() };
}

let count = 0;

/** A request of so many tokens of input, a cent each. */
export function requestOf(key: Key, input: number, more: Partial<AdmissionRequest> = {}): AdmissionRequest {
  return {
    id: `gen_${++count}_${crypto.randomUUID().slice(0, 8)}`,
    created: NOON,
    format: "messages",
    requestedModel: "a/b",
    model: "a/b",
    stream: false,
    key,
    prices: CENT,
    estimate: { input, output: 0, searches: 0 },
    ...more,
  };
}

export function endOf(usage: Partial<Usage> | null, more: Partial<GenerationEnd> = {}): GenerationEnd {
  return {
    status: "completed",
    provider: "p",
    errorCode: null,
    usage: usage === null ? null : { ...NO_USAGE, ...usage },
    estimated: false,
    searches: 0,
    ttftMs: 5,
    latencyMs: 10,
    clientGone: false,
    dlp: null,
    ...more,
  };
}

/** The code of the failure that work ends in; null: it passed. */
export async function codeOf(work: () => unknown): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (error) {
    return (error as Failure).code;
  }
}

/** Admits as many of so many at once as are let in, and tells why the others were not. */
export async function admitAtOnce(
  service: AccountsService,
  key: Key,
  calls: number,
  input = 1,
): Promise<{ reservations: Reservation[]; refused: Map<string, number> }> {
  const reservations: Reservation[] = [];
  const refused = new Map<string, number>();
  await Promise.all(Array.from({ length: calls }, async () => {
    try {
      reservations.push(await service.admit(requestOf(key, input, { created: NOON })));
    } catch (error) {
      const { code } = error as Failure;
      refused.set(code, (refused.get(code) ?? 0) + 1);
    }
  }));
  return { reservations, refused };
}

export type Again = (config?: AccountsConfig, more?: Partial<AccountsOptions>) => Promise<Running>;

/** Registers tests of a service on a store of their own; `again` opens another service on it. */
export function testsOn({ name, place }: Ground) {
  return function (
    title: string,
    config: AccountsConfig,
    body: (service: Running, again: Again) => Promise<void>,
    more: Partial<AccountsOptions> = {},
  ): void {
    Deno.test(`${name}: ${title}`, async () => {
      const here = place();
      const opened: Running[] = [];
      const again: Again = async (next = config, options = more) => {
        const service = await open(here.open(), next, options);
        opened.push(service);
        return service;
      };
      try {
        await body(await again(), again);
      } finally {
        for (const service of opened) await service.close();
        here.remove();
      }
    });
  };
}

export async function keyOf(service: Running, secret = SECRET): Promise<Key> {
  return await service.authenticate(secret);
}
