/** Request headers whose value is `true` or `false`. A misspelt value is refused: without the feature, the caller would not notice it. */
import { Failure } from "../exchange/failure.ts";
import { shownHeader } from "../exchange/shown_header.ts";

const FLAGS = ["x-svc-resume", "x-svc-join", "x-svc-hold", "x-svc-repair"] as const;

/** How much of a wrong value an error shows. */
const MOST_SHOWN = 40;

/** Throws `validation_error` if one of these headers has another value. */
export function refuseBadFlags(header: (name: string) => string | null): void {
  for (const name of FLAGS) {
    const value = header(name);
    if (value === null || value === "true" || value === "false") continue;
    throw badHeader(name, `expected true or false, got ${shownHeader(value, MOST_SHOWN)}`);
  }
}

/**
 * A `validation_error` that names the header.
 *
 * @param what what was expected and what was found
 */
export function badHeader(name: string, what: string): Failure {
  const message = `Cannot read the header ${name}: ${what}.`;
  return new Failure("validation_error", message, {
    param: name,
    errors: [{ type: "value_error", loc: ["header", name], msg: what }],
  });
}
