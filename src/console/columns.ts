/** Columns of lists as CSV: all fields that a row may have, as in the OpenAPI document. */
import { isLabel, isUsageDimension, type UsageDimension } from "../store/mod.ts";

const columns = (names: string): readonly string[] => names.split(" ");

export const KEY_COLUMNS = columns(
  "id name source account access_policy dlp_policy models spend_limit rate_limit team session_limit repair hedge resume_seconds member payloads tag_limits created expires_at revoked_at spend last_used lease",
);

export const KEY_MODEL_COLUMNS = columns(
  "id name permitted context_length max_completion_tokens pricing features",
);

export const GENERATION_COLUMNS = columns(
  "id created key key_id account format requested_model model provider stream status error_code usage usage_estimated searches cost ttft_ms latency_ms client_gone dlp tags session team price_version cache_saved tool_calls repaired list_cost",
);

/** Audit log entries of different kinds have different subsets of these. */
export const AUDIT_COLUMNS = columns(
  "id created kind key_id key account action by role name credential route target fields before result from untold mistakes generation policy of mode findings types rules places unscanned",
);

export const TEAM_COLUMNS = columns(
  "name source account spend_limit models access_policy dlp_policy keys spend lease",
);

export const ACCOUNT_COLUMNS = columns("account unlimited granted added spent balance lease");

export const TOKEN_COLUMNS = columns("id name role created created_by expires_at revoked_at last_used");

export const SESSION_COLUMNS = columns("id name role team member signed_in_with began ends own");

export const PROVIDER_COLUMNS = columns("provider api in_flight queued max_concurrent models");

export const MODEL_COLUMNS = columns(
  "id name pricing pricing_tiers context_length max_completion_tokens features modality_input modality_output order routes",
);

export const DIFFERENCE_COLUMNS = columns("model what field before after");

export const CHANGE_COLUMNS = ["at", ...DIFFERENCE_COLUMNS];

const SUM_COLUMNS = columns(
  "generations failed input_tokens cached_tokens cache_write_tokens output_tokens reasoning_tokens searches cost cache_saved",
);

/** The dimensions, the sums, and for labels the sums that only they have. */
export function usageColumns(by: string): string[] {
  const dimensions = by.split(",").map((name) => name.trim()).filter(isUsageDimension) as UsageDimension[];
  return [
    ...dimensions,
    ...(dimensions.includes("key") ? ["key_id"] : []),
    ...SUM_COLUMNS,
    ...(dimensions.some(isLabel) ? ["tool_calls", "latency_ms"] : []),
  ];
}

/** Columns with amounts in dollars, in lists and statements. */
export const AMOUNTS = columns("cost cache_saved list_cost granted added spent balance");
