/**
 * Which codes are a sensible report of a provider's failure. Rows are tried in order; the first that fits decides.
 * What a provider holds against the gateway's key, account or model name is the operator's business: the caller sees an
 * unavailable provider, never a 401.
 */

interface Row {
  status?: readonly number[];
  said?: RegExp;
  codes: readonly string[];
}

const ROWS: readonly Row[] = [
  {
    said:
      /too long|context length|context window|maximum context|too_many_prompt_tokens|context_length_exceeded/i,
    codes: ["provider_payload_too_large"],
  },
  { status: [413], codes: ["provider_payload_too_large"] },
  { said: /insufficient_quota/, codes: ["provider_unavailable"] },
  { status: [401, 402], codes: ["provider_unavailable"] },
  { said: /content_filter|content management policy/, codes: ["provider_forbidden"] },
  { said: /API_KEY_INVALID|invalid_api_key/, codes: ["provider_unavailable"] },
  { status: [403], codes: ["provider_unavailable"] },
  { said: /model_not_found/, codes: ["provider_model_down", "provider_unavailable"] },
  { status: [404], codes: ["provider_model_down", "provider_unavailable"] },
  { said: /rate.limit/i, codes: ["provider_rate_limited"] },
  { status: [429], codes: ["provider_rate_limited"] },
  { status: [529], codes: ["provider_model_down", "provider_unavailable"] },
  {
    said: /overload|error_type":"provider_unavailable/i,
    codes: ["provider_model_down", "provider_unavailable"],
  },
  { said: /tool_use_failed|invalid_request_error/, codes: ["provider_bad_request"] },
  { status: [400, 422], codes: ["provider_bad_request"] },
  // An answer that is none: no end, a state that is not an end, two answers spliced into one.
  { status: [200], codes: ["provider_unavailable"] },
  { status: [500, 502, 503, 504], codes: ["provider_unavailable", "provider_model_down"] },
];

/** @param said the body, or the error inside a stream, as text */
export function expectedCodes(status: number, said: string): readonly string[] {
  const row = ROWS.find((r) => (!r.status || r.status.includes(status)) && (!r.said || r.said.test(said)));
  if (!row) throw new Error(`No row of the table fits status ${status}: ${said.slice(0, 200)}`);
  return row.codes;
}

/** What must never be in a message to a caller. */
export const WITHHELD =
  /https?:\/\/|127\.0\.0\.1|provider-secret|\b(?:sk|org|user)[-_]\w|api\.openai|googleapis|openrouter\.ai/;
