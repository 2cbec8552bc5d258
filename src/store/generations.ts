/**
 * The ledger's rows: how one is encoded, what each column holds, and reading them back in pages.
 *
 * A row travels as a JSON array in the order of {@link COLUMNS}. The same text is the line of a journal and an element of
 * the parameter that inserts any number of rows at once, so a generation is encoded once.
 */
import type { CallerFormatName } from "../exchange/format_name.ts";
import type { GenerationStatus } from "../exchange/generation.ts";
import type { Usage } from "../exchange/usage.ts";
import { type Columns, type EncodedRow, type Engine, type Query, valuesOf } from "./engine.ts";
import { asBool, asInt, asMoney, asText, optional, type Row, type Value } from "./rows.ts";
import type { Position } from "./position.ts";
import { sumsAreWhole } from "./sums_state.ts";
import { addToSums, COUNTED, type Counted } from "./sums.ts";

/** One generation as the ledger keeps it. Never holds text of a conversation. */
export interface Generation {
  id: string;
  created: number;
  keyId: string;
  key: string;
  account: string;
  format: CallerFormatName;
  requestedModel: string;
  model: string;
  provider: string | null;
  stream: boolean;
  status: GenerationStatus;
  errorCode: string | null;
  usage: Usage | null;
  /** True: usage was estimated, because the provider never reported it. */
  estimated: boolean;
  searches: number;
  /** Picodollars. */
  cost: bigint;
  ttftMs: number | null;
  latencyMs: number;
  clientGone: boolean;
  dlp: { mode: string; findings: number } | null;
  /** Names and values that the caller gave the call; null: none. */
  tags: Readonly<Record<string, string>> | null;
  /** Of calls that belong together. */
  session: string | null;
  /** That of the key. */
  team: string | null;
  /** Names the prices it was billed at; null: recorded before there were names. */
  priceVersion: string | null;
  /** Picodollars that reading from a cache has saved; null: not known. */
  cacheSaved: bigint | null;
}

const COLUMNS: Columns = [
  ["id", "text"],
  ["created", "int"],
  ["key_id", "text"],
  ["key_name", "text"],
  ["account", "text"],
  ["format", "text"],
  ["requested_model", "text"],
  ["model", "text"],
  ["provider", "text"],
  ["stream", "int"],
  ["status", "text"],
  ["error_code", "text"],
  ["measured", "int"],
  ["input", "int"],
  ["cached", "int"],
  ["cache_write", "int"],
  ["cache_write_1h", "int"],
  ["audio_input", "int"],
  ["image_input", "int"],
  ["video_input", "int"],
  ["output", "int"],
  ["reasoning", "int"],
  ["audio_output", "int"],
  ["image_output", "int"],
  ["searches", "int"],
  ["cost", "int"],
  ["ttft_ms", "int"],
  ["latency_ms", "int"],
  ["client_gone", "int"],
  ["dlp_mode", "text"],
  ["dlp_findings", "int"],
  ["tags", "text"],
  ["session", "text"],
  ["team", "text"],
  ["price_version", "text"],
  ["cache_saved", "int"],
];

const NAMES = COLUMNS.map(([name]) => name).join(", ");

/** A generation on its way to the store: the encoded row, and what the row charges to whom. */
export interface LedgerRecord extends EncodedRow {
  readonly created: number;
  readonly keyId: string;
  readonly account: string;
  /** Picodollars. */
  readonly cost: bigint;
  /** Written only while the store knows the call as running: presumed, of another node's. */
  readonly whileRunning?: boolean;
}

export function encodeRecord(g: Generation): LedgerRecord {
  const created = whole(g.created);
  return {
    id: g.id,
    json: encodeRow(g, created),
    created,
    keyId: g.keyId,
    account: g.account,
    cost: g.cost,
  };
}

/** The record of a row that a journal kept. Throws where the text is no such row. */
export function decodeRecord(json: string): LedgerRecord {
  const values: Value[] = JSON.parse(json);
  const row: Row = Object.fromEntries(COLUMNS.map(([name], i) => [name, values[i] ?? null]));
  const cost = BigInt(asText(row.cost));
  const saved = optional(row.cache_saved, asText);
  // All of it, since a row that cannot be read back would spoil every page that it stands on.
  const { id, created, keyId, account } = decodeRow({
    ...row,
    cost,
    cache_saved: saved === null ? null : BigInt(saved),
  });
  return { id, json, created, keyId, account, cost };
}

/** A literal array, not a loop over the columns: every call passes here, and this takes half the time. */
function encodeRow(g: Generation, created: number): string {
  const u = g.usage;
  return JSON.stringify([
    g.id,
    created,
    g.keyId,
    g.key,
    g.account,
    g.format,
    g.requestedModel,
    g.model,
    g.provider,
    g.stream ? 1 : 0,
    g.status,
    g.errorCode,
    g.estimated ? 0 : 1,
    u && u.input,
    u && u.cached,
    u && u.cacheWrite,
    u && u.cacheWrite1h,
    u && u.audioInput,
    u && u.imageInput,
    u && u.videoInput,
    u && u.output,
    u && u.reasoning,
    u && u.audioOutput,
    u && u.imageOutput,
    whole(g.searches),
    g.cost.toString(),
    g.ttftMs === null ? null : whole(g.ttftMs),
    whole(g.latencyMs),
    g.clientGone ? 1 : 0,
    g.dlp === null ? null : g.dlp.mode,
    g.dlp === null ? null : whole(g.dlp.findings),
    g.tags && JSON.stringify(g.tags),
    g.session,
    g.team,
    g.priceVersion,
    g.cacheSaved === null ? null : g.cacheSaved.toString(),
  ]);
}

/** Times come from clocks that may be fractional, and from subtraction that may be negative after a step back. */
function whole(value: number): number {
  return value > 0 ? Math.round(value) : 0;
}

/**
 * Inserts records, with their sums, and answers those that were new. One that is there already stays as it is, but for one
 * thing: where another node took this one for dead and recorded its calls as interrupted, their real ends take the place.
 */
export async function insertRecords(
  engine: Engine,
  query: Query,
  records: readonly LedgerRecord[],
): Promise<LedgerRecord[]> {
  if (records.length === 0) return [];
  const added = await engine.insertNew(query, "generations", COLUMNS, records, { summed: 1 });
  const counted = added.map(countedRecord);
  if (added.length < records.length) {
    const known = new Set(added);
    const ends = records.filter((record) => !known.has(record) && !isPresumed(record));
    const replaced = await removePresumed(engine, query, ends.map(({ id }) => id));
    const real = ends.filter(({ id }) => replaced.has(id));
    const ended = await engine.insertNew(query, "generations", COLUMNS, real, { summed: 1 });
    added.push(...ended);
    counted.push(...ended.map(countedRecord), ...removals(replaced));
  }
  await addToSums(engine, query, counted);
  return added;
}

/** Takes records out again of calls that were presumed to have ended, and turn out to leave none. */
export async function withdrawPresumed(
  engine: Engine,
  query: Query,
  ids: readonly string[],
): Promise<void> {
  await addToSums(engine, query, removals(await removePresumed(engine, query, ids)));
}

/** Recorded for a process that was taken for dead: nothing is known of the end. */
function isPresumed(record: LedgerRecord): boolean {
  const values = valuesOf(record);
  return Object.entries(PRESUMED).every(([name, value]) => String(values[INDEX[name]]) === String(value));
}

/** What tells such a record from every real end, which took its time or had a provider. */
const PRESUMED = { status: "interrupted", input: null, provider: null, searches: 0, cost: 0, latency_ms: 0 };
const IS_PRESUMED = Object.entries(PRESUMED).map(([name, value]) =>
  value === null ? `${name} IS NULL` : `${name} = ${typeof value === "string" ? `'${value}'` : value}`
).join(" AND ");

/** Deletes those of these generations that are only presumed to have ended; answers what the sums hold of each. */
async function removePresumed(
  engine: Engine,
  query: Query,
  ids: readonly string[],
): Promise<Map<string, Counted | null>> {
  if (ids.length === 0) return new Map();
  const rows = await query(
    `DELETE FROM generations WHERE id IN (${engine.list("$1")}) AND ${IS_PRESUMED}
     RETURNING ${COUNTED_COLUMNS}, summed`,
    [JSON.stringify(ids)],
  );
  return new Map(rows.map((row) => [asText(row.id), row.summed === null ? null : countedRow(row)]));
}

/** What takes generations out of the sums again. */
function removals(removed: ReadonlyMap<string, Counted | null>): Counted[] {
  return [...removed.values()].filter((counted) => counted !== null)
    .map((counted) => ({ ...counted, generations: -1 as const }));
}

const INDEX = Object.fromEntries(COLUMNS.map(([name], i) => [name, i]));
const COUNTED_INDEXES = COUNTED.map((name) => INDEX[name]);

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
    counts: COUNTED_INDEXES.map((i) => optional(values[i], asInt) ?? 0),
    cost: record.cost,
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
  .concat(COUNTED, "cost").join(", ");

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
    counts: COUNTED.map((name) => optional(row[name], asInt) ?? 0),
    cost: asMoney(row.cost),
  };
}

function isFailed(status: Value): boolean {
  return status === "failed" || status === "interrupted";
}

export interface GenerationFilter {
  keyId?: string;
  /** Name of a key. */
  key?: string;
  account?: string;
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
  const { key, ...rest } = filter;
  const ids = key === undefined ? null : await keysNamed(query, key);
  if (ids === null) return await select(query, filter, page);
  // A name is that of one key, or of some in turn; of each key the records stand in order in an index.
  const lists = await Promise.all(ids.map((keyId) => select(query, { ...rest, key, keyId }, page)));
  return lists.flat()
    .sort((a, b) => b.created - a.created || (a.id < b.id ? 1 : -1))
    .slice(0, page.limit);
}

/** Ids of keys that have records under this name; null: the sums do not know all of them yet. */
async function keysNamed(query: Query, name: string): Promise<string[] | null> {
  if (!await sumsAreWhole(query)) return null;
  const rows = await query("SELECT DISTINCT key_id FROM sums WHERE kind = 'month' AND key_name = $1", [name]);
  return rows.map((row) => asText(row.key_id));
}

async function select(query: Query, filter: GenerationFilter, page: Page): Promise<Generation[]> {
  const { where, params } = conditions(filter);
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

export async function generationById(query: Query, id: string): Promise<Generation | null> {
  const rows = await query(`SELECT ${NAMES} FROM generations WHERE id = $1`, [id]);
  return rows.length === 0 ? null : decodeRow(rows[0]);
}

function conditions(filter: GenerationFilter): { where: string[]; params: Value[] } {
  const where: string[] = [];
  const params: Value[] = [];
  const add = (condition: string, value: Value | undefined) => {
    if (value === undefined) return;
    params.push(value);
    where.push(`${condition} $${params.length}`);
  };
  add("key_id =", filter.keyId);
  add("key_name =", filter.key);
  add("account =", filter.account);
  add("model =", filter.model);
  add("created >=", filter.from);
  add("created <", filter.to);
  return { where, params };
}

function decodeRow(row: Row): Generation {
  return {
    id: asText(row.id),
    created: asInt(row.created),
    keyId: asText(row.key_id),
    key: asText(row.key_name),
    account: asText(row.account),
    format: asText(row.format) as CallerFormatName,
    requestedModel: asText(row.requested_model),
    model: asText(row.model),
    provider: optional(row.provider, asText),
    stream: asBool(row.stream),
    status: asText(row.status) as GenerationStatus,
    errorCode: optional(row.error_code, asText),
    usage: row.input === null ? null : decodeUsage(row),
    estimated: !asBool(row.measured),
    searches: asInt(row.searches),
    cost: asMoney(row.cost),
    ttftMs: optional(row.ttft_ms, asInt),
    latencyMs: asInt(row.latency_ms),
    clientGone: asBool(row.client_gone),
    dlp: row.dlp_mode === null ? null : { mode: asText(row.dlp_mode), findings: asInt(row.dlp_findings) },
    tags: row.tags === null ? null : JSON.parse(asText(row.tags)),
    session: optional(row.session, asText),
    team: optional(row.team, asText),
    priceVersion: optional(row.price_version, asText),
    cacheSaved: optional(row.cache_saved, asMoney),
  };
}

function decodeUsage(row: Row): Usage {
  return {
    input: asInt(row.input),
    cached: asInt(row.cached),
    cacheWrite: asInt(row.cache_write),
    cacheWrite1h: asInt(row.cache_write_1h),
    audioInput: asInt(row.audio_input),
    imageInput: asInt(row.image_input),
    videoInput: asInt(row.video_input),
    output: asInt(row.output),
    reasoning: asInt(row.reasoning),
    audioOutput: asInt(row.audio_output),
    imageOutput: asInt(row.image_output),
  };
}
