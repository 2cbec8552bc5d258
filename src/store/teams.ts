/** Teams created by administrators. The row of a removed team is kept, so that every node learns of the removal. */
import type { Engine, Query } from "./engine.ts";
import { NameTaken, type SpendPeriod } from "./keys.ts";
import { change } from "./revision.ts";
import { asInt, asMoney, asText, optional, type Row } from "./rows.ts";

export interface StoredTeam {
  name: string;
  /** The account that pays for the team's keys; null: each key's own account. */
  account: string | null;
  spendLimit: { amount: bigint; period: SpendPeriod } | null;
  models: readonly string[] | null;
  accessPolicy: string | null;
  dlpPolicy: string | null;
  created: number;
  removedAt: number | null;
}

const FIELDS =
  "account, spend_amount, spend_period, models, access_policy, dlp_policy, created, removed_at, rev";

/** Throws {@link NameTaken}. */
export function insertTeam(engine: Engine, team: StoredTeam): Promise<void> {
  return change(engine, async (query, rev) => {
    const rows = await query(
      `INSERT INTO teams (name, ${FIELDS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
       ON CONFLICT (name) DO UPDATE SET ${
        FIELDS.split(", ").map((name) => `${name} = excluded.${name}`).join(", ")
      } WHERE teams.removed_at IS NOT NULL RETURNING name`,
      [team.name, ...values(team), rev],
    );
    if (rows.length === 0) throw new NameTaken(team.name);
  });
}

/** Applies `edit` to the current state of a team; `edit` may be called more than once. False: no such team. */
export function updateTeam(
  engine: Engine,
  name: string,
  edit: (team: StoredTeam) => StoredTeam,
): Promise<boolean> {
  return change(engine, async (query, rev) => {
    // Every change increments the revision first, so nobody else can write between this read and the update.
    const [row] = await query("SELECT * FROM teams WHERE name = $1 AND removed_at IS NULL", [name]);
    if (row === undefined) return false;
    await query(
      `UPDATE teams SET account = $2, spend_amount = $3, spend_period = $4, models = $5, access_policy = $6,
         dlp_policy = $7, created = $8, removed_at = $9, rev = $10
       WHERE name = $1`,
      [name, ...values(edit(decode(row))), rev],
    );
    return true;
  });
}

/** A team with keys cannot be removed. */
export class TeamHasKeys extends Error {
  override readonly name = "TeamHasKeys";

  constructor(readonly keys: number) {
    super();
  }
}

/** Throws {@link TeamHasKeys} while keys that are not revoked name the team. False: no such team. */
export function removeTeam(engine: Engine, name: string, at: number): Promise<boolean> {
  return change(engine, async (query, rev) => {
    const [{ n }] = await query("SELECT COUNT(*) AS n FROM keys WHERE team = $1 AND revoked_at IS NULL", [
      name,
    ]);
    if (asInt(n) > 0) throw new TeamHasKeys(asInt(n));
    const rows = await query(
      "UPDATE teams SET removed_at = $2, rev = $3 WHERE name = $1 AND removed_at IS NULL RETURNING name",
      [name, at, rev],
    );
    return rows.length > 0;
  });
}

/** Teams that changed after a revision, including removed ones; 0: all. */
export async function teamsSince(query: Query, rev: number): Promise<StoredTeam[]> {
  const rows = await query("SELECT * FROM teams WHERE rev > $1", [rev]);
  return rows.map(decode);
}

function values({ account, spendLimit, models, accessPolicy, dlpPolicy, created, removedAt }: StoredTeam) {
  return [
    account,
    spendLimit?.amount ?? null,
    spendLimit?.period ?? null,
    models === null ? null : JSON.stringify(models),
    accessPolicy,
    dlpPolicy,
    created,
    removedAt,
  ];
}

function decode(row: Row): StoredTeam {
  return {
    name: asText(row.name),
    account: optional(row.account, asText),
    spendLimit: row.spend_amount === null ? null : {
      amount: asMoney(row.spend_amount),
      period: asText(row.spend_period) as SpendPeriod,
    },
    models: row.models === null ? null : JSON.parse(asText(row.models)),
    accessPolicy: optional(row.access_policy, asText),
    dlpPolicy: optional(row.dlp_policy, asText),
    created: asInt(row.created),
    removedAt: optional(row.removed_at, asInt),
  };
}
