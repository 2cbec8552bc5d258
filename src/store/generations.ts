/**
 * The ledger's rows: how one is written down as JSON, what each column holds, and reading them back in pages.
 *
 * A row travels as a JSON array in the order of {@link COLUMNS}. The same text is the line of a journal and an element of
 * the parameter that inserts any number of rows at once, so a record is put into words once.
 */
import type { CallerFormat, GenerationStatus } from "../exchange/generation.ts";
import type { Usage } from "../exchange/usage.ts";
import type { Columns, Engine, Query, Row, Value } from "./engine.ts";

/** One generation as the ledger keeps it. Never holds text of a conversation. */
export interface Generation {
  id: string;
  created: number;
  keyId: string;
  key: string;
  account: string;
  format: CallerFormat;
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
}

const USAGE: readonly (readonly [column: string, kind: keyof Usage])[] = [
  ["input", "input"],
  ["cached", "cached"],
  ["cache_write", "cacheWrite"],
  ["cache_write_1h", "cacheWrite1h"],
  ["audio_input", "audioInput"],
  ["image_input", "imageInput"],
  ["video_input", "videoInput"],
  ["output", "output"],
  ["reasoning", "reasoning"],
  ["audio_output", "audioOutput"],
  ["image_output", "imageOutput"],
];

export const COLUMNS: Columns = [
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
  ...USAGE.map(([column]) => [column, "int"] as const),
  ["searches", "int"],
  ["cost", "int"],
  ["ttft_ms", "int"],
  ["latency_ms", "int"],
  ["client_gone", "int"],
  ["dlp_mode", "text"],
  ["dlp_findings", "int"],
];

const NAMES = COLUMNS.map(([name]) => name).join(", ");

const at = (name: string) => COLUMNS.findIndex(([column]) => column === name);
const [CREATED, KEY_ID, ACCOUNT, COST] = [at("created"), at("key_id"), at("account"), at("cost")];

/** A row as the JSON array that {@link insertGenerations} takes and a journal keeps. */
export function encodeGeneration(g: Generation): string {
  const u = g.usage;
  return JSON.stringify([
    g.id,
    whole(g.created),
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
  ]);
}

/** Times come from clocks that may be fractional, and from subtraction that may be negative after a step back. */
function whole(value: number): number {
  return value > 0 ? Math.round(value) : 0;
}

/** What a sync needs to know of a row it inserts. */
export interface Charge {
  keyId: string;
  account: string;
  created: number;
  cost: bigint;
}

/** Inserts encoded rows; one that is there already stays as it is and is not among the answer. */
export async function insertGenerations(
  engine: Engine,
  query: Query,
  encoded: readonly string[],
): Promise<Charge[]> {
  if (encoded.length === 0) return [];
  const rows = await engine.insertNew(query, "generations", COLUMNS, encoded);
  return rows.map((row) => ({
    keyId: String(row[KEY_ID]),
    account: String(row[ACCOUNT]),
    created: Number(row[CREATED]),
    cost: BigInt(row[COST]!),
  }));
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

/** Where a page ended: the next one begins below it. */
export interface Position {
  created: number;
  id: string;
}

/** Newest first. */
export async function listGenerations(
  query: Query,
  filter: GenerationFilter,
  page: { after: Position | null; limit: number },
): Promise<Generation[]> {
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
    id: String(row.id),
    created: Number(row.created),
    keyId: String(row.key_id),
    key: String(row.key_name),
    account: String(row.account),
    format: String(row.format) as CallerFormat,
    requestedModel: String(row.requested_model),
    model: String(row.model),
    provider: row.provider === null ? null : String(row.provider),
    stream: Number(row.stream) !== 0,
    status: String(row.status) as GenerationStatus,
    errorCode: row.error_code === null ? null : String(row.error_code),
    usage: row.input === null
      ? null
      : Object.fromEntries(USAGE.map(([column, kind]) => [kind, Number(row[column])])) as unknown as Usage,
    estimated: Number(row.measured) === 0,
    searches: Number(row.searches),
    cost: BigInt(row.cost!),
    ttftMs: row.ttft_ms === null ? null : Number(row.ttft_ms),
    latencyMs: Number(row.latency_ms),
    clientGone: Number(row.client_gone) !== 0,
    dlp: row.dlp_mode === null ? null : { mode: String(row.dlp_mode), findings: Number(row.dlp_findings) },
  };
}
