/** The names of attributes that Langfuse reads (its "property mapping" of OpenTelemetry). */
import type { Key } from "../accounts/mod.ts";
import type { Labels } from "../exchange/labels.ts";
import type { StepKind } from "../exchange/steps.ts";
import type { Usage } from "../exchange/usage.ts";
import type { AttributeWriter } from "./otlp/attributes.ts";

/** What Langfuse calls the steps of a generation. */
const TYPES: Readonly<Record<StepKind, string>> = {
  admission: "span",
  screening: "guardrail",
  search: "retriever",
  attempt: "generation",
  streaming: "span",
  answer_screening: "guardrail",
};

/** The kind of observation that Langfuse shows a step as. */
export function writeStep(to: AttributeWriter, kind: StepKind): void {
  to.text("langfuse.observation.type", TYPES[kind]);
}

/**
 * Who has called, in Langfuse's words.
 *
 * @param name of the trace
 */
export function writeKey(to: AttributeWriter, name: string, { name: key, team, account }: Key): void {
  to.text("langfuse.trace.name", name);
  to.text("langfuse.user.id", key);
  to.text("langfuse.trace.metadata.account", account);
  if (team) to.text("langfuse.trace.metadata.team", team.name);
}

/** The session and the tags that a call was sent with. */
export function writeLabels(to: AttributeWriter, { session, tags }: Labels): void {
  if (session !== null) to.text("langfuse.session.id", session);
  if (tags !== null) {
    to.texts("langfuse.trace.tags", Object.entries(tags).map(([name, value]) => `${name}=${value}`));
  }
}

export interface GenerationFacts {
  model: string;
  usage: Usage | null;
  /** Milliseconds since the epoch, of the first output; null: there was none. */
  first: number | null;
  error: string | null;
}

/** Model, tokens, first token and error of one call of a provider. */
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

/** Langfuse adds the kinds up: none is part of another. */
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
