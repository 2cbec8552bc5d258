/** Decodes `reasoning`. */
import type { Mistake } from "../../exchange/failure.ts";
import { isObject, string } from "../../exchange/json.ts";
import type { ReasoningOptions } from "../../exchange/prompt.ts";
import { EFFORTS, isEffort } from "../effort.ts";
import { mistake } from "../validation.ts";

/** Undefined: no reasoning settings. */
export function decodeEffort(value: unknown, mistakes: Mistake[]): ReasoningOptions | undefined {
  if (!isObject(value)) return undefined;
  const options: ReasoningOptions = {};
  const effort = value.effort;
  if (isEffort(effort)) {
    options.effort = effort;
    if (effort === "none") options.mode = "off";
  } else if (effort !== undefined && effort !== null) {
    const given = typeof effort === "string" && effort.length <= 40
      ? JSON.stringify(effort)
      : "another value";
    mistake(
      mistakes,
      "literal_error",
      ["reasoning", "effort"],
      `expected one of ${EFFORTS.join(", ")}, got ${given}`,
    );
  }
  const summary = string(value.summary) ?? string(value.generate_summary);
  if (summary !== undefined) options.summary = summary;
  return Object.keys(options).length > 0 ? options : undefined;
}
