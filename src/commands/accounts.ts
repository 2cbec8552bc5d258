/** The commands that read the accounts: keys, usage, generations. Each returns the text to print. */
import { inColumns } from "./columns.ts";
import type { Administration } from "../accounts/administration/administration.ts";
import { LARGEST_PAGE } from "../accounts/administration/input.ts";
import type { GenerationView, KeyView, UsageView } from "../accounts/mod.ts";
import type { Command } from "./command.ts";

export type AccountsCommand = Extract<Command, { command: "keys" | "usage" | "generations" }>;

/** Runs a command about keys or the ledger. Resolves with the text to print. */
export async function runCommand(command: AccountsCommand, accounts: Administration): Promise<string> {
  switch (command.command) {
    case "usage": {
      const { data, incomplete_before: missing } = await everySum(accounts, command);
      if (command.json) return JSON.stringify(data, null, 2);
      const note = `Records before ${missing} are being summed up; some are missing from these sums.`;
      return missing === undefined ? columns(data) : `${columns(data)}\n${note}`;
    }
    case "generations": {
      const list = await newest(accounts, command);
      if (command.json) return JSON.stringify(list, null, 2);
      return columns(list.data.map((g) => ({
        id: g.id,
        created: g.created,
        key: g.key,
        model: g.model,
        status: g.error_code === null ? g.status : `${g.status} (${g.error_code})`,
        input: g.usage?.input_tokens ?? "",
        output: g.usage?.output_tokens ?? "",
        searches: g.searches,
        cost: g.cost,
        ms: g.latency_ms,
      })));
    }
    case "keys":
      return await keys(command, accounts);
  }
}

async function keys(
  command: Extract<AccountsCommand, { command: "keys" }>,
  accounts: Administration,
): Promise<string> {
  switch (command.action) {
    case "list": {
      const list = await everyKey(accounts);
      if (command.json) return JSON.stringify(list, null, 2);
      return columns(list.map((k) => ({
        id: k.id,
        name: k.name,
        source: k.source,
        account: k.account,
        state: stateOf(k),
      })));
    }
    case "create": {
      const made = await accounts.createKey({
        name: command.name,
        account: command.account,
        team: command.team,
        access_policy: command.accessPolicy,
        dlp_policy: command.dlpPolicy,
        expires_at: command.expiresAt,
      });
      return secretText(made, command.json);
    }
    case "rotate":
      return secretText(
        await accounts.rotateKey(command.key, { overlapSeconds: command.overlapSeconds }),
        command.json,
      );
    case "revoke": {
      const key = await accounts.revokeKey(command.key);
      return command.json ? JSON.stringify(key, null, 2) : `Revoked ${key.name} (${key.id}).`;
    }
  }
}

function stateOf({ revoked_at, expires_at }: KeyView): string {
  if (revoked_at !== null) return "revoked";
  if (expires_at === null) return "valid";
  return `${Date.parse(expires_at) > Date.now() ? "until" : "ended"} ${expires_at}`;
}

/** The latest generations, as many as requested, in the form of a list of the administration API. */
async function newest(
  accounts: Administration,
  { key, session, limit }: Extract<AccountsCommand, { command: "generations" }>,
): ReturnType<Administration["generations"]> {
  const data: GenerationView[] = [];
  let cursor: string | undefined;
  for (;;) {
    const most = Math.min(limit - data.length, LARGEST_PAGE);
    const page = await accounts.generations({ key, session, limit: most, cursor });
    data.push(...page.data);
    if (page.next_cursor === null || data.length >= limit) return { ...page, data };
    cursor = page.next_cursor;
  }
}

/** Rows per page when sums are read: the store computes all sums again for each page. */
const SUMS_AT_ONCE = 100_000;

async function everySum(
  accounts: Administration,
  { by, from, to, limit }: Extract<AccountsCommand, { command: "usage" }>,
): ReturnType<Administration["usage"]> {
  const asked = { by, from, to, whole: true };
  if (limit !== undefined) return await accounts.usage({ ...asked, limit });
  const data: UsageView[] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = await accounts.usage({ ...asked, cursor, most: SUMS_AT_ONCE });
    for (const sum of page.data) data.push(sum);
    if (page.next_cursor === null) return { ...page, data };
    cursor = page.next_cursor;
  }
}

async function everyKey(accounts: Administration): Promise<KeyView[]> {
  const keys: KeyView[] = [];
  let cursor: string | undefined;
  do {
    const { data, next_cursor } = await accounts.listKeys({ cursor });
    keys.push(...data);
    cursor = next_cursor ?? undefined;
  } while (cursor !== undefined);
  return keys;
}

function secretText(
  { key, secret }: { key: { id: string; name: string }; secret: string },
  asJson: boolean,
): string {
  if (asJson) return JSON.stringify({ ...key, secret }, null, 2);
  return `${key.name} (${key.id})\n${secret}\nThe secret is shown only once; the store has only a hash of it.`;
}

/** A table with the field names as its header. */
function columns(rows: readonly object[]): string {
  if (rows.length === 0) return "Nothing.";
  const names = Object.keys(rows[0]);
  const table = [
    names,
    ...rows.map((row) => names.map((n) => String((row as Record<string, unknown>)[n] ?? ""))),
  ];
  return inColumns(table).join("\n");
}
