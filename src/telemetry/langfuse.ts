/** The names of attributes that Langfuse reads (its "property mapping" of OpenTelemetry). */
import type { Attributes } from "@opentelemetry/api";
import type { Key } from "../accounts/mod.ts";
import type { Labels } from "../exchange/labels.ts";
import type { StepKind } from "../exchange/steps.ts";
import type { Usage } from "../exchange/usage.ts";

/** What Langfuse calls the steps of a generation. */
const TYPES: Readonly<Record<StepKind, string>> = {
  admission: "span",
  screening: "guardrail",
  search: "retriever",
  attempt: "generation",
  streaming: "span",
  answer_screening: "guardrail",
};

export const ofStep = (kind: StepKind): Attributes => ({ "langfuse.observation.type": TYPES[kind] });

export const ofKey = (name: string, { name: key, team, account }: Key): Attributes => ({
  "langfuse.trace.name": name,
  "langfuse.user.id": key,
  "langfuse.trace.metadata.account": account,
  ...(team && { "langfuse.trace.metadata.team": team.name }),
});

export function ofLabels({ session, tags }: Labels): Attributes {
  return {
    ...(session !== null && { "langfuse.session.id": session }),
    ...(tags !== null && {
      "langfuse.trace.tags": Object.entries(tags).map(([name, value]) => `${name}=${value}`),
    }),
  };
}

export interface GenerationFacts {
  model: string;
  usage: Usage | null;
  /** Milliseconds since the epoch, of the first output; null: there was none. */
  first: number | null;
  error: string | null;
}

export function ofGeneration({ model, usage, first, error }: GenerationFacts): Attributes {
  return {
    ...ofStep("attempt"),
    "langfuse.observation.model.name": model,
    ...(usage && { "langfuse.observation.usage_details": JSON.stringify(usageDetails(usage)) }),
    ...(first !== null && {
      "langfuse.observation.completion_start_time": JSON.stringify(new Date(first).toISOString()),
    }),
    ...(error !== null && {
      "langfuse.observation.level": "ERROR",
      "langfuse.observation.status_message": error,
    }),
  };
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
