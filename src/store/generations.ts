/** The ledger: inserting records and reading them in pages. */
import { noteRemoved } from "./chain/removed.ts";
import { type Chaining, ChainWriter } from "./chain/writer.ts";
import { addKeyName, conditionsIn } from "./conditions.ts";
import { type Engine, type Query, valuesOf } from "./engine.ts";
import { countIn, ofLabel } from "./labels.ts";
import type { Position } from "./position.ts";
import { COLUMNS, decodeRow, type Generation, labelsOfRow, type LedgerRecord, NAMES } from "./records.ts";
import { asInt, asMoney, asText, optional, type Row, type Value } from "./rows.ts";
import { COUNTED, type Counted, COUNTED_OF_LABELS, DAY } from "./sums.ts";
import { sumsAreWhole } from "./sums_state.ts";

/**
 * Inserts records, with their links and sums, and returns those that were new. A record whose id exists is
 * left unchanged, with one exception: if another node took this one for dead and recorded its calls as
 * interrupted, the actual records replace those.
 */
export async function insertRecords(
  engine: Engine,
  query: Query,
  records: readonly LedgerRecord[],
  chaining: Chaining,
): Promise<LedgerRecord[]> {
  if (records.length === 0) return [];
  const chain = await ChainWriter.open(engine, query, chaining, records);
  const added: LedgerRecord[] = [];
  for (let from = 0; from < records.length; from += engine.rowsAtOnce) {
    const some = records.slice(from, from + engine.rowsAtOnce);
    added.push(...await chain.insert("generations", COLUMNS, some));
  }
  const counted = added.map(countedRecord);
  if (added.length < records.length) {
    const known = new Set(added);
    const ends = records.filter((record) => !known.has(record) && !isPresumed(record));
    const replaced = await removePresumed(engine, query, ends.map(({ id }) => id), chaining.key);
    const real = ends.filter(({ id }) => replaced.has(id));
    const ended = await chain.insert("generations", COLUMNS, real);
    added.push(...ended);
    counted.push(...ended.map(countedRecord), ...removals(replaced));
  }
  await chain.close();
  await countIn(engine, query, counted);
  return added;
}

/** Removes presumed records of calls that turn out to have no record at all. */
export async function withdrawPresumed(
  engine: Engine,
  query: Query,
  ids: readonly string[],
  { key }: Chaining,
): Promise<void> {
  await countIn(engine, query, removals(await removePresumed(engine, query, ids, key)));
}

/** A record written by another node for a process that it took for dead: how the call ended is unknown. */
function isPresumed(record: LedgerRecord): boolean {
  const values = valuesOf(record);
  return Object.entries(PRESUMED).every(([name, value]) => String(values[INDEX[name]]) === String(value));
}

/** Column values of a presumed record. No actual record has all of them: it has a latency or a provider. */
const PRESUMED = { status: "interrupted", input: null, provider: null, searches: 0, cost: 0, latency_ms: 0 };
const IS_PRESUMED = Object.entries(PRESUMED).map(([name, value]) =>
  value === null ? `${name} IS NULL` : `${name} = ${typeof value === "string" ? `'${value}'` : value}`
).join(" AND ");

/** Deletes those of the given generations whose record is only presumed; returns what the sums contain of each. */
async function removePresumed(
  engine: Engine,
  query: Query,
  ids: readonly string[],
  chainKey: string,
): Promise<Map<string, Counted | null>> {
  if (ids.length === 0) return new Map();
  const rows = await query(
    `DELETE FROM generations WHERE id IN (${engine.list("$1")}) AND ${IS_PRESUMED}
     RETURNING ${NAMES}, summed, chain`,
    [JSON.stringify(ids)],
  );
  await noteRemoved(engine, query, chainKey, rows);
  return new Map(rows.map((row) => [asText(row.id), row.summed === null ? null : countedRow(row)]));
}

/** Negative counts, which remove generations from the sums. */
function removals(removed: ReadonlyMap<string, Counted | null>): Counted[] {
  return [...removed.values()].filter((counted) => counted !== null)
    .map((counted) => ({ ...counted, generations: -1 as const }));
}

const INDEX = Object.fromEntries(COLUMNS.map(([name], i) => [name, i]));
const COUNTED_INDEXES = COUNTED.map((name) => INDEX[name]);
const LABEL_INDEXES = COUNTED_OF_LABELS.map((name) => INDEX[name]);

function countedRecord(record: LedgerRecord): Counted {
  const values = valuesOf(record);
  return {
    created: record.created,
    keyId: record.keyId,
    key: asText(values[INDEX.key_name]),
    account: record.account,
    model: asText(values[INDEX.model]),
    provider: optional(values[INDEX.provider], asText) ?? "",
    format: asText(values[INDEX.format]),
    failed: isFailed(values[INDEX.status]),
    counts: COUNTED_INDEXES.map((i) => countOf(values[i])),
    cost: record.cost,
    labels: record.labels,
    moreCounts: record.labels === null ? [] : LABEL_INDEXES.map((i) => BigInt(values[i] ?? 0)),
  };
}

/** The columns that {@link countedRow} reads. */
export const COUNTED_COLUMNS = [
  "created",
  "id",
  "key_id",
  "key_name",
  "account",
  "model",
  "provider",
  "format",
  "status",
]
  .concat(COUNTED, "cost", "tags", "session", "team", COUNTED_OF_LABELS).join(", ");

/** What a row of {@link COUNTED_COLUMNS} adds to the sums. */
export function countedRow(row: Row): Counted {
  return {
    created: asInt(row.created),
    keyId: asText(row.key_id),
    key: asText(row.key_name),
    account: asText(row.account),
    model: asText(row.model),
    provider: optional(row.provider, asText) ?? "",
    format: asText(row.format),
    failed: isFailed(row.status),
    counts: COUNTED.map((name) => countOf(row[name])),
    cost: asMoney(row.cost),
    labels: labelsOfRow(row),
    moreCounts: COUNTED_OF_LABELS.map((name) => optional(row[name], asMoney) ?? 0n),
  };
}

/** A number where it is exact, else a bigint. Journals store amounts as text. */
function countOf(value: Value): number | bigint {
  if (value === null) return 0;
  const count = Number(value);
  return Number.isSafeInteger(count) ? count : BigInt(value);
}

function isFailed(status: Value): boolean {
  return status === "failed" || status === "interrupted";
}

export interface GenerationFilter {
  keyId?: string;
  /** Only of keys that belong to this person. */
  member?: string;
  /** Key name, in the record. */
  key?: string;
  /** Ids of keys with this name at present, whose records under earlier names are included. */
  keysNow?: readonly string[];
  account?: string;
  session?: string;
  model?: string;
  /** Milliseconds; inclusive. */
  from?: number;
  /** Milliseconds; exclusive. */
  to?: number;
}

interface Page {
  after: Position | null;
  limit: number;
}

/** Newest first. */
export async function listGenerations(
  query: Query,
  filter: GenerationFilter,
  page: Page,
): Promise<Generation[]> {
  if (filter.member !== undefined) return await ofMember(query, filter, page);
  if (filter.session !== undefined) return await ofSession(query, filter, filter.session, page);
  const { key, ...rest } = filter;
  if (key === undefined || rest.keyId !== undefined) return await selectByDays(query, filter, page);
  const ids = await keysNamed(query, filter);
  if (ids === null) return await select(query, filter, page);
  // Several keys may have had the same name one after the other. The index orders the records of each key.
  const lists = await Promise.all(ids.map((keyId) => select(query, { ...rest, key, keyId }, page)));
  return newestOf(lists, page);
}

/** One query per key of the member, since the index orders the records of each key. */
async function ofMember(query: Query, filter: GenerationFilter, page: Page): Promise<Generation[]> {
  const { member, ...rest } = filter;
  const rows = await query("SELECT id FROM keys WHERE member = $1", [member ?? null]);
  const ids = rows.map((row) => asText(row.id)).filter((id) => rest.keyId === undefined || rest.keyId === id);
  const lists: Generation[][] = [];
  for (const keyId of ids) lists.push(await listGenerations(query, { ...rest, keyId }, page));
  return newestOf(lists, page);
}

/**
 * `label_sums` reports the days on which each key used the session; only the key's records of these days are
 * read, by the index on keys.
 */
async function ofSession(
  query: Query,
  filter: GenerationFilter,
  session: string,
  page: Page,
): Promise<Generation[]> {
  const found = await query(
    `SELECT key_id, MIN(starts) AS first, MAX(starts) AS last FROM label_sums
     WHERE ${ofLabel("$1", "$2")} GROUP BY key_id`,
    ["session", session],
  );
  const { from = 0, to = Number.MAX_SAFE_INTEGER } = filter;
  const lists = await Promise.all(
    found.filter((row) => filter.keyId === undefined || asText(row.key_id) === filter.keyId).map((row) =>
      select(query, {
        ...filter,
        keyId: asText(row.key_id),
        from: Math.max(from, asInt(row.first)),
        to: Math.min(to, asInt(row.last) + DAY),
      }, page)
    ),
  );
  return newestOf(lists, page);
}

function newestOf(lists: readonly Generation[][], { limit }: Page): Generation[] {
  return lists.flat().sort((a, b) => b.created - a.created || (a.id < b.id ? 1 : -1)).slice(0, limit);
}

/**
 * Ids of keys that have this name, or records under it; null: some records are not in the sums yet.
 */
export async function keysNamed(
  query: Query,
  { key: name, keysNow = [] }: Pick<GenerationFilter, "key" | "keysNow">,
): Promise<string[] | null> {
  if (!await sumsAreWhole(query)) return null;
  const rows = await query("SELECT DISTINCT key_id FROM sums WHERE kind = 'month' AND key_name = $1", [
    name ?? null,
  ]);
  return [...new Set([...rows.map((row) => asText(row.key_id)), ...keysNow])];
}

/**
 * Pages by account or model: reads only days on which there are such generations, since days without any may
 * be very many. For keys there is an index.
 */
async function selectByDays(query: Query, filter: GenerationFilter, page: Page): Promise<Generation[]> {
  const { account, model, keyId } = filter;
  const plain = (account ?? model) === undefined || keyId !== undefined;
  if (plain || !await sumsAreWhole(query)) return await select(query, filter, page);
  const rows: Generation[] = [];
  for (const { from, to } of await spansOf(query, filter, page.after?.created ?? Number.MAX_SAFE_INTEGER)) {
    rows.push(...await select(query, { ...filter, from, to }, { ...page, limit: page.limit - rows.length }));
    if (rows.length >= page.limit) break;
  }
  return rows;
}

/** Runs of consecutive days with generations of an account or a model, up to a time, newest first. */
async function spansOf(
  query: Query,
  { account, model, from = 0, to = Number.MAX_SAFE_INTEGER }: GenerationFilter,
  until: number,
): Promise<{ from: number; to: number }[]> {
  const { where, params } = conditions({ account, model });
  const days = await query(
    `SELECT DISTINCT starts FROM sums WHERE kind = 'day' AND ${where.join(" AND ")}
     AND starts >= (SELECT retired FROM sums_state) AND starts <= $${params.length + 1}
     ORDER BY starts DESC`,
    [...params, Math.min(until, to)],
  );
  const spans: { from: number; to: number }[] = [];
  for (const day of days.map((row) => asInt(row.starts))) {
    const last = spans.at(-1);
    if (last !== undefined && last.from === day + DAY) last.from = day;
    else spans.push({ from: day, to: day + DAY });
  }
  return spans.map((span) => ({ from: Math.max(span.from, from), to: Math.min(span.to, to) }))
    .filter((span) => span.from < span.to);
}

async function select(query: Query, filter: GenerationFilter, page: Page): Promise<Generation[]> {
  // The end of the span is the start of the page: SQLite uses the index for only one of the two conditions.
  const to = page.after === null ? filter.to : Math.min(filter.to ?? Infinity, page.after.created + 1);
  const { where, params } = conditions({ ...filter, to });
  if (page.after !== null) {
    params.push(page.after.created, page.after.id);
    where.push(`(created, id) < ($${params.length - 1}, $${params.length})`);
  }
  params.push(page.limit);
  const rows = await query(
    `SELECT ${NAMES} FROM generations ${where.length > 0 ? `WHERE ${where.join(" AND ")}` : ""}
     ORDER BY created DESC, id DESC LIMIT $${params.length}`,
    params,
  );
  return rows.map(decodeRow);
}

/** Generations of an account within a time span, oldest first. */
export async function accountGenerations(
  query: Query,
  { account, from, to }: { account: string; from: number; to: number },
  { after, limit }: Page,
): Promise<Generation[]> {
  const rows = await query(
    `SELECT ${NAMES} FROM generations
     WHERE account = $1 AND created >= $2 AND created < $3 ${
      after === null ? "" : "AND (created, id) > ($5, $6)"
    }
     ORDER BY created, id LIMIT $4`,
    // The start of the span is the start of the page: SQLite uses the index for only one of the two
    // conditions.
    [account, after?.created ?? from, to, limit, ...(after === null ? [] : [after.created, after.id])],
  );
  return rows.map(decodeRow);
}

/** The price versions by which generations of an account within a time span were billed. */
export async function accountPriceVersions(
  query: Query,
  { account, from, to }: { account: string; from: number; to: number },
): Promise<{ version: string; model: string }[]> {
  const rows = await query(
    `SELECT price_version, model, min(created) AS first FROM generations
     WHERE account = $1 AND created >= $2 AND created < $3 AND price_version IS NOT NULL
     GROUP BY price_version, model ORDER BY first, price_version, model`,
    [account, from, to],
  );
  return rows.map((row) => ({ version: asText(row.price_version), model: asText(row.model) }));
}

/** Null: it does not exist, or has been deleted. */
export async function generationById(query: Query, id: string): Promise<Generation | null> {
  const rows = await query(`SELECT ${NAMES} FROM generations WHERE id = $1`, [id]);
  return rows.length === 0 ? null : decodeRow(rows[0]);
}

/** The SQL conditions of a filter, and the values of their parameters from `$1` on. */
export function conditions(filter: GenerationFilter): { where: string[]; params: Value[] } {
  const where: string[] = [];
  const params: Value[] = [];
  const add = conditionsIn(where, params);
  add("key_id =", filter.keyId);
  addKeyName(where, params, filter);
  add("account =", filter.account);
  add("session =", filter.session);
  add("model =", filter.model);
  add("created >=", filter.from);
  add("created <", filter.to);
  return { where, params };
}
