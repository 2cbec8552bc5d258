/**
 * Rows of the ledger: columns, encoding and decoding.
 *
 * A row is encoded as a JSON array in the order of {@link COLUMNS}. The same text is a line of the journal
 * and an element of the parameter that inserts any number of rows at once, so each generation is encoded
 * once.
 */
import { contentOf } from "./chain/links.ts";
import type { CallerFormatName } from "../exchange/format_name.ts";
import type { GenerationStatus } from "../exchange/generation.ts";
import type { Usage } from "../exchange/usage.ts";
import type { Columns, EncodedRow } from "./engine.ts";
import { headJson, rowJson } from "./row_json.ts";
import { asBool, asInt, asMoney, asText, optional, type Row, type Value } from "./rows.ts";
import type { RecordLabels } from "./sums.ts";

/** One generation as the ledger stores it. Never contains conversation text. */
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
  /** True: usage was estimated, because the provider did not report it. */
  estimated: boolean;
  searches: number;
  /** Picodollars. */
  cost: bigint;
  ttftMs: number | null;
  latencyMs: number;
  clientGone: boolean;
  dlp: { mode: string; findings: number } | null;
  /** Names and values set by the caller; null: none. */
  tags: Readonly<Record<string, string>> | null;
  /** Session id, which groups related calls. */
  session: string | null;
  /** Team of the key. */
  team: string | null;
  /** Version of the prices used for billing; null: recorded before versions were introduced. */
  priceVersion: string | null;
  /** Picodollars saved by reading from a prompt cache; null: unknown. */
  cacheSaved: bigint | null;
  /** Number of calls of the caller's tools in the answer; null: unknown. */
  toolCalls: number | null;
  /** How many of these had repaired arguments; null: none. */
  repaired: number | null;
  /** Processing steps as JSON; null: derived from the other columns. */
  steps: string | null;
  /** Trace id, in memory only; not stored. */
  trace?: string;
  /** Picodollars that it would have cost if the caller's own credential had not been used; null: it was billed. */
  listCost: bigint | null;
}

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
  ["tool_calls", "int"],
  ["repaired", "int"],
  ["steps", "text"],
  ["list_cost", "int"],
];

/** All column names, for a SQL statement. */
export const NAMES = COLUMNS.map(([name]) => name).join(", ");

/** A generation to be stored: the encoded row, and what is charged to which owners. */
export interface LedgerRecord extends EncodedRow {
  readonly created: number;
  readonly keyId: string;
  readonly account: string;
  /** Picodollars. */
  readonly cost: bigint;
  readonly model: string;
  /** Version of the prices used for billing; null: unknown. */
  readonly priceVersion: string | null;
  /** Null: no labels. */
  readonly labels: RecordLabels | null;
  /** Insert only while the store lists the call as running: a presumed record for a call of another node. */
  readonly whileRunning?: boolean;
  /**
   * The dead node whose leases the cost was reserved from, if this node delivers its records. Absent: this
   * node's own record.
   */
  readonly holder?: string;
}

export function encodeRecord(g: Generation): LedgerRecord {
  return encodeRecordAfter(rowHead(g), g);
}

/** As {@link encodeRecord}, given the generation's {@link rowHead}. */
export function encodeRecordAfter(head: string, g: Generation): LedgerRecord {
  return new RecordOf(g, rowJson(head, rowOf(g)));
}

/** A presumed record: see {@link LedgerRecord.whileRunning}. */
export function encodePresumed(g: Generation): LedgerRecord {
  return new RecordOf(g, rowJson(rowHead(g), rowOf(g)), true);
}

/**
 * Hundreds of records wait for the store under load, and survive one or two garbage collections. So this
 * class duplicates nothing of the generation, and computes the row's values on each request: values cached on
 * an object in V8's old generation would be promoted too, and be freed only by a full collection.
 */
class RecordOf implements LedgerRecord {
  readonly labels: RecordLabels | null;
  readonly #generation: Generation;

  constructor(generation: Generation, readonly json: string, readonly whileRunning = false) {
    this.#generation = generation;
    this.labels = labelsOf(generation);
  }

  get id(): string {
    return this.#generation.id;
  }

  get values(): readonly Value[] {
    return rowOf(this.#generation);
  }

  get created(): number {
    return whole(this.#generation.created);
  }

  get keyId(): string {
    return this.#generation.keyId;
  }

  get account(): string {
    return this.#generation.account;
  }

  get cost(): bigint {
    return this.#generation.cost;
  }

  get model(): string {
    return this.#generation.model;
  }

  get priceVersion(): string | null {
    return this.#generation.priceVersion;
  }
}

/** Decodes a row from a journal. Throws if the text is not a valid row. */
export function decodeRecord(json: string): LedgerRecord {
  // Decoded completely, since an unreadable row would break every page that contains it.
  const values = decodeValues(json);
  const g = decodeOwn(values);
  const { id, created, keyId, account, cost, model, priceVersion } = g;
  return { id, json, values, created, keyId, account, cost, model, priceVersion, labels: labelsOf(g) };
}

/** The inverse of {@link encodeRecord}. */
export function decodeJson(json: string): Generation {
  return decodeOwn(decodeValues(json));
}

/** One value per column, padded with nulls: an older release wrote fewer. */
function decodeValues(json: string): Value[] {
  const written: Value[] = JSON.parse(json);
  return COLUMNS.map((_, i) => written[i] ?? null);
}

function decodeOwn(values: readonly Value[]): Generation {
  const row: Row = Object.fromEntries(COLUMNS.map(([name], i) => [name, values[i]]));
  const money = (value: Value) => value === null ? null : BigInt(asText(value));
  return decodeRow({
    ...row,
    cost: money(row.cost),
    cache_saved: money(row.cache_saved),
    list_cost: money(row.list_cost),
  });
}

/** The first columns of a row, known when the generation starts. */
export type RowHead = Pick<
  Generation,
  "id" | "created" | "keyId" | "key" | "account" | "format" | "requestedModel" | "model"
>;

/** The first columns of a row, as the start of a JSON array. */
export function rowHead(g: RowHead): string {
  return headJson([g.id, whole(g.created), g.keyId, g.key, g.account, g.format, g.requestedModel, g.model]);
}

/** A literal array instead of a loop over the columns: it runs for every call and takes half the time. */
function rowOf(g: Generation): Value[] {
  const u = g.usage;
  return [
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
    exact(g.cost),
    g.ttftMs === null ? null : whole(g.ttftMs),
    whole(g.latencyMs),
    g.clientGone ? 1 : 0,
    g.dlp === null ? null : g.dlp.mode,
    g.dlp === null ? null : whole(g.dlp.findings),
    g.tags && JSON.stringify(g.tags),
    g.session,
    g.team,
    g.priceVersion,
    g.cacheSaved === null ? null : exact(g.cacheSaved),
    g.toolCalls ?? null,
    g.repaired ?? null,
    g.steps ?? null,
    g.listCost === null ? null : exact(g.listCost),
  ];
}

/** A number if it is exact, since it is bound faster; else text. */
function exact(amount: bigint): number | string {
  const value = Number(amount);
  return Number.isSafeInteger(value) ? value : amount.toString();
}

/** Columns whose integers are stored as text in a row, since they may exceed 2^53. */
const DECIMAL_TEXT = new Set(["cost", "cache_saved", "list_cost"]);

/**
 * The text that {@link encodeRecord} made of a record, recomputed from its row in the store, as input of the
 * hash chain.
 */
export function contentOfRow(row: Row): string {
  return contentOf(JSON.stringify(COLUMNS.map(([name, type]) => {
    const value = row[name];
    if (value === null || type === "text") return value;
    return DECIMAL_TEXT.has(name) ? String(value) : Number(value);
  })));
}

/** Times may be fractional, and differences of times may be negative after the clock was set back. */
function whole(value: number): number {
  return value > 0 && value < Infinity ? Math.round(value) : 0;
}

function labelsOf({ tags, session, team }: RecordLabels): RecordLabels | null {
  return tags === null && session === null && team === null ? null : { tags, session, team };
}

function decodeTags(tags: Value): RecordLabels["tags"] {
  return tags === null ? null : JSON.parse(asText(tags));
}

export function labelsOfRow({ tags, session, team }: Row): RecordLabels | null {
  return labelsOf({
    tags: decodeTags(tags),
    session: optional(session, asText),
    team: optional(team, asText),
  });
}

export function decodeRow(row: Row): Generation {
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
    tags: decodeTags(row.tags),
    session: optional(row.session, asText),
    team: optional(row.team, asText),
    priceVersion: optional(row.price_version, asText),
    cacheSaved: optional(row.cache_saved, asMoney),
    toolCalls: optional(row.tool_calls, asInt),
    repaired: optional(row.repaired ?? null, asInt),
    steps: optional(row.steps ?? null, asText),
    listCost: optional(row.list_cost ?? null, asMoney),
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
