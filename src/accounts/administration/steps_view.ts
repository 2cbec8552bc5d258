/**
 * The processing steps of a generation for administrators: those stored with the record, and those derived
 * from its other fields. A call that succeeded at once stores none.
 */
import type { KeptStep, StepKind } from "../../exchange/steps.ts";
import type { Generation } from "../../store/mod.ts";

export interface StepView {
  kind: StepKind;
  name: string;
  /** Relative to `created` of the record; negative for steps before admission. */
  start_ms: number;
  ms: number;
  outcome: string;
  [detail: string]: string | number | boolean;
}

/** In order of their start. */
export function stepsView(g: Generation): StepView[] {
  const kept: KeptStep[] = g.steps === null ? [] : JSON.parse(g.steps);
  const steps = kept.map(([kind, name, start_ms, ms, outcome, details]): StepView => ({
    ...details,
    kind,
    name,
    start_ms,
    ms,
    outcome,
  }));
  const { provider, ttftMs, latencyMs } = g;
  const answered = steps.some(({ kind, outcome }) => kind === "attempt" && outcome === "ok");
  if (provider !== null && ttftMs !== null && !answered) {
    const failed = steps.findLast(({ kind }) => kind === "attempt");
    const start = failed === undefined ? 0 : failed.start_ms + failed.ms;
    steps.push({
      kind: "attempt",
      name: provider,
      provider,
      start_ms: start,
      ms: Math.max(0, ttftMs - start),
      outcome: "ok",
    });
  }
  if (g.stream && ttftMs !== null) {
    steps.push({
      kind: "streaming",
      name: g.format,
      start_ms: ttftMs,
      ms: Math.max(0, latencyMs - ttftMs),
      outcome: g.errorCode ?? (g.status === "completed" ? "ok" : g.status),
    });
  }
  return steps.sort((a, b) => a.start_ms - b.start_ms);
}
