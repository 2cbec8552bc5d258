/** What is unhealthy now, and what somebody has to decide: the first thing that an operator wants to see. */
import type { Administration, KeyReport, TeamView } from "../accounts/mod.ts";
import { Failure } from "../exchange/failure.ts";
import type { ServerState } from "../http/endpoint.ts";

export interface Matter {
  /** `bad`: it hurts calls now. `warn`: it will, or somebody has to decide. `info`: somebody may want to know. */
  level: "bad" | "warn" | "info";
  kind: "breaker" | "store" | "load" | "configuration" | "budget" | "key" | "account" | "price";
  /** What it is about: a provider, a key, a team, an account, a model. */
  name: string;
  text: string;
  /** Whose budget it is. */
  of?: "key" | "team";
  /** Of a budget: how much of it is spent, as a share of one. */
  share?: number;
  at?: string;
}

/** From this share of a limit on it is worth a look. */
const SHARE = 0.8;
const SOON_MS = 14 * 86_400_000;
/** Keys, teams and accounts that are looked through. */
const MOST = 1000;
/** Matters of one kind that are told. */
const MOST_OF_A_KIND = 20;
const CHANGES_MS = 7 * 86_400_000;
const LAG = 1000;

export interface AttentionSources {
  state: Pick<
    ServerState,
    "kit" | "operation" | "hasStore" | "administration" | "shedder" | "inFlight" | "maxInFlight"
  >;
  administration: Pick<Administration, "listKeys" | "teams" | "accounts">;
}

export async function attention({ state, administration }: AttentionSources) {
  const now = state.kit.now();
  const matters = [
    ...breakers(state),
    ...storeMatters(state),
    ...load(state),
    ...configuration(state),
    ...prices(state, now),
  ];
  try {
    const [keys, teams, accounts] = await Promise.all([
      administration.listKeys({ limit: MOST }),
      administration.teams({ limit: MOST }),
      administration.accounts({ limit: MOST }),
    ]);
    matters.push(
      ...keys.data.flatMap((key) => keyMatters(key, now)),
      ...teams.data.flatMap(teamMatters),
      ...accounts.data.flatMap(accountMatters),
    );
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.code !== "service_unavailable") throw thrown;
  }
  const order = { bad: 0, warn: 1, info: 2 };
  const counts = new Map<string, number>();
  return {
    data: matters.sort((a, b) => order[a.level] - order[b.level] || (b.share ?? 0) - (a.share ?? 0))
      .filter(({ kind }) => {
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
        return counts.get(kind)! <= MOST_OF_A_KIND;
      }),
    left_out: Object.fromEntries(
      [...counts].filter(([, n]) => n > MOST_OF_A_KIND).map(([kind, n]) => [kind, n - MOST_OF_A_KIND]),
    ),
  };
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
        ? `The store is away: ${pending} records wait for it here.`
        : "The database cannot be used: calls are refused.",
    });
  } else if (pending > LAG) {
    matters.push({
      level: "warn",
      kind: "store",
      name: "store",
      text: `${pending} records wait for the store.`,
    });
  }
  return matters;
}

function load({ shedder, inFlight, maxInFlight }: AttentionSources["state"]): Matter[] {
  const busy = (inFlight.count - inFlight.abandoned) / maxInFlight;
  if (shedder.waiting === 0 && busy < SHARE) return [];
  return [{
    level: "warn",
    kind: "load",
    name: "load",
    text: shedder.waiting > 0
      ? `${shedder.waiting} calls wait to be admitted: the process is busier than it can be.`
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
      text: `The price ${field ?? ""} changed from ${before ?? "none"} to ${after ?? "none"}.`,
      at,
    }));
}

function spent(spend: KeyReport["spend"], limit: { amount: string } | null): number | null {
  if (limit === null || Number(limit.amount) <= 0) return null;
  const share = Number(spend.amount) / Number(limit.amount);
  return share >= SHARE ? share : null;
}

function keyMatters(key: KeyReport, now: number): Matter[] {
  if (key.revoked_at !== null) return [];
  const matters: Matter[] = [];
  const left = key.expires_at === null ? Infinity : Date.parse(key.expires_at) - now;
  if (left < SOON_MS && left > -SOON_MS) {
    matters.push({
      level: "warn",
      kind: "key",
      name: key.name,
      text: left <= 0 ? "The key has expired." : "The key expires soon.",
      at: key.expires_at!,
    });
  }
  const share = left <= 0 ? null : spent(key.spend, key.spend_limit);
  if (share !== null) matters.push(budgetOf("key", key.name, share, key.spend));
  return matters;
}

function teamMatters({ name, spend, spend_limit }: TeamView): Matter[] {
  const share = spent(spend, spend_limit);
  return share === null ? [] : [budgetOf("team", name, share, spend)];
}

function budgetOf(
  of: "key" | "team",
  name: string,
  share: number,
  { period, reset_at }: KeyReport["spend"],
): Matter {
  return {
    level: share >= 1 ? "bad" : "warn",
    kind: "budget",
    of,
    name,
    text: `The ${of} has spent ${Math.floor(share * 100)} % of its limit for the ${period}.`,
    share,
    ...(reset_at !== null && { at: reset_at }),
  };
}

function accountMatters(
  { account, granted, added, spent, balance }: {
    account: string;
    granted: string | null;
    added: string;
    spent: string;
    balance: string | null;
  },
): Matter[] {
  const all = Number(granted ?? 0) + Number(added);
  if (balance === null || all <= 0) return [];
  const share = Number(spent) / all;
  if (share < SHARE) return [];
  return [{
    level: Number(balance) <= 0 ? "bad" : "warn",
    kind: "account",
    name: account,
    text: `The account has used ${Math.floor(share * 100)} % of its credits.`,
    share,
  }];
}
