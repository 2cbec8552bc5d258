/** Rejects unknown query parameters: otherwise a misspelt filter would select everything. */
import { Failure } from "../exchange/failure.ts";
import { pathSteps, shownName, unknownName } from "../schema/mistakes.ts";
import type { Endpoint } from "./endpoint.ts";

/** Throws `validation_error` for an unknown or repeated parameter. */
export function refuseUnknownQuery({ parameters = [] }: Pick<Endpoint, "parameters">, url: string): void {
  if (!url.includes("?")) return;
  const known = parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name);
  const seen = new Set<string>();
  for (const name of new URL(url).searchParams.keys()) {
    if (!known.includes(name)) throw refused(name, "extra_forbidden", unknownName("parameter", name, known));
    if (seen.has(name)) throw refused(name, "value_error", "expected it once, got it more than once");
    seen.add(name);
  }
}

function refused(name: string, type: string, msg: string): Failure {
  const param = shownName(name);
  return new Failure("validation_error", `Cannot read ${param}: ${msg}.`, {
    param,
    errors: [{ type, loc: pathSteps([name]), msg }],
  });
}
