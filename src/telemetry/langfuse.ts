/** The attributes that Langfuse reads (its "property mapping" for OpenTelemetry). */
import type { Key } from "../accounts/mod.ts";
import type { Labels } from "../exchange/labels.ts";
import type { StepKind } from "../exchange/steps.ts";
import type { Usage } from "../exchange/usage.ts";
import type { AttributeWriter } from "./otlp/attributes.ts";

/** Langfuse's observation types for the steps of a generation. */
const TYPES: Readonly<Record<StepKind, string>> = {
  admission: "span",
  screening: "guardrail",
  search: "retriever",
  attempt: "generation",
  streaming: "span",
  provider_tools: "tool",
  answer_screening: "guardrail",
};

/** Writes the observation type of a step. */
export function writeStep(to: AttributeWriter, kind: StepKind): void {
  to.text("langfuse.observation.type", TYPES[kind]);
}

/**
 * Writes the caller's key, team and account as attributes of Langfuse.
 * @param name of the trace
 */
export function writeKey(to: AttributeWriter, name: string, { name: key, team, account }: Key): void {
  to.text("langfuse.trace.name", name);
  to.text("langfuse.user.id", key);
  to.text("langfuse.trace.metadata.account", account);
  if (team) to.text("langfuse.trace.metadata.team", team.name);
}

/** Writes the session and the tags of a call. */
export function writeLabels(to: AttributeWriter, { session, tags }: Labels): void {
  if (session !== null) to.text("langfuse.session.id", session);
  if (tags !== null) {
    to.texts("langfuse.trace.tags", Object.entries(tags).map(([name, value]) => `${name}=${value}`));
  }
}

export interface GenerationFacts {
  model: string;
  usage: Usage | null;
  /** Time of the first output in milliseconds since the epoch; null: there was none. */
  first: number | null;
  error: string | null;
}

/** Writes model, tokens, time of the first token and error of one provider call. */
export function writeGeneration(to: AttributeWriter, { model, usage, first, error }: GenerationFacts): void {
  writeStep(to, "attempt");
  to.text("langfuse.observation.model.name", model);
  if (usage) to.text("langfuse.observation.usage_details", JSON.stringify(usageDetails(usage)));
  if (first !== null) {
    to.text("langfuse.observation.completion_start_time", JSON.stringify(new Date(first).toISOString()));
  }
  if (error !== null) {
    to.text("langfuse.observation.level", "ERROR");
    to.text("langfuse.observation.status_message", error);
  }
}

/** Langfuse adds these counts up, so they must not overlap. */
function usageDetails(u: Usage): Record<string, number> {
  return {
    input: Math.max(0, u.input - u.cached - u.cacheWrite),
    output: Math.max(0, u.output - u.reasoning),
    ...(u.cached > 0 && { input_cached_tokens: u.cached }),
    ...(u.cacheWrite > 0 && { input_cache_creation: u.cacheWrite }),
    ...(u.reasoning > 0 && { output_reasoning_tokens: u.reasoning }),
    total: u.input + u.output,
  };
}
