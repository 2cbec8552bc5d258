/** A call with a valid key that was refused before its admission: it has no record, but the console and the metrics count it. */
import type { Key } from "../accounts/mod.ts";
import type { FailureCode } from "../exchange/failure.ts";
import type { CallerFormatName } from "../exchange/format_name.ts";
import { isObject } from "../exchange/json.ts";
import type { Kit } from "./kit.ts";
import { labelsIfGood } from "./admission/labels.ts";

export interface RefusedArrival {
  id: string;
  /** Time of arrival, in milliseconds since the epoch. */
  created: number;
  key: Key;
  format: CallerFormatName;
  /** The parsed JSON body; undefined: it could not be read. */
  body: unknown;
  /** Screening has let the request pass, so its labels may be shown. */
  passed: boolean;
  header(name: string): string | null;
}

/** Counts a call that was not admitted, and notifies the watchers of the live view. */
export function reportRefused(
  { id, created, key, format, body, passed, header }: RefusedArrival,
  code: FailureCode,
  { accounts, catalog, metrics }: Pick<Kit, "accounts" | "catalog" | "metrics">,
): void {
  const { model, stream } = isObject(body) ? body : {};
  const requested = typeof model === "string" ? model : "";
  const known = catalog.find(requested);
  metrics.refused(code);
  accounts.refused({
    id,
    created,
    key,
    format,
    // Unknown model names are not counted: they would displace actual models, and may contain arbitrary text of the caller.
    requestedModel: known === undefined ? "" : requested,
    model: known?.id ?? "",
    stream: stream === true,
    // Tags that cannot be read may be why the call was refused.
    labels: labelsIfGood(header, passed ? body : null),
  }, code);
}
