/**
 * Creates ledger records from the start and end of a call as reported by the pipeline.
 *
 * Values chosen freely by a caller (the requested model name) are truncated and cleaned of characters that a
 * database would reject, because a record must always be writable.
 */
import type { Charge, GenerationEnd, GenerationStart } from "../exchange/generation.ts";
import { count, MOST_TOKENS, normalizeUsage, type Usage } from "../exchange/usage.ts";
import { encodeRecordAfter, type Generation, type LedgerRecord, rowHead } from "../store/mod.ts";
import type { Key } from "./types.ts";
import {
  costOf,
  costOfAll,
  MAX_AMOUNT,
  type Prices,
  priceTable,
  rememberPrices,
  savedByCache,
  searchVersion,
} from "./budgets/money.ts";

const TEXT_CHARS = 200;
/** Maximum length of the list of price versions in one record. */
const MOST_VERSION_CHARS = 2000;
/** Cache of texts that need no cleaning: names of keys, models and providers occur in every call. */
const good = new Set<string>();
const MOST_GOOD = 1000;

/** Data of a running generation, as stored in the journal. */
export interface Beginning {
  id: string;
  created: number;
  keyId: string;
  key: string;
  account: string;
  format: Generation["format"];
  requestedModel: string;
  model: string;
  stream: boolean;
  tags: Generation["tags"];
  session: string | null;
  team: string | null;
  /** Its {@link rowHead}, once computed. */
  head?: string;
}

/** The data of a call at its start, with texts of the caller made safe for the store. */
export function beginningOf(start: GenerationStart, key: Key): Beginning {
  return {
    id: start.id,
    created: start.created,
    keyId: key.id,
    key: clean(key.name),
    account: key.account,
    format: start.format,
    requestedModel: clean(start.requestedModel),
    model: clean(start.model),
    stream: start.stream,
    tags: start.labels?.tags ?? null,
    session: start.labels?.session ?? null,
    team: key.team === null ? null : clean(key.team.name),
  };
}

/** Removes control characters (PostgreSQL does not accept NUL) and lone surrogates (not representable in UTF-8). */
function clean(text: string): string {
  if (good.has(text)) return text;
  if (text.length <= TEXT_CHARS && /^[ -~]*$/.test(text)) {
    if (good.size >= MOST_GOOD) good.clear();
    good.add(text);
    return text;
  }
  // deno-lint-ignore no-control-regex
  return text.slice(0, TEXT_CHARS).toWellFormed().replace(/[\u0000-\u001f\u007f]/g, "\ufffd");
}

/**
 * The generation to record, or null if nothing was used and no search ran. An interrupted one is recorded in
 * any case, since its usage is unknown; so is one that failed after a provider had started to answer, since
 * the provider may charge for it.
 */
export function generationOf(beginning: Beginning, end: GenerationEnd, prices: Prices): Generation | null {
  const broke = end.status === "interrupted" || (end.status === "failed" && end.provider !== null);
  if (end.usage === null && end.searches === 0 && !broke) return null;
  const usage = end.usage === null ? null : bounded(end.usage);
  const searches = count(end.searches);
  const ownSearches = Math.min(count(end.unbilledSearches ?? 0), searches);
  // A failed call pays for its searches but not for its tokens.
  const { searchPrice = prices.web_search } = end;
  const table = priceTable(
    searches === 0 || searchPrice === prices.web_search ? prices : { ...prices, web_search: searchPrice },
  );
  const billed = end.status === "failed" ? null : usage;
  const own = end.unbilled ?? [];
  const cutShort = billed === null || billed.input !== end.usage?.input || billed.output !== end.usage.output;
  // Charges paid with the caller's own credential are not billed, whatever their amounts.
  const charges = cutShort && own.length === 0 ? null : end.charges ?? null;
  const model = end.model === undefined ? beginning.model : clean(end.model);
  if (charges !== null) { for (const charge of charges) rememberPrices(charge, model); }
  for (const charge of own) rememberPrices(charge, model);
  const paid = searches - ownSearches;
  const cost = charges === null ? costOf(billed, paid, table) : costOfAll(charges, paid, table);
  // Not an object spread, which copies field by field: this runs for every call.
  const generation: Generation = {
    id: beginning.id,
    created: beginning.created,
    keyId: beginning.keyId,
    key: beginning.key,
    account: beginning.account,
    format: beginning.format,
    requestedModel: beginning.requestedModel,
    model,
    provider: end.provider === null ? null : clean(end.provider),
    stream: beginning.stream,
    status: end.status,
    errorCode: end.errorCode,
    usage,
    estimated: end.estimated,
    searches,
    cost: bill(cost),
    ttftMs: end.ttftMs,
    latencyMs: end.latencyMs,
    clientGone: end.clientGone,
    dlp: end.dlp,
    tags: beginning.tags,
    session: beginning.session,
    team: beginning.team,
    priceVersion: charges === null
      ? table.version
      : versionOf(charges, own, searches > 0 ? searchPrice : undefined),
    cacheSaved: billed === null ? null : charges === null ? savedByCache(billed, table) : savedByAll(charges),
    toolCalls: end.toolCalls ?? null,
    repaired: end.repaired ?? null,
    steps: end.steps === undefined ? null : JSON.stringify(end.steps),
    listCost: own.length === 0 && ownSearches === 0 ? null : bill(cost + costOfAll(own, ownSearches, table)),
  };
  if (end.trace !== undefined) generation.trace = end.trace;
  return generation;
}

function bill(cost: bigint): bigint {
  return cost > MAX_AMOUNT ? MAX_AMOUNT : cost;
}

/**
 * For several calls, all price versions that count.
 * @param search the price of the searches that ran; undefined: none ran, or they are free
 */
function versionOf(charges: readonly Charge[], own: readonly Charge[], search: string | undefined): string {
  if (charges.length === 1 && own.length === 0 && search === undefined) return clean(charges[0].version);
  const versions = new Set([...charges, ...own].map(({ version }) => version));
  // The search price is rarely among a model's prices.
  if (search !== undefined && charges.every(({ prices }) => prices.web_search !== search)) {
    versions.add(searchVersion(search));
  }
  const shown: string[] = [];
  for (const each of versions) {
    const version = clean(each);
    if (shown.join(", ").length + version.length > MOST_VERSION_CHARS) break;
    shown.push(version);
  }
  return shown.join(", ");
}

function savedByAll(charges: readonly Charge[]): bigint {
  return charges.reduce((sum, { usage, prices }) => sum + savedByCache(usage, priceTable(prices)), 0n);
}

function bounded(usage: Readonly<Usage>): Usage {
  const { input, output } = usage;
  return normalizeUsage({
    ...usage,
    input: Math.min(input, MOST_TOKENS),
    output: Math.min(output, MOST_TOKENS),
  });
}

/** The record of a generation whose process died. Its usage is unknown, so nothing is billed. */
export function interruptedGeneration({ head: _, ...beginning }: Beginning): Generation {
  return {
    ...beginning,
    provider: null,
    status: "interrupted",
    errorCode: null,
    usage: null,
    estimated: false,
    searches: 0,
    cost: 0n,
    ttftMs: null,
    latencyMs: 0,
    clientGone: false,
    dlp: null,
    priceVersion: null,
    cacheSaved: null,
    toolCalls: null,
    repaired: null,
    steps: null,
    listCost: null,
  };
}

/** A JSON array that starts like the record's row: shorter and faster than an object. */
export function encodeBeginning(b: Beginning): string {
  const { tags, session, team } = b;
  const json = `${headOf(b)}${b.stream ? ",1" : ",0"}`;
  if (tags === null && session === null && team === null) return `${json}]`;
  return `${json},${JSON.stringify(tags)},${JSON.stringify(session)},${JSON.stringify(team)}]`;
}

/** The start of the record's row and of the JSON of the beginning. */
function headOf(beginning: Beginning): string {
  return beginning.head ??= rowHead(beginning);
}

/** The record of a generation that began in this process. */
export function recordOf(generation: Generation, beginning: Beginning): LedgerRecord {
  return encodeRecordAfter(
    generation.model === beginning.model ? headOf(beginning) : rowHead(generation),
    generation,
  );
}

/** Null: not written by {@link encodeBeginning}. */
export function decodeBeginning(json: string): Beginning | null {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return null;
  }
  if (!Array.isArray(value)) return null;
  const [id, created, keyId, key, account, format, requestedModel, model, stream, tags, session, team] =
    value;
  const texts = [id, keyId, key, account, format, requestedModel, model];
  if (typeof created !== "number" || !texts.every((text) => typeof text === "string")) return null;
  return {
    id,
    created,
    keyId,
    key,
    account,
    format,
    requestedModel,
    model,
    stream: stream === 1,
    tags: tags ?? null,
    session: session ?? null,
    team: team ?? null,
  };
}
