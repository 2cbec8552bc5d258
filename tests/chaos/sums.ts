/** Whether what is kept beside the records adds up to them: sums of all kinds, budgets, and what webhooks were told. */
import type { Engine } from "../../src/store/engine.ts";

import { PAST, PAST_KEYS } from "./care.ts";

/** Which kinds of sums differ from the records, in any figure. */
export async function strayedSums(engine: Engine): Promise<string[]> {
  const texts = async (sql: string) =>
    (await engine.query(sql)).map((row) => Object.values(row).join(" ")).sort();
  const metrics = ["input", "cached", "cache_write", "output", "reasoning", "searches", "cost"];
  const day = "created - created % 86400000";
  const failed = "CASE WHEN status IN ('failed', 'interrupted') THEN 1 ELSE 0 END";
  const strayed: string[] = [];
  for (
    const [kind, identity] of [
      ["day", "account, model, COALESCE(provider, ''), format"],
      ["key", "key_id, key_name, account, model, COALESCE(provider, ''), format"],
    ]
  ) {
    const records = await texts(
      `SELECT ${day} AS d, ${identity}, COUNT(*) AS n, SUM(${failed}) AS f,
       ${metrics.map((m) => `SUM(COALESCE(${m}, 0)) AS s_${m}`).join(", ")} FROM generations
       WHERE account <> '${PAST}' GROUP BY ${day}, ${identity}`,
    );
    const kept = await texts(
      `SELECT starts, ${identity}, generations, failed, ${
        metrics.join(", ")
      } FROM sums WHERE kind = '${kind}' AND account <> '${PAST}'`,
    );
    if (records.join("\n") !== kept.join("\n")) strayed.push(kind);
  }
  const byKey = (kind: string) =>
    texts(`SELECT key_id, SUM(cost) AS n FROM sums WHERE kind = '${kind}' GROUP BY key_id`);
  const days = (await byKey("key")).join("\n");
  for (const kind of ["keys", "month", "models", "routes"]) {
    if ((await byKey(kind)).join("\n") !== days) strayed.push(kind);
  }
  for (const [label, value] of labelsIn(engine)) {
    const records = await texts(
      `SELECT ${value} AS v, key_id, COUNT(*) AS n, SUM(cost) AS c, SUM(latency_ms) AS l FROM generations
       WHERE ${value} IS NOT NULL AND account <> '${PAST}' GROUP BY ${value}, key_id`,
    );
    const kept = await texts(
      `SELECT value, key_id, SUM(generations) AS n, SUM(cost) AS c, SUM(latency_ms) AS l FROM label_sums
       WHERE label = '${label}' AND key_id NOT LIKE '${PAST_KEYS}%' GROUP BY value, key_id`,
    );
    if (records.length === 0 || records.join("\n") !== kept.join("\n")) strayed.push(label);
  }
  return strayed;
}

/** Labels, and what they are in a record. */
function labelsIn({ kind }: Engine): [label: string, value: string][] {
  const tag = (name: string) => kind === "sqlite" ? `tags ->> '$."${name}"'` : `tags::jsonb ->> '${name}'`;
  return [
    ["team", "team"],
    ["session", "session"],
    ...["customer", "env"].map((
      name,
    ): [string, string] => [`tag:${name}`, tag(name)]),
  ];
}

/** Budgets of keys, teams, sessions and tags that are there, and are not the sum of the records that were charged to them. */
export async function strayedBudgets(engine: Engine): Promise<string[]> {
  const spent = new Map<string, bigint>();
  const add = (owner: string, cost: bigint) => spent.set(owner, (spent.get(owner) ?? 0n) + cost);
  const rows = await engine.query("SELECT key_id, team, session, tags, created, cost FROM generations");
  for (const row of rows) {
    const cost = BigInt(row.cost!);
    add(`key ${row.key_id}`, cost);
    if (row.team !== null) add(`team ${row.team}`, cost);
    if (row.session !== null) add(`session ${row.key_id}\n${row.session}`, cost);
    const tags = row.tags === null ? {} : JSON.parse(String(row.tags)) as Record<string, string>;
    for (const [name, value] of Object.entries(tags)) add(`tag ${row.key_id}\n${name}\n${value}`, cost);
  }
  const budgets = await engine.query(
    "SELECT scope, owner, spent FROM budgets WHERE scope IN ('key', 'team', 'session', 'tag')",
  );
  return budgets.filter((row) => BigInt(row.spent!) !== (spent.get(`${row.scope} ${row.owner}`) ?? 0n))
    .map((row) => `${row.scope} ${String(row.owner).replaceAll("\n", " ")}`);
}

/** Events of one budget and period that came under several ids. */
export function toldTwice(hooks: string): string[] {
  const ids = new Map<string, Set<string>>();
  for (const line of hooks.split("\n").filter((line) => line !== "")) {
    const { id, type, data } = JSON.parse(line);
    const owner = [data.key ?? data.team ?? data.account, data.session ?? data.tag, data.value];
    const of = `${type} of ${data.scope} ${owner.join(" ")} ${JSON.stringify(data.period)}`;
    ids.set(of, (ids.get(of) ?? new Set()).add(id));
  }
  return [...ids].filter(([, ids]) => ids.size > 1).map(([of]) => of);
}
