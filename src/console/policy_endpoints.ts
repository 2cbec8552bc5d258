/** Administration endpoints of DLP policies: the effective policies, and a test on a text. */
import type { Loose } from "../exchange/json.ts";
import type { Endpoint, ServerState } from "../http/endpoint.ts";
import { body, endpoint } from "./operations.ts";

export const POLICIES: readonly Endpoint[] = [
  endpoint(
    "GET",
    "/admin/policies",
    "Shows the active policies. Stop words and allowed values are only counted, because they are often sensitive themselves.",
    "Policies",
    ({ state }) => ({
      dlp: dlpPolicies(state),
      access: state.accessPolicies.map(({ name, allow, deny }) => ({ name, allow, deny })),
      screening: screening(state),
    }),
    { access: "read" },
  ),
  endpoint(
    "POST",
    "/admin/dlp/scan",
    "Screens a text or a request with a policy and returns the findings. Nothing is sent to a provider or stored.",
    "DlpScan",
    async ({ request, state }) => {
      const { dryScan } = await import("../pipeline/screening/dry_scan.ts");
      const fields = ["policy", "dlp", "text", "request", "format"];
      return await dryScan(await body<Loose>(request, { fields }), state.kit);
    },
    { access: "read", request: "DlpScanInput" },
  ),
];

function dlpPolicies({ kit: { dlp } }: ServerState) {
  return Object.entries(dlp.dlpPolicies).map(([name, policy]) => ({
    name,
    mode: policy.mode,
    answers: policy.answers,
    /** Null: the default set. */
    entity_types: policy.entityTypes ?? null,
    regexes: policy.patterns,
    stop_words: policy.stopWords.length,
    allowed_values: policy.allowed.length,
  }));
}

function screening({ kit: { dlp: { dlp } } }: ServerState) {
  return {
    enabled: dlp.enabled,
    on_unscannable: dlp.onUnscannable,
    restore: dlp.restore,
    model: dlp.model !== undefined,
  };
}
