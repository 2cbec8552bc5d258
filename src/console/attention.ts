/** Problems and pending decisions, shown first on the console. */
import { countOf } from "../exchange/printable.ts";
import type { Administration, BudgetView, Concerns, Principal } from "../accounts/mod.ts";
import { SHARE } from "../accounts/administration/concerns.ts";
import { Failure } from "../exchange/failure.ts";
import type { ServerState } from "../http/endpoint.ts";

export interface Matter {
  /**
   * `bad`: affects calls at present. `warn`: will affect calls, or needs a decision. `info`: may be of
   * interest.
   */
  level: "bad" | "warn" | "info";
  kind: "breaker" | "store" | "load" | "configuration" | "budget" | "key" | "account" | "price";
  /** Name of the provider, key, team, account or model. */
  name: string;
  text: string;
  /** The kind of owner of a budget. */
  of?: "key" | "team";
  /** Spent share of a budget, 0 to 1. */
  share?: number;
  at?: string;
}

/** Maximum number of items of each kind. */
const MOST_OF_A_KIND = 20;
const CHANGES_MS = 7 * 86_400_000;
const LAG = 1000;

export interface AttentionSources {
  state: Pick<
    ServerState,
    "kit" | "operation" | "hasStore" | "administration" | "shedder" | "inFlight" | "maxInFlight"
  >;
  administration: Pick<Administration, "concerns">;
  principal: Pick<Principal, "role">;
}

/** Members see items about their own keys only. */
export async function attention({ state, administration, principal }: AttentionSources) {
  const now = state.kit.now();
  const matters = principal.role === "member" ? [] : [
    ...breakers(state),
    ...storeMatters(state),
    ...load(state),
    ...configuration(state),
    ...prices(state, now),
  ];
  const more = new Map<string, number>();
  let store: { store?: "away" } = {};
  try {
    const found = await administration.concerns();
    matters.push(...found.ending.map((key) => endingMatter(key, now)), ...found.budgets.map(budgetMatter));
    more.set("key", found.more.ending).set("budget", found.more.budgets);
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.code !== "service_unavailable") throw thrown;
    store = { store: "away" };
  }
  const order = { bad: 0, warn: 1, info: 2 };
  const counts = new Map<string, number>();
  const data = matters.sort((a, b) => order[a.level] - order[b.level] || (b.share ?? 0) - (a.share ?? 0))
    .filter(({ kind }) => {
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      return counts.get(kind)! <= MOST_OF_A_KIND;
    });
  for (const [kind, n] of counts) more.set(kind, (more.get(kind) ?? 0) + Math.max(0, n - MOST_OF_A_KIND));
  return { data, left_out: Object.fromEntries([...more].filter(([, n]) => n > 0)), ...store };
}

function breakers({ kit }: AttentionSources["state"]): Matter[] {
  return kit.providers.health().flatMap(({ provider, models }) =>
    models.filter(({ state }) => state !== "closed").map((
      { model, state, retry_in_seconds, last_error },
    ): Matter => ({
      level: state === "open" ? "bad" : "warn",
      kind: "breaker",
      name: provider,
      text: (state === "open"
        ? `${model} is out of service${
          retry_in_seconds === null ? "" : `, tried again in ${retry_in_seconds} s`
        }`
        : `${model} is being tried again`) + (last_error === null ? "" : `: ${last_error.code}`),
    }))
  );
}

function storeMatters({ administration, hasStore }: AttentionSources["state"]): Matter[] {
  const [up, pending] = [administration.storeUp(), administration.pendingCount()];
  const matters: Matter[] = [];
  if (!up) {
    matters.push({
      level: "bad",
      kind: "store",
      name: "store",
      text: hasStore()
        ? `The store is away: ${countOf(pending, "record")} ${waits(pending)} for it here.`
        : "The database cannot be used: calls are refused.",
    });
  } else if (pending > LAG) {
    matters.push({
      level: "warn",
      kind: "store",
      name: "store",
      text: `${countOf(pending, "record")} ${waits(pending)} for the store.`,
    });
  }
  return matters;
}

const waits = (count: number) => count === 1 ? "waits" : "wait";

function load({ shedder, inFlight, maxInFlight }: AttentionSources["state"]): Matter[] {
  const busy = (inFlight.count - inFlight.abandoned) / maxInFlight;
  if (shedder.waiting === 0 && busy < SHARE) return [];
  return [{
    level: "warn",
    kind: "load",
    name: "load",
    text: shedder.waiting > 0
      ? `${countOf(shedder.waiting, "call")} ${
        waits(shedder.waiting)
      } to be admitted: the process is busier than it can be.`
      : `${Math.floor(busy * 100)} % of the calls that may run at once do.`,
  }];
}

function configuration({ operation }: AttentionSources["state"]): Matter[] {
  const { reload, warnings } = operation.about();
  const said = (level: Matter["level"]) => (text: string): Matter => ({
    level,
    kind: "configuration",
    name: "configuration",
    text,
  });
  return [
    ...(reload?.ok === false
      ? reload.mistakes.map((text) => said("bad")(`The last reload was refused: ${text}`))
      : []),
    ...warnings.map(said("warn")),
  ];
}

function prices({ operation }: AttentionSources["state"], now: number): Matter[] {
  return operation.catalogChanges().filter(({ at, what }) =>
    what === "price" && now - Date.parse(at) < CHANGES_MS
  )
    .map(({ model, field, before, after, at }) => ({
      level: "info",
      kind: "price",
      name: model,
      text: `The price of ${field ?? "a call"} changed from ${dollars(before)} to ${
        dollars(after)
      } for a million.`,
      at,
    }));
}

function dollars(amount: string | undefined): string {
  return amount === undefined || amount === "?" ? "an unknown one" : `$${amount}`;
}

function endingMatter({ name, expires_at }: Concerns["ending"][number], now: number): Matter {
  const text = Date.parse(expires_at) <= now ? "The key has expired." : "The key expires soon.";
  return { level: "warn", kind: "key", name, text, at: expires_at };
}

function budgetMatter({ of, name, share, period, reset_at }: BudgetView): Matter {
  const level = share >= 1 ? "bad" : "warn";
  const part = `${Math.floor(share * 100)} %`;
  if (of === "account") {
    return { level, kind: "account", name, text: `The account has used ${part} of its credits.`, share };
  }
  return {
    level,
    kind: "budget",
    of,
    name,
    text: `The ${of} has spent ${part} of its limit for the ${period}.`,
    share,
    ...(reset_at !== null && { at: reset_at }),
  };
}
